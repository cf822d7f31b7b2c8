from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.llm.prices import Price, by_cost, cost_of, load_prices, price_of, show_usd, worst_cost

MINI = Price(prompt=0.15, cached=0.075, completion=0.6)


def write(folder: Path, **changes: Any) -> Path:
    table = {"as_of": "2026-01-31", "source": "ours", "prices": {"a": {"prompt": 1, "completion": 2}}, **changes}
    file = folder / "prices.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    return file


def test_built_in_table_is_dated_and_says_to_be_replaced() -> None:
    table = load_prices()
    assert len(table.prices) >= 12
    assert "as of 20" in table.describe() and "replace" in table.describe()
    assert table.find("gpt-4o-mini") == MINI


def test_a_name_matches_exactly_or_by_a_listed_alias_and_is_never_guessed() -> None:
    table = load_prices()
    assert table.find("gpt-4o-mini-2024-07-18") == MINI
    for near in ("gpt-4o-mini-2031-01-01", "GPT-4o-mini", "gpt-4o-mini ", "openai/gpt-4o-mini", "gpt-4", ""):
        assert table.find(near) is None


def test_cost_worked_out_by_hand() -> None:
    usage = Usage(prompt=1000, cached=400, completion=200, reasoning=50)
    # 600 × 0.15 + 400 × 0.075 + 200 × 0.6 = 240 dollars per million
    assert cost_of(usage, MINI) == pytest.approx(240e-6, rel=1e-12)
    without_discount = Price(prompt=0.15, completion=0.6)
    assert cost_of(usage, without_discount) == pytest.approx(270e-6, rel=1e-12)
    assert worst_cost(1000, 200, MINI) == pytest.approx(270e-6, rel=1e-12)


def test_more_cached_than_sent_never_costs_less_than_nothing() -> None:
    assert cost_of(Usage(prompt=10, cached=500), MINI) == pytest.approx(10 * 0.075e-6)


def test_unknown_price_or_usage_is_unknown_and_free_is_free() -> None:
    assert cost_of(Usage(prompt=1_200_000), None) is None
    assert cost_of(None, MINI) is None
    assert cost_of(Usage(prompt=5), Price(prompt=0, completion=0)) == 0.0
    assert price_of("new-model-9") is None
    assert price_of("new-model-9", MINI) == MINI
    assert price_of("gpt-4o", MINI) == MINI


def test_money_for_display() -> None:
    shown = [show_usd(usd) for usd in (None, 0.0, 0.00000001, 0.00123, 1.5, 1234.567)]
    assert shown == ["unknown", "$0.00", "under $0.0001", "$0.0012", "$1.50", "$1,234.57"]


def test_ranking_by_cost_leaves_the_unknown_out() -> None:
    assert by_cost({"new": None, "dear": 2.0, "free": 0.0, "cheap": 0.1}) == ["free", "cheap", "dear"]


def test_own_table_replaces_the_built_in_one(tmp_path: Path) -> None:
    table = load_prices(write(tmp_path, aliases={"b": "a"}))
    assert table.find("b") == Price(prompt=1, completion=2)
    assert table.find("gpt-4o") is None
    assert "2026-01-31" in table.describe()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"prices": {"a": {"prompt": -1, "completion": 2}}}, ["prices.a.prompt", "-1", "greater than or equal to 0"]),
        ({"prices": {"a": {"prompt": "much", "completion": 2}}}, ["prices.a.prompt", "'much'"]),
        ({"prices": {"a": {"prompt": 1}}}, ["prices.a.completion is missing"]),
        ({"prices": {"a": {"promt": 1, "prompt": 1, "completion": 1}}}, ["prices.a.promt", "did you mean 'prompt'"]),
        ({"as_of": "some day"}, ["as_of", "'some day'"]),
        ({"aliases": {"b": "c"}}, ["'b'", "'c'", "no price"]),
        ({"aliases": {"a": "a"}}, ["'a' is both"]),
        ({"prices": []}, ["prices", "[]"]),
    ],
)
def test_a_bad_table_gets_one_sentence(tmp_path: Path, changes: dict[str, Any], named: list[str]) -> None:
    file = write(tmp_path, **changes)
    with pytest.raises(UserError) as caught:
        load_prices(file)
    message = str(caught.value)
    assert "\n" not in message and str(file) in message
    assert all(part in message for part in named), message


def test_an_unreadable_table_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the price table"):
        load_prices(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="not valid JSON"):
        load_prices(tmp_path / "bad.json")
    (tmp_path / "bin.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="no price table"):
        load_prices(tmp_path / "bin.json")
