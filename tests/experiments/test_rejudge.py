"""Stored answers graded again, and judges measured, against a scripted endpoint and against published verdicts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.experiments import rejudge as module
from memtrial.experiments.config import load_config
from memtrial.experiments.judge_models import JudgeOptions
from memtrial.experiments.judging import (
    check_judge,
    check_published,
    read_errors,
    render_errors,
    write_errors,
)
from memtrial.experiments.plan import make_plan
from memtrial.experiments.rejudge import file_name, read_rejudged, rejudge
from memtrial.experiments.rejudge_text import render
from memtrial.experiments.runner import run
from memtrial.experiments.store import CALLS, METRICS, RECORDS, read_run
from memtrial.metrics.judges.persisted import ErrorsFile
from memtrial.reports import write_report
from memtrial.reports.cost import cost_section
from memtrial.reports.judges import judges_section
from memtrial.reports.view import View
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

KEY = "sk-test-0123456789-do-not-write-me"


def _block(prompt: str, tag: str) -> str:
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
    return found[1] if found else ""


def _reply(seen: Seen, verdict: str) -> str:
    schema = seen.body["response_format"]["json_schema"]["schema"]
    return json.dumps({"reason": "r"} | ({"lure": ""} if "lure" in schema["properties"] else {}) | {"verdict": verdict})


def judging(seen: Seen) -> Step:
    """Credit what holds an accepted form; the model "kind" credits everything, "mute" says nothing that can be read."""
    model = seen.body["model"]
    gold = [line.removeprefix("- ") for line in _block(seen.prompt, "accepted_answer").splitlines()]
    answer = _block(seen.prompt, "judged_answer")
    right = model == "kind" or any(form and form.lower() in answer.lower() for form in gold)
    if model == "mute":
        return says("hard to say")
    if any(word in seen.prompt for word in ("does not answer this", "没有答案")):
        return says(_reply(seen, "abstained" if "know" in answer else "wrong"))
    return says(_reply(seen, "correct" if right else "wrong"))


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(judging) as found:
        yield found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rejudge")
    content = {
        "data": {"hand": {"name": "handwritten"}},
        "systems": {"bm25": {}, "recent": {}, "oracle": {}},
        "metrics": {"resamples": 100},
    }
    (folder / "c.yaml").write_text(yaml.safe_dump(content))
    run(make_plan(load_config(folder / "c.yaml", limit=16)), folder / "out")
    return folder / "out"


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def options(server: ScriptedServer | None, *models: str, **more: Any) -> JudgeOptions:
    url = server.url if server is not None else "http://127.0.0.1:9/v1"
    return JudgeOptions(models=models, base_url=url, api_key_env="JUDGE_KEY", **more)


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((folder / "rejudged").iterdir())}


def test_the_matcher_gives_the_same_verdicts_from_the_records_alone(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: (done / name).read_bytes() for name in (RECORDS, METRICS)}
    monkeypatch.setattr("memtrial.experiments.runner.make_plan", lambda *_: pytest.fail("data was loaded"))
    found = rejudge(done, JudgeOptions(), judges=["matcher"])
    by_key = {v.key: v.detail for v in found.judges[0].verdicts}
    assert by_key == {r.result.key: r.judgement.outcome for r in read_run(done).records}
    assert all(s.accuracy.value == pytest.approx(s.own) and s.kappa == 1.0 for s in found.judges[0].scores)
    assert before == {name: (done / name).read_bytes() for name in before}
    assert not (done / CALLS).exists()


def test_a_model_judges_and_a_replay_gives_the_same_bytes(server: ScriptedServer, done: Path) -> None:
    records = read_run(done).records
    first = rejudge(done, options(server, "strict"))
    asked = len(server.requests)
    abstained = sum(r.result.abstained or not r.result.text.strip() for r in records)
    assert 0 < asked <= len(records) - abstained
    written = files(done)
    assert set(written) == {"strict-ours.json", "summary.md"}
    rejudge(done, options(server, "strict"))
    assert (len(server.requests), files(done)) == (asked, written)
    shutil.rmtree(done / "rejudged")
    rejudge(done, options(server, "strict", replay="only"))
    assert (len(server.requests), files(done)) == (asked, written)
    judge = first.judges[0]
    assert judge.describe["temperature"] == 0.0
    assert any("ours.zh" in prompt for prompt in judge.describe["prompts"])
    assert sum(u.prompt for u in judge.usage) == 12 * (len(records) - abstained)
    assert all(u.usd is None for u in judge.usage)  # no price is known
    assert {s.total for s in judge.scores} == {16}
    assert not any(KEY.encode() in p.read_bytes() for p in done.rglob("*") if p.is_file())


def test_three_judges_vote_and_what_none_can_read_is_unscored(server: ScriptedServer, done: Path) -> None:
    found = rejudge(done, options(server, "strict", "kind", "mute"))
    assert [j.judge for j in found.judges] == ["strict/ours", "kind/ours", "mute/ours", "majority"]
    strict, kind, mute, majority = ({v.key: v.label for v in j.verdicts} for j in found.judges)
    for key, label in majority.items():
        votes = {strict[key], kind[key], mute[key]} - {"unscored"}
        assert label == (votes.pop() if len(votes) == 1 else "unscored")
    (score, *_) = [s for s in found.judges[2].scores if s.trial == "oracle"]
    assert score.scored < score.total and score.low is not None and score.high is not None and score.low < score.high
    assert any(line.startswith("mute/ours") for line in found.unusable)
    assert "unscored, so between" in render(found.judges)
    lost = [rank for rank in found.judges[2].ranks if "in place of" in rank.what]
    assert all(rank.survives is None and "no system has a score after it" in rank.text for rank in lost)


def test_errors_measured_on_a_judge_correct_that_judge_alone(
    server: ScriptedServer, done: Path, tmp_path: Path
) -> None:
    data = load_dataset({"name": "handwritten", "language": "en"})
    calls = tmp_path / "calls.jsonl"
    errors, ledger = check_judge(data, options(server, "kind"), calls, limit=12, resamples=200)
    asked = len(server.requests)
    assert ledger.total(phase="evaluation").calls == ledger.total().calls > 0
    assert errors.judge == "kind/ours"
    assert errors.rates["FPR specific_wrong"].hits > 0
    assert errors.rates["FNR right"].value == 0
    assert "FPR vague" in render_errors(errors)
    write_errors(tmp_path / "errors.json", errors)
    again, _ = check_judge(data, options(server, "kind", replay="only"), calls, limit=12, resamples=200)
    assert (again, len(server.requests)) == (errors, asked)
    known = read_errors(tmp_path / "errors.json")
    with pytest.raises(UserError, match="measured on the judge 'kind/ours', but strict/ours judged here"):
        rejudge(done, options(server, "strict"), errors=[known])
    with pytest.raises(UserError, match="measured on the judge 'kind/ours', but kind/locomo"):
        rejudge(done, options(server, "kind", rubric="locomo"), errors=[known])
    changed = known.model_copy(deep=True)
    changed.describe["judges"][0]["prompts"] = ["ours.en@0#old"]
    with pytest.raises(UserError, match="measured with another prompts"):
        rejudge(done, options(server, "kind"), errors=[changed])
    found = rejudge(done, options(server, "kind"), errors=[known])
    kinds = {c.kind for s in found.judges[0].scores for c in s.corrected}
    assert kinds == {"specific_wrong", "vague"}


def test_a_strict_judge_with_known_errors_gets_a_corrected_score(server: ScriptedServer, done: Path) -> None:
    rows: list[Any] = [(int(i < 2), f"p{i}", f"c{i}", "x") for i in range(10)]
    right: list[Any] = [(int(i < 1), f"r{i}", f"c{i}", "x") for i in range(10)]
    errors = ErrorsFile(judge="strict/ours", wrong={"vague": rows}, right={"right": right})
    found = rejudge(done, options(server, "strict"), errors=[errors])
    score = next(s for s in found.judges[0].scores if s.trial == "oracle")
    (corrected,) = score.corrected
    assert score.accuracy.value is not None and corrected.value is not None
    assert corrected.value == pytest.approx((score.accuracy.value - 0.2) / (1 - 0.2 - 0.1))
    assert corrected.low is not None and corrected.low < corrected.value
    assert any("correction by errors on vague" in r.what for r in found.judges[0].ranks)


def test_a_spent_budget_and_a_wrong_key_end_it_in_one_sentence(done: Path, tmp_path: Path) -> None:
    with ScriptedServer([error(401, "bad key")]) as server, pytest.raises(UserError) as caught:
        rejudge(done, options(server, "strict"))
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(UserError, match="cannot be kept without the price"):
        rejudge(done, options(None, "strict", budget_usd=1.0))
    assert not (done / "rejudged").exists()


@pytest.mark.parametrize(
    ("judges", "more", "says"),
    [
        ([], {}, "no judge is named"),
        (["mathcer"], {}, "did you mean 'matcher'"),
        (["matcher"], {"mask": "contestd"}, "did you mean 'contested'"),
        (["published"], {}, "no published verdict"),
    ],
)
def test_what_cannot_judge_is_said_in_one_sentence(done: Path, judges: list[str], more: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        rejudge(done, JudgeOptions(), judges=judges, **more)


def test_what_speaks_of_other_answers_is_not_shown(done: Path) -> None:
    rejudge(done, JudgeOptions(), judges=["matcher"])
    records = read_run(done).records
    assert [j.judge for j in read_rejudged(done, records)[0]] == ["matcher"]
    other = [records[0].model_copy(update={"result": records[0].result.model_copy(update={"text": "x"})}), *records[1:]]
    (done / "rejudged" / "torn.json").write_text('{"judge": ')
    found, notes = read_rejudged(done, other)
    assert found == []
    assert "speaks of other answers" in notes[0] and "torn.json cannot be read" in notes[1]


def test_no_two_judges_share_a_file() -> None:
    names = ["a/ours", "a-ours:x", "a_ours x", "模型/ours", "a/locomo"]
    assert len({file_name(name, mask) for name in names for mask in (None, "contested")}) == 10
    assert file_name("gpt-4.1-mini/ours", None) == "gpt-4.1-mini-ours.json"
    assert all(file_name(name, None).isascii() and "/" not in file_name(name, None) for name in names)


def test_the_report_shows_judges_and_projects_what_a_model_would_cost(server: ScriptedServer, done: Path) -> None:
    view = View(read_run(done))
    assert not judges_section(view)
    projected = cost_section(view)
    assert [g.title for g in projected.grids] == ["Projected: what these contexts would cost with a model, hand"]
    assert any("list prices as of" in note for note in projected.grids[0].notes)
    assert any("Projected, not measured" in note for note in projected.grids[0].notes)
    assert any("an assumption" in note for note in projected.grids[0].notes)
    rejudge(done, options(server, "strict"))
    view = View(read_run(done))
    section = judges_section(view)
    assert [g.title for g in section.grids] == ["Accuracy by judge, hand", "strict/ours, hand"]
    assert "cost unknown" in section.notes[0] and "No system is charged" in section.notes[0]
    record = next(g for g in cost_section(view).grids if g.title.startswith("The record of calls"))
    assert [row[0] for row in record.rows] == ["judge, evaluation", "all"]
    assert record.rows[0][-1] == "unknown"
    write_report(read_run(done), done)
    page = (done / "report.html").read_bytes()
    assert b'<section id="judges">' in page and b'<section id="cost">' in page
    assert "## Judges" in (done / "report.md").read_text()
    write_report(read_run(done), done)
    assert (done / "report.html").read_bytes() == page


def _audit(path: Path, verdicts: list[bool], answers: list[str]) -> Path:
    rows = [
        {
            "question_id": f"locomo_0_qa{i}",
            "question": f"Which town was number {i}?",
            "generated_answer": text,
            "llm_judgments": {"j1": verdict},
        }
        for i, (verdict, text) in enumerate(zip(verdicts, answers, strict=True))
    ]
    path.write_text(json.dumps({"detailed_results": {"locomo_exp_user_0": rows}}))
    return path


def test_errors_of_a_published_judge(tmp_path: Path) -> None:
    towns = ["Rome", "Oslo", "Lima", "Bern"]
    talk: dict[str, Any] = {"speaker_a": "A", "speaker_b": "B", "session_1_date_time": "1:56 pm on 8 May, 2023"}
    talk["session_1"] = [{"speaker": "A", "dia_id": "D1:1", "text": "Hi"}]
    qa = [
        {"question": f"Which town was number {i}?", "answer": town, "evidence": ["D1:1"], "category": 4}
        for i, town in enumerate(towns)
    ]
    (tmp_path / "l.json").write_text(json.dumps([{"sample_id": "conv-26", "conversation": talk, "qa": qa}]))
    data = load_dataset({"name": "locomo", "path": str(tmp_path / "l.json")})
    wrong = _audit(tmp_path / "wrong_specific.json", [True, False, False, False], ["Cairo"] * 4)
    full = _audit(tmp_path / "full.json", [True, False, True, True], ["rome", "Oslo.", "somewhere", "elsewhere"])
    errors = check_published([wrong, full], data, resamples=100)
    assert (errors.judge, errors.judges) == ("published", ["j1"])
    assert (errors.rates["FPR specific"].hits, errors.rates["FPR specific"].n) == (1, 4)
    assert (errors.rates["FNR verbatim"].hits, errors.rates["FNR verbatim"].n) == (1, 2)
    assert "lower bound" in render_errors(errors)
    with pytest.raises(UserError, match="must begin with 'wrong_'"):
        check_published([full], data)
    other = tmp_path / "zep.json"
    other.write_text(
        json.dumps({"locomo_experiment_user_0": [{"question": qa[0]["question"], "answer": "x", "grade": True}]})
    )
    with pytest.raises(UserError, match="different judges"):
        check_published([wrong, other], data)


def test_files_that_are_none_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        read_errors(tmp_path / "gone.json")
    for text in ("", "[]", '{"judge": 1}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(UserError, match=r"bad\.json holds no errors of a judge") as caught:
            read_errors(tmp_path / "bad.json")
        assert "\n" not in str(caught.value)
    assert module.FOLDER == "rejudged"


def test_published_figures_of_the_dev_part(shared_dir: Path) -> None:
    folder = shared_dir / "data"
    data = load_dataset({"name": "locomo", "path": str(folder / "locomo")})
    published = sorted((folder / "published" / "locomo_audit").glob("*.json"))
    errors = check_published(published, data, resamples=100)
    specific, vague = errors.rates["FPR specific_v1"], errors.rates["FPR vague_v2"]
    assert (specific.hits, specific.n, vague.hits, vague.n) == (85, 916, 557, 916)
    assert (errors.rates["FNR verbatim"].hits, errors.rates["FNR verbatim"].n) == (0, 262)
