from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from memtrial.datasets.errors import MissingExtraError
from memtrial.metrics.ragas import adapter
from memtrial.metrics.ragas.adapter import AskingEmbeddings, AskingLLM, UnscoredError, load_ragas
from memtrial.metrics.ragas.samples import Sample, ruled, sample_of
from memtrial.metrics.ragas.scores import METRICS, Score, summarise
from memtrial.metrics.ragas.scoring import score_records, summaries
from memtrial.metrics.records import Item, Judgement, Labels, Record, Result
from memtrial.systems.models.llm.outcome import BudgetSpent, ModelCallError, Reply, Usage

TOLD = {"content": "We met in Delft.", "timestamp": "2024-05-01T09:30:00", "sender": "u1", "sender_name": "Ann"}


def record(number: int = 0, *, text: str = "Delft", context: Sequence[Any] = ("m1",), **more: Any) -> Record:
    labels = {"text": "Where?", "answers": ["Delft"], **more.pop("labels", {})}
    judgement = more.pop("judgement", {"outcome": "correct"})
    items = [c if isinstance(c, Item) else Item(ids=[c]) for c in context]
    result = Result(
        key=str(number),
        unit="u",
        dataset="d",
        corpus_id="c",
        question_id=f"q{number}",
        text=text,
        context=items,
        **more,
    )
    return Record(trial="t", result=result, labels=Labels(**labels), judgement=Judgement(**judgement))


def find(_: Record, ident: str) -> dict[str, Any] | None:
    return TOLD if ident.startswith("m") else None


SAMPLE = sample_of(record(), find)


class FakeClient:
    def __init__(self, *replies: Any) -> None:
        self.replies, self.asked = list(replies), []

    async def complete(self, role: str, messages: Any, **more: Any) -> Reply:
        self.asked.append((role, messages, more))
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, Reply) else Reply("ok", parsed=reply, usage=Usage(10, 0, 5))

    async def aclose(self) -> None: ...


class Statements(BaseModel):
    statements: list[str]


class Verdict(BaseModel):
    statement: str = "s"
    verdict: int


class Verdicts(BaseModel):
    statements: list[Verdict]


class Sorted(BaseModel):
    TP: list[str]
    FP: list[str]
    FN: list[str]


class Recalled(BaseModel):
    classifications: list[str]


class Asked(BaseModel):
    question: str
    noncommittal: int = 0


# -- bounds ----------------------------------------------------------------------------------------------------------


def test_jd_06_failures_are_bounds_and_never_averaged_away() -> None:
    given = [1.0, 1.0, None, None, None, None, None, None]
    got = summarise(Score.of(value) for value in given)
    assert (got.n_scored, got.n_total, got.low, got.high) == (2, 8, 0.25, 1.0)
    assert got.value is None
    assert got.mean_scored == 1.0
    assert got.show() == "0.250 to 1.000 (2/8 scored)"
    assert got.by_reason == {"unscored:none": 6}
    assert got.unscored_share == 0.75


@pytest.mark.parametrize(
    ("value", "reason"),
    [(math.nan, "nan"), (None, "none"), ("high", "not_a_number"), (math.inf, "out_of_range"), (1.5, "out_of_range")],
)
def test_what_is_no_score_is_unscored(value: Any, reason: str) -> None:
    got = Score.of(value)
    assert (got.status, got.value, got.reason) == ("unscored", None, reason)


def test_rounding_and_negative_cosines_stay_in_range() -> None:
    assert [Score.of(v).value for v in (1.0000000002, -0.2, 0, True)] == [1.0, 0.0, 0.0, 1.0]


def test_bounds_hold_whatever_the_unscored_would_have_been() -> None:
    known, unknown = [0.2, 0.8, 0.5], 2
    got = summarise(
        [*(Score.of(v) for v in known), *[Score.missing("timeout")] * unknown, Score.ruled(None, "abstained")]
    )
    assert got.low is not None and got.high is not None
    for fill in (0.0, 0.3, 1.0):
        assert got.low <= (sum(known) + fill * unknown) / 5 <= got.high
    assert (got.n_total, got.n_not_applicable) == (5, 1)


def test_a_metric_that_applies_to_nothing_has_no_value() -> None:
    got = summarise([Score.ruled(None, "unanswerable")])
    assert (got.value, got.low, got.high, got.n_total) == (None, None, None, 0)
    assert got.show() == "does not apply to any answer"
    assert got.unscored_share == 0.0


# -- samples and rules -----------------------------------------------------------------------------------------------


def test_context_is_what_the_reader_saw_with_time_and_sender() -> None:
    assert SAMPLE.contexts == ("[2024-05-01 09:30] Ann: We met in Delft.",)
    assert sample_of(record(context=[Item(ids=["m1"], text="a summary")]), find).contexts == ("a summary",)


def test_half_a_surrogate_pair_is_replaced() -> None:
    got = sample_of(record(text="a\ud83d"), find)
    got.response.encode()


@pytest.mark.parametrize("contexts", [(), (Item(ids=[], text=""),), (Item(ids=[]),)])
def test_jd_14_empty_contexts_are_no_crash(contexts: Any) -> None:
    sample = sample_of(record(context=contexts), find)
    got = {metric: ruled(metric, sample) for metric in METRICS}
    assert got["context_recall"] == Score.ruled(0.0, "no_context")
    assert got["context_precision"] == got["faithfulness"] == Score.ruled(None, "no_context")
    assert got["answer_correctness"] is None and got["answer_relevancy"] is None


def test_rules() -> None:
    def rules(**more: Any) -> dict[str, Any]:
        sample = sample_of(record(**more), find)
        found = {metric: ruled(metric, sample) for metric in METRICS}
        return {m: "ask" if s is None else s.value if s.status == "scored" else s.status for m, s in found.items()}

    na = "not_applicable"
    assert rules() == dict.fromkeys(METRICS, "ask")
    assert rules(error="timeout", text="", context=()) == {
        "faithfulness": na, "answer_relevancy": 0.0, "context_precision": na, "context_recall": 0.0,
        "answer_correctness": 0.0,
    }  # fmt: skip
    assert rules(abstained=True) == {
        "faithfulness": na, "answer_relevancy": 0.0, "context_precision": "ask", "context_recall": "ask",
        "answer_correctness": 0.0,
    }  # fmt: skip
    assert rules(abstained=True, labels={"answerable": False, "answers": []}) == dict.fromkeys(METRICS, na)
    assert rules(context=("gone",))["context_recall"] == "unscored"


# -- the adapter -----------------------------------------------------------------------------------------------------


def ask(llm: AskingLLM, shape: type[BaseModel], prompt: str = "p") -> BaseModel:
    return asyncio.run(llm.agenerate(prompt, shape))


def test_asks_through_the_client_in_the_evaluation_phase() -> None:
    client = FakeClient(Statements(statements=["a"]))
    llm = AskingLLM(client, trial="bm25")
    assert ask(llm, Statements) == Statements(statements=["a"])
    role, messages, more = client.asked[0]
    assert role == "ragas" and messages == [{"role": "user", "content": "p"}]
    assert more == {"schema": Statements, "repeat": 0, "phase": "evaluation", "trial": "bm25"}
    ask(llm, Statements)
    assert client.asked[1][2]["repeat"] == 1
    assert llm.usage == Usage(20, 0, 10)


@pytest.mark.parametrize("status", ["truncated", "timeout", "refused", "invalid", "not_recorded", "empty"])
def test_jd_05_a_call_that_gave_nothing_keeps_its_own_status(status: Any) -> None:
    reply = Reply(status, text='{"verdicts":[{"statement":"a","verdict":1},{"statement":"b","ver')
    with pytest.raises(UnscoredError) as caught:
        ask(AskingLLM(FakeClient(reply)), Statements)
    assert caught.value.reason == status


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Statements(statements=[]), "no_statements"),  # jd-12: an answer never has none
        (Statements(statements=[" "]), "no_statements"),
        (Verdicts(statements=[Verdict(verdict=7)]), "bad_verdict"),
        (Verdict(verdict=-1), "bad_verdict"),
        (Sorted(TP=[], FP=[], FN=[]), "no_verdicts"),  # would score 1
        (Recalled(classifications=[]), "no_verdicts"),
        (Asked(question=""), "no_question"),
        (Asked(question="q", noncommittal=2), "bad_verdict"),
    ],
)
def test_replies_that_would_become_a_wrong_number(reply: BaseModel, reason: str) -> None:
    with pytest.raises(UnscoredError) as caught:
        ask(AskingLLM(FakeClient(reply)), type(reply))
    assert caught.value.reason == reason


def test_verdicts_on_half_of_the_statements_are_no_score() -> None:
    llm = AskingLLM(FakeClient(Statements(statements=["a", "b"]), Verdicts(statements=[Verdict(verdict=1)])))
    ask(llm, Statements)
    with pytest.raises(UnscoredError) as caught:
        ask(llm, Verdicts)
    assert caught.value.reason == "verdicts_missing"


def test_a_text_is_embedded_once() -> None:
    seen: list[str] = []

    async def embed(text: str) -> list[float]:
        seen.append(text)
        await asyncio.sleep(0)
        return [1.0]

    async def main() -> None:
        vectors = AskingEmbeddings(embed)
        await asyncio.gather(vectors.aembed_text("a"), vectors.aembed_texts(["a", "b"]))

    asyncio.run(main())
    assert sorted(seen) == ["a", "b"]


def test_missing_ragas_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> Any:
        raise ImportError("no")

    monkeypatch.setattr(adapter, "import_module", absent)
    monkeypatch.delenv("RAGAS_DO_NOT_TRACK", raising=False)
    load_ragas.cache_clear()
    with pytest.raises(MissingExtraError, match=r"memtrial\[ragas\]"):
        load_ragas()
    assert adapter.os.environ["RAGAS_DO_NOT_TRACK"] == "true"
    monkeypatch.delenv("RAGAS_DO_NOT_TRACK")


# -- scoring ---------------------------------------------------------------------------------------------------------


def score(records: Sequence[Record], ask: Any, client: Any = None, **more: Any) -> list[Any]:
    return asyncio.run(score_records(records, find, client or FakeClient(Reply("ok")), ask, **more))


def test_one_that_fails_is_one_unscored_and_the_rest_goes_on() -> None:
    async def ask(metric: str, sample: Sample, llm: AskingLLM) -> Any:
        what = {"0": None, "1": ZeroDivisionError("secret prompt"), "2": UnscoredError("truncated", "cut")}
        number = sample.response
        if number == "3":
            await asyncio.sleep(60)
        if number == "4":
            raise ModelCallError(Reply("server_error", detail="500"))
        found = what.get(number, math.nan if number == "5" else 1.0)
        if isinstance(found, Exception):
            raise found
        return SimpleNamespace(value=found)

    rows = score([record(n, text=str(n)) for n in range(8)], ask, metrics=["faithfulness"], limit_s=0.02)
    reasons = [row.scores["faithfulness"].reason for row in rows]
    assert reasons == ["none", "raised", "truncated", "timeout", "embed_server_error", "nan", "model", "model"]
    assert "secret" not in rows[1].model_dump_json()
    (got,) = summaries(rows, ["faithfulness"])
    assert (got.n_scored, got.n_total, got.low, got.high) == (2, 8, 0.25, 1.0)


def test_a_spent_budget_ends_it() -> None:
    stop = BudgetSpent("the budget is spent", Reply("budget"))

    async def ask(metric: str, sample: Sample, llm: AskingLLM) -> Any:
        await llm.agenerate("p", Statements)

    with pytest.raises(BudgetSpent):
        score([record(n) for n in range(4)], ask, FakeClient(stop), metrics=["faithfulness"])


def test_rules_ask_nothing() -> None:
    async def ask(metric: str, sample: Sample, llm: AskingLLM) -> Any:
        raise AssertionError(metric)

    (row,) = score([record(error="timeout", text="", context=())], ask)
    assert {s.reason for s in row.scores.values()} == {"system_error"}
