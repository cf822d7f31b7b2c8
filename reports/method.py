"""How the numbers came about: data, systems, environment, definitions, and how to get them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from memtrial.metrics.definitions import family
from memtrial.reports.view import View
from memtrial.reports.words import describe, plural

_NOTES_SHOWN = 12
_SAID = {"notes", "questions", "planned_questions", "messages", "name", "base"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """Named facts about one thing."""

    title: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Method:
    """Everything under the heading Method."""

    data: list[Sheet]
    systems: list[Sheet]
    run: list[tuple[str, str]]
    definitions: list[tuple[str, str]]
    config: str


def method(view: View) -> Method:
    """Gather what a reader needs to judge and repeat the run."""
    return Method(
        data=[_data(view, place) for place in range(len(view.datasets))],
        systems=_systems(view),
        run=_manifest(view.run.manifest),
        definitions=_definitions(view),
        config=yaml.safe_dump(dict(view.run.config), sort_keys=False, allow_unicode=True, width=100),
    )


def _data(view: View, place: int) -> Sheet:
    dataset = view.datasets[place]
    found: Mapping[str, Any] = (view.run.manifest.get("data") or {}).get(dataset.label) or {}
    taken = max((t.messages_ingested for t in dataset.trials), default=0)
    facts = [
        ("kind", dataset.kind),
        (
            "questions",
            f"{dataset.planned:,} planned of {found.get('questions', dataset.planned):,}, in {plural(dataset.clusters, 'cluster')}",
        ),
        ("languages", ", ".join(dataset.languages)),
        ("messages", f"{found.get('messages', taken):,}, of which {taken:,} were taken in"),
    ]
    notes = found.get("notes") or []
    facts += [(_plain(k), v) for k, v in flatten({k: v for k, v in found.items() if k not in _SAID})]
    facts += [("note of the loader", _note(n)) for n in notes[:_NOTES_SHOWN]]
    if len(notes) > _NOTES_SHOWN:
        kinds = Counter(str(n.get("kind", "")) if isinstance(n, Mapping) else str(n) for n in notes)
        facts.append(("notes by kind", ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))))
    return Sheet(dataset.label, tuple((k, v) for k, v in dict.fromkeys(facts) if v))


def _note(note: Any) -> str:
    if not isinstance(note, Mapping):
        return str(note)
    return ": ".join(str(note[k]) for k in ("kind", "where", "detail") if note.get(k))


def _systems(view: View) -> list[Sheet]:
    sheets = []
    for trial in view.trial_order:
        own = [t for t in view.run.trials if t.trial == trial]
        first = own[0]
        facts = [("system", first.target or first.system), ("code", str(first.facts.get("code_fingerprint", ""))[:16])]
        facts += [(k, v) for k, v in flatten(first.params)]
        facts += [("seeds", ", ".join(str(s) for s in first.facts.get("seeds", [first.seed])))]
        facts += [
            (_plain(k), v)
            for k, v in flatten({k: v for k, v in first.facts.items() if k not in {"code_fingerprint", "seeds"}})
        ]
        sheets.append(Sheet(trial, tuple((k, v) for k, v in facts if v != "")))
    return sheets


def _manifest(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    skipped = {"trials", "data", "config", "name"}
    return [(_plain(k), v) for k, v in flatten({k: v for k, v in manifest.items() if k not in skipped}) if v != ""]


def _definitions(view: View) -> list[tuple[str, str]]:
    used = dict.fromkeys(family(row.metric) for row in view.run.metrics)
    found = [(describe(f).title, describe(f).sentence) for f in used]
    return [(title, sentence) for title, sentence in found if sentence]


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted paths and values of a nested mapping; lists of plain values stay on one line."""
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{path}.")
        elif isinstance(value, list) and any(isinstance(v, Mapping) for v in value):
            for index, entry in enumerate(value):
                yield from flatten(entry if isinstance(entry, Mapping) else {"": entry}, f"{path}[{index}].")
        elif isinstance(value, list):
            yield path, ", ".join(str(v) for v in value)
        else:
            yield path, "" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _plain(path: str) -> str:
    return path.replace("_", " ")
