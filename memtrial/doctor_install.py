"""What is installed of what memtrial needs and can use, by its own package metadata."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import Any

from memtrial.doctor import Check, State

_ABSENT = "not installed"


def check_dependencies() -> Iterator[Check]:
    """Look at what memtrial cannot do without."""
    yield Check("memtrial", "ok", metadata.version("memtrial"))
    for requirement in _requirements(None):
        name, state, detail = _installed(requirement)
        cure = "" if state == "ok" else f"pip install '{requirement.name}{requirement.specifier}'"
        yield Check(name, state, detail, cure)


def check_extras() -> Iterator[Check]:
    """Look at the extras; one that is not installed is no fault, one that is half installed is."""
    extras = [e for e in metadata.metadata("memtrial").get_all("Provides-Extra") or [] if e != "all"]
    needs = {extra: {r.name: r for r in _requirements(extra) if r.name != "memtrial"} for extra in extras}
    for extra, own in needs.items():
        found = [_installed(requirement) for requirement in own.values()]
        if not found:
            continue
        command = f"pip install 'memtrial[{extra}]'"
        wrong = [f"{name} {detail}" for name, state, detail in found if state != "ok"]
        # What another extra brings too says nothing about this one.
        shared = {name for other, names in needs.items() if other != extra for name in names}
        telling = [row for row in found if row[0] not in shared] or found
        if not wrong:
            yield Check(f"extra {extra}", "ok", ", ".join(f"{name} {detail}" for name, _, detail in found))
        elif all(detail == _ABSENT for _, _, detail in telling):
            yield Check(f"extra {extra}", "ok", f"{_ABSENT} (optional); {command}")
        else:
            yield Check(f"extra {extra}", "warn", ", ".join(wrong), command)


def _requirements(extra: str | None) -> list[Any]:
    from packaging.requirements import Requirement

    found = []
    for text in metadata.requires("memtrial") or []:
        requirement = Requirement(text)
        marker = requirement.marker
        always = marker is None or marker.evaluate({"extra": ""})
        if always if extra is None else not always and marker is not None and marker.evaluate({"extra": extra}):
            found.append(requirement)
    return found


def _installed(requirement: Any) -> tuple[str, State, str]:
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return requirement.name, "fail", _ABSENT
    if not requirement.specifier.contains(version, prereleases=True):
        return requirement.name, "fail", f"{version}, but {requirement.specifier} is needed"
    return requirement.name, "ok", version
