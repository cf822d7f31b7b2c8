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
            assert not re.search(r"@import|expression\(|url\((?!#|data:font/woff;base64,)", style), (path, style[:200])


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


def _markdown_tables(source: str) -> list[list[str]]:
    tables: list[list[str]] = []
    for block in source.split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("|"):
            tables.append(lines)
    return tables


def test_markdown_tables_are_well_formed(written: Path) -> None:
    tables = _markdown_tables((written / "report.md").read_text(encoding="utf-8"))
    assert len(tables) > 10
    for lines in tables:
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in lines}
        assert len(widths) == 1, lines
        assert re.fullmatch(r"\|( -+:? \|)+", lines[1])


def test_markdown_is_inert(written: Path) -> None:
    source = (written / "report.md").read_text(encoding="utf-8")
    assert not re.search(r"<[a-zA-Z/!]", source)
    assert not re.search(r"(?<!\\)\]\((?!figures/)", source)
    assert "\u202e" not in source


def test_markdown_refers_to_figures_that_exist(written: Path) -> None:
    named = re.findall(r"\]\((figures/[^)]+)\)", (written / "report.md").read_text(encoding="utf-8"))
    assert named
    for name in named:
        assert (written / name).is_file()
        assert (written / name).with_suffix(".png").is_file()


def test_filters_name_classes_that_questions_carry(written: Path, page: Page) -> None:
    classes = {c for tag, attrs in page.tags if tag == "details" for c in (attrs.get("class") or "").split()}
    options = [str(attrs["value"]) for tag, attrs in page.tags if tag == "option" and attrs.get("value")]
    assert {"d0", "d1", "s0", "c0", "wrong_memory"} <= set(options)
    assert set(options) <= classes
    css = (written / "report.html").read_text(encoding="utf-8").partition("</style>")[0]
    for option in options:
        assert f"#browser:has(option[value={option}]:checked) .q:not(.{option}){{display:none}}" in css


def test_a_large_data_set_shows_the_telling_questions_first(make_run: Callable[..., Any]) -> None:
    from memtrial.reports.browser import shelves
    from memtrial.reports.view import View

    run = make_run(questions=40, trials=("bm25",))
    shelf = shelves(View(run), limit=12)[0]
    assert shelf.left_out == 28
    assert len(shelf.questions) == 12
    outcomes = [q.answers[0].outcome for q in shelf.questions]
    wrong = sum(r.judgement.outcome in {"wrong_memory", "hallucination"} for r in run.records) // 2
    assert wrong == 10
    assert sum(o in {"wrong_memory", "hallucination"} for o in outcomes) == 10
    assert [q.id for q in shelf.questions] == sorted(q.id for q in shelf.questions)


def test_gold_lures_ranks_and_what_was_shown_are_marked(make_run: Callable[..., Any]) -> None:
    from memtrial.reports.browser import shelves
    from memtrial.reports.view import View

    question = shelves(View(make_run(trials=("bm25",))))[0].questions[1]
    gold, lure = question.found[:2]
    assert (gold.gold, gold.ids, gold.ranks, gold.shown) == (True, ("手写-m1",), [1], [True])
    assert (lure.lures, lure.ids, lure.ranks, lure.shown) == (("stale",), ("手写-m2",), [2], [True])
    assert [f.ranks[0] for f in question.found] == [1, 2, 3, 4, 5]
    assert [f.shown[0] for f in question.found] == [True, True, True, False, False]


@pytest.mark.parametrize("kept", [0, 1, 19])
def test_reports_of_runs_that_hardly_began(kept: int, tmp_path: Path, make_run: Callable[..., Any]) -> None:
    from dataclasses import replace

    run = make_run(trials=("bm25",))
    write_report(replace(run, records=run.records[:kept], metrics=run.metrics if kept else []), tmp_path)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not page.faults
    assert "This run is not finished." in "".join(page.text)


def test_an_oracle_that_reads_badly_leads_with_retrieval(make_run: Callable[..., Any]) -> None:
    from dataclasses import replace

    from memtrial.reports.content import build

    run = make_run()
    low = [r.model_copy(update={"value": 0.3, "low": 0.2, "high": 0.4}) if (r.trial, r.metric) == ("oracle", "accuracy") else r
           for r in run.metrics]  # fmt: skip
    content = build(replace(run, metrics=low))
    assert "Reading is the bottleneck." in [b.head for b in content.banners]
    assert [t.need for t in content.parts[0].told][:2] == ["Best evidence recall", "Fewest wrong memories shown"]
    sound = build(run)
    assert "Reading is the bottleneck." not in [b.head for b in sound.banners]
    assert sound.parts[0].told[0].need == "Most accurate"


def test_the_page_carries_the_chinese_glyphs_it_uses(written: Path) -> None:
    import base64
    import io

    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    source = (written / "report.html").read_text(encoding="utf-8")
    found = re.search(r"url\(data:font/woff;base64,([^)]+)\)", source)
    assert found
    glyphs = TTFont(io.BytesIO(base64.b64decode(found.group(1)))).getBestCmap()
    assert {ord(c) for c in "订单的颜色是什么手写售后"} <= set(glyphs)
    assert ord("a") not in glyphs


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, make_run: Callable[..., Any]) -> None:
    from memtrial.datasets.errors import UserError

    (tmp_path / "figures").write_text("a file where the folder should be")
    with pytest.raises(UserError, match=r"cannot write the report to .*: File exists"):
        write_report(make_run(trials=("bm25",)), tmp_path)
