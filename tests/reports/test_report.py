"""The written report: safe, offline, deterministic, honest about what is missing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memtrial.reports import write_report

VOID = {"meta", "br", "img", "hr", "input", "link"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks nesting."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.faults: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module", name="written")
def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import sys

    out = tmp_path_factory.mktemp("report")
    conftest = next(m for name, m in sys.modules.items() if name.endswith("conftest") and hasattr(m, "HOSTILE"))
    write_report(conftest.make_run(), out)
    return out


@pytest.fixture(scope="module", name="page")
def _page(written: Path) -> Page:
    return Page((written / "report.html").read_text(encoding="utf-8"))


def test_page_is_well_formed(page: Page) -> None:
    assert not page.faults
    assert not page.stack


def test_page_is_inert_and_offline(page: Page, hostile: str) -> None:
    tags = {tag for tag, _ in page.tags}
    assert not tags & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "audio",
        "video",
        "foreignobject",
    }
    for tag, attrs in page.tags:
        assert not [a for a in attrs if a.startswith("on")], (tag, attrs)
        for name in ("href", "src", "xlink:href", "action"):
            if attrs.get(name):
                assert str(attrs[name]).startswith("#"), (tag, attrs)
    csp = next(a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert csp is not None
    assert csp.startswith("default-src 'none'")
    assert "script-src" not in csp


def test_hostile_text_is_shown_as_text(page: Page) -> None:
    text = "".join(page.text)
    assert "<script>alert('x')</script>" in text
    assert "[a](javascript:alert(1))" in text
    assert "{{ 7*7 }}" in text
    assert "⟨U+202E⟩gnp.exe⟨U+0007⟩" in text
    assert "\u202e" not in text


def test_styles_fetch_nothing(written: Path) -> None:
    for path in [written / "report.html", *(written / "figures").glob("*.svg")]:
        source = path.read_text(encoding="utf-8")
        styles = re.findall(r"<style[^>]*>(.*?)</style>", source, re.DOTALL) + re.findall(r'style="([^"]*)"', source)
        assert styles
        for style in styles:
            assert not re.search(r"@import|expression\(|url\((?!#)", style), (path, style[:200])


def test_same_run_gives_the_same_bytes(written: Path, tmp_path: Path, make_run: Callable[..., Any]) -> None:
    write_report(make_run(), tmp_path)

    def digests(folder: Path) -> dict[str, str]:
        return {
            str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*"))
            if p.is_file()
        }

    assert digests(written) == digests(tmp_path)


def test_figures_of_an_earlier_report_are_removed(tmp_path: Path, make_run: Callable[..., Any]) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "9-old.svg").write_text("<svg/>")
    (tmp_path / "figures" / "notes.txt").write_text("mine")
    write_report(make_run(), tmp_path)
    assert not (tmp_path / "figures" / "9-old.svg").exists()
    assert (tmp_path / "figures" / "notes.txt").exists()


def test_handwritten_stands_before_generated(page: Page) -> None:
    text = "".join(page.text)
    assert text.index("手写") < text.index("desk")


def test_unmeasurable_is_a_dash_with_its_reason(page: Page) -> None:
    text = "".join(page.text)
    assert "too few samples" in text
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", text)
