from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memtrial.metrics.records import (
    Item,
    Judgement,
    Labels,
    LureLabel,
    MetricRow,
    Record,
    Result,
    TraceSummary,
    TrialInfo,
)

MakeRecord = Callable[..., Record]


def build_record(
    question: str,
    *,
    trial: str = "bm25",
    dataset: str = "d",
    cluster: str | None = None,
    repeat: int = 0,
    outcome: str = "correct",
    error: str | None = None,
    ranking: Sequence[str] = ("m0",),
    evidence: Sequence[str] = (),
    official: Sequence[str] = (),
    sessions: Sequence[str] = (),
    evidence_sessions: Sequence[str] = (),
    lures: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (),
    used: Sequence[str] = (),
    exposed: Sequence[str] = (),
    cited: bool = False,
    leaks: int = 0,
    answerable: bool = True,
    needs_memory: bool = True,
    category: str = "",
    language: str = "",
    latency_ms: float | None = 10.0,
    context_tokens: int = 100,
    log_size: int = 1000,
    gates: Sequence[tuple[str, bool, str]] = (),
    confidence: float | None = None,
    **labels: Any,
) -> Record:
    if error:
        ranking = ()
    result = Result(
        key=f"{trial}/{dataset}/{question}/{repeat}",
        unit=trial,
        dataset=dataset,
        corpus_id="c",
        question_id=question,
        repeat=repeat,
        error=error,
        retrieved=[Item(ids=[i]) for i in ranking],
        context=[Item(ids=[i]) for i in ranking],
        context_tokens=0 if error else context_tokens,
        latency_ms=None if error else latency_ms,
        log_size=log_size,
        confidence=confidence,
        trace=TraceSummary(gates=list(gates)),
    )
    return Record(
        trial=trial,
        result=result,
        labels=Labels(
            text=question,
            cluster_id=f"k-{question}" if cluster is None else cluster,
            category=category,
            language=language,
            answerable=answerable,
            needs_memory=needs_memory,
            evidence=list(evidence),
            official_evidence=list(official),
            evidence_sessions=list(evidence_sessions),
            lures=[LureLabel(kind=k, message_ids=list(m), values=list(v)) for k, m, v in lures],
            **labels,
        ),
        judgement=Judgement.model_validate(
            {
                "outcome": "error" if error else outcome,
                "lures_used": list(used),
                "lures_exposed": list(exposed),
                "lure_cited": cited,
                "leaks": leaks,
            }
        ),
        ranking=list(ranking),
        ranking_sessions=list(sessions),
        ranking_tokens=[7] * len(ranking),
    )


def build_trial(trial: str = "bm25", dataset: str = "d", **fields: Any) -> TrialInfo:
    defaults: dict[str, Any] = {"unit": trial, "system": trial, "target": trial, "time_limit_s": 30.0}
    return TrialInfo(trial=trial, dataset=dataset, **(defaults | fields))


@pytest.fixture
def record() -> MakeRecord:
    return build_record


@pytest.fixture
def trial() -> Callable[..., TrialInfo]:
    return build_trial


@pytest.fixture
def row() -> Callable[..., MetricRow]:
    def find(rows: Sequence[MetricRow], metric: str, slice: str = "all", trial: str = "bm25") -> MetricRow:
        found = [r for r in rows if (r.metric, r.slice, r.trial) == (metric, slice, trial)]
        assert len(found) == 1, f"{len(found)} rows of {metric} in {slice}"
        return found[0]

    return find


@pytest.fixture(scope="session")
def fault(shared_dir: Path) -> Callable[[str], dict[str, Any]]:
    """A fault that others met, by its id."""
    lines = (shared_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    return cases.__getitem__
