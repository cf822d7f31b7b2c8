"""What tools/index_agreement.py says of two rankings that differ."""

from __future__ import annotations

import math
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.stores.textindex import TextDocument, TextQuery
from memtrial.systems.stores.textindex_tantivy import TantivyIndex

LAMP = TextQuery(None, terms=(("lamp", 1.0),))


@pytest.fixture(scope="module")
def tool() -> Any:
    path = Path(__file__).resolve().parents[2] / "tools" / "index_agreement.py"
    if not path.exists():
        pytest.skip("tools/ is not here")
    spec = util.spec_from_file_location("index_agreement", path)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documents(*lengths: int) -> list[TextDocument]:
    """One document of each length, which holds "lamp" once."""
    return [TextDocument(f"d{n}", "t", ["lamp", *["x"] * (length - 1)]) for n, length in enumerate(lengths)]


@pytest.mark.parametrize(
    ("length", "kept"),
    # four significant bits of what is beyond 24: 16 to 31 by twos, 32 to 63 by fours, 64 to 127 by eights
    [(0, 0), (1, 1), (39, 39), (40, 40), (41, 40), (55, 54), (56, 56), (59, 56), (60, 60), (87, 84), (88, 88), (95, 88), (96, 96)],
)  # fmt: skip
def test_a_byte_keeps_short_lengths_exactly_and_long_ones_in_four_bits(tool: Any, length: int, kept: int) -> None:
    assert tool.byte_length(length) == kept


def test_the_formula_is_bm25(tool: Any) -> None:
    formula = tool.Formula(documents(1, 3))
    idf = math.log(1 + (2 - 2 + 0.5) / (2 + 0.5))
    # lengths 1 and 3, mean 2: 1.2 · (0.25 + 0.75 · 1/2) = 0.75 and 1.2 · (0.25 + 0.75 · 3/2) = 1.65
    assert formula.score(LAMP, "d0", rounded=False) == pytest.approx(idf * 2.2 / 1.75)
    assert formula.score(LAMP, "d1", rounded=False) == pytest.approx(idf * 2.2 / 2.65)
    assert formula.score(TextQuery(None, terms=(("lamp", 0.5), ("lost", 1.0))), "d0", rounded=True) == pytest.approx(
        idf * 1.1 / 1.75
    )


def test_the_engine_scores_by_the_formula_with_rounded_lengths(tool: Any, tmp_path: Path) -> None:
    made = documents(2, 57, 91, 200, 1001)
    index = TantivyIndex(tmp_path / "index", {})
    index.load(made)
    index.commit()
    formula, hits = tool.Formula(made), index.find(LAMP, 10)
    index.close()
    assert [score for _, score in hits] == pytest.approx([formula.score(LAMP, id, rounded=True) for id, _ in hits])
    assert hits[1][1] != pytest.approx(formula.score(LAMP, "d1", rounded=False), rel=1e-4)


def scored(tool: Any, formula: Any, *ids: str, rounded: bool = True) -> list[tuple[str, float]]:
    return [(id, formula.score(LAMP, id, rounded=rounded)) for id in ids]


def test_it_says_why_two_rankings_differ(tool: Any) -> None:
    formula = tool.Formula(documents(5, 5, 57, 56))
    one = scored(tool, formula, "d0", "d1", "d3", "d2")
    assert tool.why(LAMP, one, one, formula) == "same"
    assert tool.why(LAMP, one, scored(tool, formula, "d1", "d0", "d2", "d3"), formula) == "ties"
    assert tool.why(LAMP, one[:3], scored(tool, formula, "d0", "d1", "d2"), formula) == "ties"
    exact = scored(tool, formula, "d1", "d0", "d3", "d2", rounded=False)
    assert tool.why(LAMP, one, exact, formula) == "length"


@pytest.mark.parametrize("ids", [(), ("d0", "d1"), ("d0", "d3", "d2"), ("d3", "d0", "d1")])
def test_a_ranking_that_misses_what_is_better_is_not_explained(tool: Any, ids: tuple[str, ...]) -> None:
    formula = tool.Formula(documents(5, 5, 57, 56))
    one = scored(tool, formula, "d0", "d1", "d3")
    assert tool.why(LAMP, one, scored(tool, formula, *ids), formula) == "unexplained"
    assert tool.why(LAMP, scored(tool, formula, *ids), one, formula) == "unexplained"


def test_a_score_that_no_formula_gives_is_not_explained(tool: Any) -> None:
    formula = tool.Formula(documents(5, 5, 57, 56))
    one = scored(tool, formula, "d0", "d1", "d3")
    assert tool.why(LAMP, one, [("d1", 9.0), *one[:1], one[2]], formula) == "unexplained"
