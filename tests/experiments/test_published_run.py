"""Published answers and verdicts through a whole run: two judges side by side, and nothing said that nobody measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.store import Run, read_run
from memtrial.metrics.compare import compare
from memtrial.metrics.second_judge import is_second
from memtrial.reports import write_report
from memtrial.reports.banners import banners
from memtrial.reports.view import View


def _talk(ident: str, golds: list[tuple[int, str]]) -> dict[str, Any]:
    turns = [{"speaker": "Ann", "dia_id": f"D1:{i}", "text": f"It was {gold}."} for i, (_, gold) in enumerate(golds, 1)]
    return {
        "sample_id": ident,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [
            {"question": f"Which town was number {i}?", "answer": gold, "adversarial_answer": gold, "evidence": [f"D1:{i}"],
             "category": category}
            for i, (category, gold) in enumerate(golds, 1)
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("published")
    golds = [(4, "Rome"), (4, "Oslo"), (1, "Lima"), (4, "Bern"), (5, "Bonn")]
    data = folder / "locomo.json"
    data.write_text(json.dumps([_talk("conv-26", golds), _talk("conv-30", golds)]))
    answers = ["Rome", "a town in Norway, Oslo", "Cairo", None]
    verdicts: list[list[Any]] = [[True, True, False], [True, True, True], [True, False, None], [False, False, True]]
    rows = {
        f"locomo_exp_user_{user}": [
            {
                "question_id": f"locomo_{user}_qa{i}",
                "question": f"Which town was number {i + 1}?",
                "generated_answer": answers[i],
                "llm_judgments": {f"judgment_{k}": v for k, v in enumerate(verdicts[i])},
            }
            for i in range(4 if user == 0 else 3)
        ]
        for user in (0, 1)
    }
    (folder / "full.json").write_text(json.dumps({"detailed_results": rows}))
    sets = [f"data.path={data}", f"published.path={folder / 'full.json'}", "metrics={resamples: 200}"]
    config = load_config("published_locomo", sets)
    summary = run(make_plan(config), folder / "out")
    write_report(read_run(summary.out), summary.out)
    return read_run(summary.out)


def test_both_judges_stand_side_by_side(finished: Run) -> None:
    rows = [r for r in finished.metrics if (r.metric, r.slice) == ("accuracy", "all")]
    assert [(r.judge, r.value, r.n) for r in rows] == [("matcher", 0.5, 8), ("published:full", pytest.approx(4 / 6), 6)]
    assert "unscored:2" in rows[1].status
    assert {r.slice for r in finished.metrics if is_second(r) and r.metric == "accuracy"} >= {
        "all", "category=single-hop",
    }  # fmt: skip


def test_nobody_answered_is_an_error_and_category_5_is_not_asked(finished: Run) -> None:
    assert [r.result.error for r in finished.records].count("raised") == 1
    assert {r.labels.category for r in finished.records} == {"single-hop", "multi-hop"}
    assert not [r for r in finished.records if r.judgement.outcome == "correct_abstention"]


def test_what_nobody_measured_has_no_value(finished: Run) -> None:
    rows = {r.metric: r for r in finished.metrics if r.slice == "all" and not is_second(r)}
    for metric in ("latency_p95_ms", "context_tokens", "recall@10", "wrong_memory_exposure", "tenant_leaks", "ingest_s",
                   "hallucination_rate", "cost_per_1k_questions_usd"):  # fmt: skip
        assert rows[metric].value is None
        assert "published elsewhere" in rows[metric].status
    assert not [r for r in finished.metrics if "adapter_suspect" in r.status]
    assert rows["abstention_rate"].value == pytest.approx(1 / 8)


def test_the_banner_says_who_answered(finished: Run) -> None:
    heads = [b.head for b in banners(View(finished))]
    assert "Published answers." in heads
    assert "No language model was used." not in heads


def test_the_look_up_is_compared_by_its_answers_alone(finished: Run) -> None:
    twin = finished.trials[0].model_copy(update={"trial": "twin", "system": "twin"})
    records = [*finished.records, *(r.model_copy(update={"trial": "twin"}) for r in finished.records)]
    found = {c.metric: c.status for c in compare(records, [*finished.trials, twin], resamples=100)}
    assert found["accuracy"] != "not_comparable"
    assert found["latency_p95_ms"] == found["context_tokens"] == "not_comparable"


def test_the_view_reads_the_runs_own_judge(finished: Run) -> None:
    view = View(finished)
    row = view.row("locomo", "published", "accuracy")
    assert row is not None and row.judge == "matcher"
    assert [r.judge for r in view.second("locomo", "published", "accuracy")] == ["published:full"]
