from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import Config
from memtrial.experiments.folder import locked
from memtrial.experiments.plan import make_plan, query_of
from memtrial.experiments.progress import RunSummary, Score
from memtrial.experiments.runner import _unfiltered, finish, run
from memtrial.experiments.store import JOURNAL, Run, read_run
from memtrial.metrics.records import OUTCOMES

from .conftest import Configure, toy


def go(config: Config, out: Path) -> tuple[RunSummary, Run]:
    summary = run(make_plan(config), out)
    return summary, read_run(out)


def errors(found: Run) -> Counter[str]:
    return Counter(r.result.error or "none" for r in found.records)


def lines(out: Path, kind: str = "result") -> list[dict[str, Any]]:
    return [row for line in (out / JOURNAL).read_bytes().splitlines() if (row := orjson.loads(line))["type"] == kind]


def test_every_question_once_with_measures_and_metrics(configure: Configure, tmp_path: Path) -> None:
    # It sleeps, since what others do meanwhile is counted in ticks of the clock.
    summary, found = go(configure({"echo": toy("Echo", sleep=0.01)}), tmp_path / "out")
    assert (summary.planned, summary.finished, summary.errors, summary.exit_code) == (12, 12, 0, 0)
    assert [r.result.question_id for r in found.records] == [
        f"c{c}{i % 2}-q{i}" for c in (0, 1) for i in range(6)
    ]  # by asked_at
    assert all(r.result.latency_ms is not None and r.result.latency_ms > 0 for r in found.records)
    (trial,) = found.trials
    assert trial.planned == 12
    assert trial.messages_ingested == 48
    assert len(trial.write_ms) == 12
    assert trial.ingest_s is not None and trial.ingest_s > 0
    sizes = sum(
        len(m.content) + 1
        for p in make_plan(configure({"echo": toy("Echo")})).data["toy"].corpora
        for m in p.messages[: p.upto[-1]]
    )
    assert trial.index_mb == pytest.approx(sizes / 1e6)
    assert trial.peak_rss_mb is not None and 20 < trial.peak_rss_mb < 500
    assert trial.other_work_cores is not None and 0 <= trial.other_work_cores < 1_000
    assert {m.slice for m in found.metrics} >= {"all", "category=code"}
    assert found.complete
    assert found.manifest["language_model"] == "no language model"
    assert not (tmp_path / "out" / "work").exists()


def test_nothing_from_after_the_question_was_handed_over(configure: Configure, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    go(configure({"echo": toy("Echo", asked=str(asked))}, seed=7), tmp_path / "out")
    # Question i of a corpus stands after messages 0..2i+1 of both tenants.
    given = [int(line.split()[1]) for line in asked.read_text().splitlines()]
    assert given == [2 * (2 * i + 2) for i in range(6)] * 2
    assert {line.split()[2] for line in asked.read_text().splitlines()} == {"7"}


def test_query_ids_carry_no_label_and_differ_between_trials(configure: Configure) -> None:
    plan = make_plan(configure({"a": toy("Echo"), "b": toy("Echo")}))
    ids = [(query_of(q, key).id, q.id) for key, _, _, _, q in plan.questions()]
    assert len({one for one, _ in ids}) == len(ids) == 24
    assert all(other not in one for one, other in ids)


def test_a_text_with_surrogates_is_kept_as_replacement(configure: Configure, tmp_path: Path) -> None:
    _, found = go(configure({"m": toy("Misbehaving", how="surrogates", word="word3")}), tmp_path / "out")
    assert errors(found) == {"none": 12}
    assert "half ? of a pair" in {r.result.text for r in found.records}


@pytest.mark.parametrize(
    ("how", "error", "detail"),
    [
        ("busy", "timeout", "no answer within 1 s"),
        ("sleeping", "timeout", "no answer within 1 s"),
        ("raising", "raised", "RuntimeError: no luck with [hidden]"),
        ("leaving", "raised", "SystemExit: 3"),
        ("exiting", "crashed", "the worker ended with exit code 3"),
        ("crashing", "crashed", "the worker was ended by SIGSEGV"),
        ("garbage", "invalid", "answer() returned dict, not a memtrial.systems.base.Answer"),
        ("nan", "invalid", "Answer.retrieved[0].score is nan, not a finite number"),
    ],
)
def test_a_question_that_goes_wrong_costs_one_error(
    configure: Configure, tmp_path: Path, how: str, error: str, detail: str
) -> None:
    config = configure({"m": toy("Misbehaving", how=how, word="word3")}, time_limit_s=1)
    summary, found = go(config, tmp_path / "out")
    assert errors(found) == {"none": 10, error: 2}
    wrong = [r for r in found.records if r.result.error]
    assert {r.result.error_detail for r in wrong} == {detail}
    assert {r.judgement.outcome for r in wrong} == {"error"}
    assert all(r.result.latency_ms is None for r in wrong)
    assert summary.exit_code == 0
    (trial,) = found.trials
    assert trial.messages_ingested == 48  # the restarted worker got the log anew, and it counts once
    assert "sk-abcdefghijklmnop1234" not in "".join(p.read_text() for p in (tmp_path / "out" / "logs").iterdir())


def test_noise_on_standard_output_goes_to_the_log(configure: Configure, tmp_path: Path) -> None:
    _, found = go(configure({"m": toy("Misbehaving", how="printing", word="word3")}), tmp_path / "out")
    assert errors(found) == {"none": 12}
    assert {r.result.text for r in found.records} == {"fine"}
    assert "garbage on standard output" in (tmp_path / "out" / "logs" / "m-toy.log").read_text()


@pytest.mark.parametrize(
    ("params", "expected", "detail"),
    [
        ({"where": "create"}, {"raised": 12}, "not asked: create: ValueError: no such index"),
        ({"where": "ingest"}, {"raised": 12}, "not asked: ingest: OSError: disk on fire"),
        ({"where": "ingest", "from": 12}, {"none": 4, "raised": 8}, "not asked: ingest: OSError: disk on fire"),
        ({"where": "ingest_hang"}, {"timeout": 12}, "not asked: ingest: not done within 1 s"),
        ({"where": "ingest_exit"}, {"crashed": 12}, "not asked: ingest: the worker ended with exit code 4"),
    ],
)
def test_a_system_that_cannot_start_or_take_messages_in(
    configure: Configure, tmp_path: Path, params: dict[str, Any], expected: dict[str, int], detail: str
) -> None:
    summary, found = go(configure({"f": toy("Failing", **params)}, ingest_limit_s=1), tmp_path / "out")
    assert errors(found) == expected
    assert {r.result.error_detail for r in found.records if r.result.error} == {detail}
    assert summary.exit_code == 2
    assert found.trials[0].ingest_s is None
    assert any("failed on a corpus" in w for w in found.trials[0].warnings)


def test_a_worker_killed_while_it_starts_gets_a_second_chance(configure: Configure, tmp_path: Path) -> None:
    summary, found = go(configure({"k": toy("Killed", times=1, starts=str(tmp_path / "starts"))}), tmp_path / "out")
    assert (errors(found), summary.exit_code) == ({"none": 12}, 0)


def test_what_was_never_asked_is_asked_by_the_same_command(configure: Configure, tmp_path: Path) -> None:
    config = configure({"k": toy("Killed", times=2, starts=str(tmp_path / "starts"))})
    summary, found = go(config, tmp_path / "out")
    never = errors(found)["crashed"]
    assert 0 < never < 12
    assert summary.exit_code == 2
    assert f"{never} never asked" in summary.problems[0]
    again, found = go(config, tmp_path / "out")
    assert (errors(found), again.exit_code, again.resumed) == ({"none": 12}, 0, 12 - never)
    assert found.trials[0].ingest_s is not None


def test_a_tenant_leak_fails_the_gate_unless_it_was_asked_for(configure: Configure, tmp_path: Path) -> None:
    summary, _ = go(configure({"l": toy("Leaking")}), tmp_path / "out")
    assert summary.exit_code == 1
    assert "gate failed: l on toy" in summary.problems[0]
    told, _ = go(configure({"l": toy("Leaking", tenant_filter=False)}), tmp_path / "told")
    assert told.exit_code == 0
    nested = {"hybrid": {"vectors": {"tenant_filter": False}}}
    assert _unfiltered(nested) and not _unfiltered({"vectors": {"tenant_filter": True}, "k": False})


@pytest.mark.parametrize("where", ["close", "close_exit"])
def test_a_failure_to_close_is_a_warning(configure: Configure, tmp_path: Path, where: str) -> None:
    summary, found = go(configure({"f": toy("Failing", where=where)}), tmp_path / "out")
    assert (errors(found), summary.exit_code) == ({"none": 12}, 0)
    assert any("close" in w for w in found.trials[0].warnings)


def test_a_system_that_always_hangs_is_given_up(configure: Configure, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    config = configure(
        {"m": toy("Misbehaving", how="sleeping", word="word", asked=str(asked))}, time_limit_s=0.2, warmup=0
    )
    _, found = go(config, tmp_path / "out")
    assert len(asked.read_text().splitlines()) == 5
    assert errors(found) == {"timeout": 5, "crashed": 7}
    assert found.records[-1].result.error_detail.startswith("not asked: given up after the worker had to be ended")


def test_a_hanging_warm_up_costs_no_result(configure: Configure, tmp_path: Path) -> None:
    config = configure({"m": toy("Misbehaving", how="sleeping", word="plan")}, time_limit_s=0.3, warmup=2)
    assert errors(go(config, tmp_path / "out")[1]) == {"none": 12}


def test_processes_of_a_system_end_with_its_worker(configure: Configure, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    go(configure({"w": toy("WithHelper", pids=str(pids))}, limit=1, time_limit_s=0.5, warmup=0), tmp_path / "out")
    (pid,) = map(int, pids.read_text().split())
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_the_oracle_alone_is_handed_evidence(configure: Configure, tmp_path: Path) -> None:
    _, found = go(configure({"oracle": {"use": "oracle"}, "echo": toy("Echo")}), tmp_path / "out")
    for record in found.records:
        if record.trial == "oracle":
            assert [i for item in record.result.retrieved for i in item.ids] == record.labels.evidence


def test_limit_takes_turns_between_corpora_and_can_be_raised(configure: Configure, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    systems = {"echo": toy("Echo", asked=str(asked))}
    summary, found = go(configure(systems, limit=3), tmp_path / "out")
    assert Counter(r.result.corpus_id for r in found.records) == {"corpus0": 2, "corpus1": 1}
    summary, found = go(configure(systems), tmp_path / "out")
    assert (summary.finished, summary.resumed) == (12, 3)
    assert found.trials[0].messages_ingested == 48  # measured anew: the first part stopped early in the log
    ids = [line.split()[0] for line in asked.read_text().splitlines()]
    assert len(ids) == len(set(ids)) == 12


def test_a_smaller_limit_reports_on_fewer_and_keeps_the_rest(configure: Configure, tmp_path: Path) -> None:
    systems = {"echo": toy("Echo")}
    go(configure(systems), tmp_path / "out")
    summary, found = go(configure(systems, limit=3), tmp_path / "out")
    assert (summary.planned, len(found.records), found.manifest["journal"]["of_other_versions"]) == (3, 3, 9)
    assert go(configure(systems), tmp_path / "out")[0].resumed == 12


def test_repeats_have_their_own_seeds(configure: Configure, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    _, found = go(configure({"echo": toy("Echo", asked=str(asked))}, seeds=[3, 9]), tmp_path / "out")
    assert Counter(line.split()[2] for line in asked.read_text().splitlines()) == {"3": 12, "9": 12}
    assert Counter(r.result.repeat for r in found.records) == {0: 12, 1: 12}
    assert found.trials[0].repeats == 2
    assert found.trials[0].messages_ingested == 96


def test_report_files_come_back_as_they_were(configure: Configure, tmp_path: Path) -> None:
    _, found = go(configure({"echo": toy("Echo")}), tmp_path / "out")
    record = found.records[0]
    assert record.result.retrieved[0].ids == ["c00-m1"]
    assert record.result.retrieved[0].text is None
    assert found.message(record, "c00-m1") == found.messages["c00-m1"]
    assert found.messages["c00-m1"]["content"] == "the code of day 1 is 1"
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").glob("*.[pj]*") if p.name != "manifest.json"}
    finish(tmp_path / "out")
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "out").glob("*.[pj]*") if p.name != "manifest.json"}


def test_metrics_json_is_strict(configure: Configure, tmp_path: Path) -> None:
    go(configure({"f": toy("Failing", where="create")}), tmp_path / "out")
    orjson.loads((tmp_path / "out" / "metrics.json").read_bytes())
    orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())


def test_a_second_process_is_refused(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out"), pytest.raises(UserError, match=r"another process is running in .*out; wait for it"):
        run(make_plan(configure({"echo": toy("Echo")})), tmp_path / "out")


def test_another_configuration_is_refused_with_the_first_difference(configure: Configure, tmp_path: Path) -> None:
    run(make_plan(configure({"echo": toy("Echo", sleep=0.0)})), tmp_path / "out")
    with pytest.raises(UserError, match=r"systems\.echo\.sleep was 0\.0 there and is 0\.1 now"):
        run(make_plan(configure({"echo": toy("Echo", sleep=0.1)})), tmp_path / "out")


def test_a_folder_with_other_files_is_refused(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("precious")
    with pytest.raises(UserError, match=r"holds files that are no run \(thesis\.tex\)"):
        run(make_plan(configure({"echo": toy("Echo")})), tmp_path / "out")


class _Interrupting:
    """Presses Ctrl-C after some questions."""

    def __init__(self, after: int) -> None:
        self.left = after
        self.stopped_last = False

    def started(self, plan: Any, done: int) -> None: ...
    def working(self, trial: Any, what: str) -> None: ...
    def finished(self, summary: RunSummary) -> None: ...

    def advanced(self, trial: Any, outcome: str, score: Score) -> None:
        assert outcome in OUTCOMES
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    def stopped(self) -> None:
        self.stopped_last = True


def test_ctrl_c_keeps_what_is_finished_and_an_incomplete_run_can_be_read(configure: Configure, tmp_path: Path) -> None:
    config = configure({"echo": toy("Echo")})
    progress = _Interrupting(5)
    with pytest.raises(KeyboardInterrupt):
        run(make_plan(config), tmp_path / "out", progress)
    assert progress.stopped_last
    assert not [p for p in os.listdir("/proc") if p.isdigit() and _is_worker_of_mine(int(p))]
    found = read_run(tmp_path / "out")
    assert len(found.records) == 5
    assert (found.manifest["status"], found.complete) == ("incomplete", False)
    assert found.manifest["counts"]["planned"] == 12
    summary, found = go(config, tmp_path / "out")
    assert (summary.resumed, summary.finished) == (5, 12)
    assert len(lines(tmp_path / "out")) == 12
    assert len(found.manifest["timing"]["segments"]) == 2


def _is_worker_of_mine(pid: int) -> bool:
    try:
        return (
            b"memtrial.experiments.worker" in Path(f"/proc/{pid}/cmdline").read_bytes() and _parent(pid) == os.getpid()
        )
    except OSError:
        return False


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
