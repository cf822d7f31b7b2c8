"""A small run made by hand: hostile text everywhere, two languages, one null, one short latency sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtrial.experiments.store import Run
from memtrial.metrics.records import Item, Judgement, Labels, LureLabel, MetricRow, Record, Result, TrialInfo

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert('x')</script> | [a](javascript:alert(1)) `c` \u202egnp.exe\x07 {{ 7*7 }}"
OUTCOMES = (
    "correct",
    "wrong_memory",
    "correct_abstention",
    "needless_abstention",
    "hallucination",
    "incomplete",
    "wrong_other",
    "error",
)


def _record(trial: str, dataset: str, index: int, shift: int) -> Record:
    qid = f"q{index:03d}"
    outcome = OUTCOMES[(index + shift) % len(OUTCOMES)]
    chinese = index % 2 == 1
    evidence, lure = f"{dataset}-m{index}", f"{dataset}-m{index + 1}"
    labels = Labels(
        text=f"订单 {index} 的颜色是什么？"
        if chinese
        else f"What colour is order {index}? {HOSTILE if index == 0 else ''}",
        history=[("user", HOSTILE), ("agent", "yes")] if index == 0 else [],
        asker="张伟" if chinese else "ann",
        asked_at="2024-05-01T10:00:00+00:00",
        tenant_id="t1",
        conversation_id=f"c{index % 3}",
        cluster_id=f"c{index % 3}",
        category="售后" if chinese else "orders <b>|x",
        language="zh" if chinese else "en",
        answerable=outcome != "correct_abstention",
        answer_type="span",
        answers=["红色" if chinese else "red"],
        evidence=[evidence],
        lures=[LureLabel(kind="stale", message_ids=[lure], values=["blue"])],
    )
    items = [Item(ids=[f"{dataset}-m{(index + k) % 12}"], score=9.0 - k, tenant_id="t1", tokens=12) for k in range(5)]
    error = "timeout" if outcome == "error" else None
    result = Result(
        key=f"{trial}/{dataset}/{qid}",
        unit=f"u-{trial}",
        dataset=dataset,
        corpus_id="corpus",
        question_id=qid,
        error=error,
        error_detail=HOSTILE if error else "",
        text="" if "abstention" in outcome or error else f"It is blue. {HOSTILE if index < 3 else ''}",
        abstained="abstention" in outcome,
        citations=[lure],
        retrieved=[] if error else items,
        context=[] if error else items[:3],
        context_tokens=36,
        latency_ms=None if error else 1.5 + index,
        log_size=12,
    )
    judgement = Judgement(
        outcome=outcome, lures_used=["stale"] if outcome == "wrong_memory" else [], lures_exposed=["stale"]
    )
    return Record(trial=trial, result=result, labels=labels, judgement=judgement, ranking=[i.ids[0] for i in items])


def make_run(questions: int = 16, trials: tuple[str, ...] = ("bm25", "向量检索", "oracle")) -> Run:
    """Build records by hand and rows with round numbers; nothing here calls the code that computes metrics."""
    datasets = {"desk": "supportdesk", "手写": "handwritten"}
    infos, records, rows = [], [], []
    for dataset in datasets:
        for shift, trial in enumerate(trials):
            system = "bm25" if trial.startswith("bm25") else trial
            infos.append(
                TrialInfo(trial=trial, unit=f"u-{trial}", system=system, target=system, params={"k": 10}, dataset=dataset,
                          planned=questions, messages_ingested=12, warnings=[HOSTILE] if trial == "bm25" else [])
            )  # fmt: skip
            records += [_record(trial, dataset, i, shift) for i in range(questions)]
            base: dict[str, Any] = {"trial": trial, "system": system, "params": {"k": 10}, "dataset": dataset}
            for place, metric in enumerate(("accuracy", "accuracy_answerable", "abstention_precision", "abstention_recall",
                                            "wrong_memory_rate", "wrong_memory_exposure", "hallucination_rate", "recall@10",
                                            "recall@1", "recall@5", "session_recall@5")):  # fmt: skip
                value = round(0.9 - 0.05 * place - 0.02 * shift, 3)
                rows.append(MetricRow(**base, slice="all", metric=metric, value=value, low=value - 0.05, high=value + 0.05,
                                      n=questions, judge="matcher", status="few_clusters"))  # fmt: skip
            rows.append(
                MetricRow(
                    **base, slice="all", metric="latency_p95_ms", value=None, n=12, status="unmeasurable:few_samples"
                )
            )
            rows.append(MetricRow(**base, slice="all", metric="latency_p50_ms", value=4.25, low=3.0, high=7.5, n=16))
            rows.append(
                MetricRow(**base, slice="all", metric="context_tokens", value=1536.4, low=1400.0, high=1600.0, n=16)
            )
            for category in ("售后", "orders <b>|x"):
                rows.append(
                    MetricRow(
                        **base, slice=f"category={category}", metric="accuracy", value=0.5, low=0.4, high=0.6, n=8
                    )
                )
                rows.append(
                    MetricRow(
                        **base, slice="lure=stale", metric="wrong_memory_rate", value=0.25, low=0.1, high=0.4, n=16
                    )
                )
    messages = {
        f"{d}-m{i}": {"id": f"{d}-m{i}", "sender": "ann", "timestamp": "2024-04-01T10:00:00+00:00",
                      "content": HOSTILE if i == 0 else f"订单 {i} 是红色的，不是蓝色 (red)"}
        for d in datasets for i in range(questions + 12)
    }  # fmt: skip
    config = {"name": f"trial run {HOSTILE}", "data": {label: {"name": name} for label, name in datasets.items()}}
    manifest = {"memtrial_version": "0.1.0", "fingerprints": dict.fromkeys(datasets, "ab" * 32)}
    exact = {(d, "corpus", i): m for d in datasets for i, m in messages.items()}
    return Run(Path("run"), config, manifest, infos, records, rows, messages, exact)


@pytest.fixture(name="make_run")
def _make_run() -> Callable[..., Run]:
    return make_run


@pytest.fixture(name="hostile")
def _hostile() -> str:
    return HOSTILE
