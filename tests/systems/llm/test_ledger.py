from __future__ import annotations

from pathlib import Path
from random import Random

from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.llm.prices import Price, by_cost, cost_of
from memtrial.systems.models.llm.store import CallStore, StoredCall

PRICE = Price(prompt=1.0, completion=2.0)


def test_sums_by_role_phase_and_trial() -> None:
    ledger = Ledger()
    ledger.add("read", "query", "a", "m", Usage(100, 40, 10, 4), 0.1)
    ledger.add("read", "query", "b", "m", Usage(200, 0, 20), 0.2)
    ledger.add("extract", "ingest", "a", "m", Usage(1000, 0, 5), 0.5)
    ledger.add("judge", "evaluation", "a", "j", Usage(50, 0, 1), 0.05)
    by_role = ledger.totals("role")
    assert [(name, t.calls, t.prompt) for (name,), t in by_role.items()] == [
        ("extract", 1, 1000),
        ("judge", 1, 50),
        ("read", 2, 300),
    ]
    assert ledger.totals("trial", "phase")["a", "query"].cached == 40
    assert ledger.total(phase="query").reasoning == 4
    whole = ledger.totals()[()]
    assert (whole.calls, whole.tokens, whole.usd) == (4, 1386, 0.85)
    assert ledger.total(phase="query").usd == 0.3  # whole numbers inside: no 0.30000000000000004
    assert Ledger().totals("role") == {} and Ledger().totals()[()].usd == 0.0


def test_a_model_without_a_price_is_unknown_and_never_the_cheapest() -> None:
    ledger = Ledger()
    usage = Usage(prompt=1_200_000)
    ledger.add("read", "query", "new", "new-model-9", usage, cost_of(usage, None))
    ledger.add("read", "query", "known", "m", usage, cost_of(usage, PRICE))
    new, both = ledger.total(trial="new"), ledger.total()
    assert (new.usd, new.show_cost(), new.tokens) == (None, "unknown", 1_200_000)
    assert (both.usd, both.usd_known, both.unpriced) == (None, 1.2, 1)
    assert by_cost({name: t.usd for (name,), t in ledger.totals("trial").items()}) == ["known"]
    assert "at least $1.20" in ledger.line()


def test_calls_without_usage_are_counted_and_not_taken_for_no_tokens() -> None:
    ledger = Ledger()
    ledger.add("read", "query", "a", "m", Usage(100, 0, 10), 0.1)
    ledger.add("read", "query", "a", "m", Usage(40, 0, 10, estimated=True), 0.1)
    ledger.add("read", "query", "a", "m", None, None, status="timeout")
    total = ledger.total()
    assert total.show_usage() == "2 of 3 calls without usage"
    assert (total.unmeasured, total.tokens, total.estimated) == (1, 160, 50)
    assert total.estimated_share == 50 / 160
    assert total.usd is None
    assert Ledger().total().estimated_share is None


def test_requests_that_no_model_worked_on_are_failures_and_cost_nothing() -> None:
    ledger = Ledger()
    for status in ("rate_limited", "quota", "auth", "bad_request", "budget", "not_recorded"):
        ledger.add("read", "query", "a", "m", None, None, status=status)
    ledger.add("read", "query", "a", "m", Usage(10, 0, 5), 0.1, status="refused")
    total = ledger.total()
    assert (total.failed, total.calls, total.without_usage, total.usd) == (7, 1, 0, 0.1)


def test_a_replayed_call_counts_for_the_asker_and_is_not_paid_again() -> None:
    ledger = Ledger()
    ledger.add("read", "query", "a", "m", Usage(10), 0.5)
    ledger.add("read", "query", "b", "m", Usage(10), 0.5, replayed=True)
    assert ledger.total(trial="b").usd == 0.5
    total = ledger.total()
    assert (total.usd, total.usd_paid, total.replayed) == (1.0, 0.5, 1)
    assert ledger.line(5.0) == "2 calls, 1 from the record, 20 tokens, $0.5000 of $5.00"


def test_totals_after_a_resume_cover_what_was_paid_before_it(tmp_path: Path) -> None:
    def segment(first: int, last: int, tokens: int) -> None:
        store = CallStore(tmp_path / "calls.jsonl")
        for i in range(first, last):
            usage = Usage(prompt=tokens - 1, completion=1)
            store.put(f"k{i}", StoredCall("ok", "x", usage=usage, model="m", role="read", phase="query", trial="t"))
        store.close()

    segment(0, 700, 10)
    segment(700, 1000, 10)
    ledger = Ledger()
    ledger.add_stored(CallStore(tmp_path / "calls.jsonl").calls(), {"m": PRICE}.get)
    total = ledger.total(role="read", phase="query", trial="t")
    assert (total.calls, total.tokens) == (1000, 10_000)
    assert total.usd_paid == (9000 + 2 * 1000) / 1e6


def test_failures_and_duplicates_in_the_store_are_paid_for_too(tmp_path: Path) -> None:
    store = CallStore(tmp_path / "calls.jsonl")
    for call in (
        StoredCall("refused", "no", usage=Usage(10, 0, 1), model="m"),
        StoredCall("ok", "yes", usage=Usage(10, 0, 1), model="m"),
        StoredCall("ok", "also yes", usage=Usage(10, 0, 1), model="m"),
        StoredCall("rate_limited", model="m"),
    ):
        store.put("k", call)
    ledger = Ledger()
    ledger.add_stored(store.calls(), {"m": PRICE}.get)
    total = ledger.total()
    assert (total.calls, total.failed, total.prompt, total.usd) == (3, 2, 30, 36e-6)


def test_rows_carry_a_ledger_into_another_process() -> None:
    one, other = Ledger(), Ledger()
    one.add("read", "query", "a", "m", Usage(10, 1, 2, 1, True), 0.1, replayed=True)
    one.add("read", "query", "a", "m", None, None, status="timeout")
    other.add_rows(one.rows())
    other.add_rows(one.rows())
    assert other.total().calls == 4
    assert other.rows()[0]["unpriced"] == 2


def test_the_order_in_which_calls_end_changes_no_digit() -> None:
    costs = [Random(1).random() / 1000 for _ in range(500)]
    ledgers = []
    for seed in (1, 2):
        Random(seed).shuffle(costs)
        ledger = Ledger()
        for usd in costs:
            ledger.add("read", "query", "a", "m", Usage(1), usd)
        ledgers.append(ledger)
    assert ledgers[0].rows() == ledgers[1].rows()
