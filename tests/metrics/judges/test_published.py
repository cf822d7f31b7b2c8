from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Corpus, Dataset, Question
from memtrial.metrics.judges.published import JudgedAnswer, join, read_published, verbatim
from memtrial.metrics.judges.published_figures import Figures, compute, main, show
from memtrial.systems.published import PublishedAnswer

AuditFile = Callable[..., Path]
MakeQuestion = Callable[..., Question]


@pytest.fixture
def data(question: MakeQuestion) -> Dataset:
    def make(index: int, text: str, **fields: Any) -> Question:
        return question(
            f"conv-26:qa{index}",
            conversation_id="conv-26",
            tenant_id="conv-26",
            text=text,
            cluster_id="conv-26",
            **fields,
        )

    asked = (
        make(0, "Who?", answers=("Ann Lee",), answer_type="span"),
        make(1, "Which?", answers=("a kettle", "a pan"), answer_type="list", contested="answer: AMBIGUOUS: x"),
        make(2, "Who?", answerable=False, answers=(), category="adversarial"),
    )
    return Dataset("locomo", (Corpus("conv-26", (), asked),))


def test_answers_are_joined_by_place_or_by_text(audit_file: AuditFile, data: Dataset) -> None:
    rows = [
        (0, 0, "Who?", "Ann", [True, True, False]),
        (0, 7, " which? ", "A pan", [True, False]),
        (0, 9, "Why?", "Because", [True]),
    ]
    found = join(read_published(audit_file(rows)), data)
    assert [(r.question.id, r.label) for r in found.rows] == [("conv-26:qa0", "correct"), ("conv-26:qa1", "unscored")]
    assert [r.credit for r in found.rows] == [True, None]
    assert [a.question for a in found.unmatched] == ["Why?"]


def test_of_two_questions_with_one_text_the_category_decides_and_none_is_used_twice(
    audit_file: AuditFile, data: Dataset
) -> None:
    rows = [(0, 50 + i, "Who?", str(i), [True]) for i in range(3)]
    found = join(read_published(audit_file(rows)), data)
    assert [r.question.id for r in found.rows] == ["conv-26:qa0", "conv-26:qa2"]
    assert len(found.unmatched) == 1


@pytest.mark.parametrize(
    ("index", "text", "same"),
    [(0, "ann lee.", True), (0, "Ann", False), (0, "", False), (1, "A pan; a kettle", True), (1, "a pan", False)],
)
def test_gold_word_for_word(data: Dataset, index: int, text: str, same: bool) -> None:
    question = data.corpora[0].questions[index]
    answer = PublishedAnswer("conv-26", index, question.text, text)
    assert verbatim(JudgedAnswer(question, answer, "correct")) == same


def test_figures_of_a_small_set(audit_file: AuditFile, data: Dataset, tmp_path: Path) -> None:
    run = audit_file([(0, 0, "Who?", "Ann Lee", [True]), (0, 1, "Which?", "a pot", [True])])
    planted = audit_file([(0, 0, "Who?", "Bo", [False]), (0, 1, "Which?", "something", [True])], "wrong_some.json")
    zep = tmp_path / "zep.json"
    row = {"question": "Who?", "answer": "Ann Lee", "grade": False, "category": 4}
    zep.write_text(json.dumps({"locomo_experiment_user_0": [row]}), encoding="utf-8")
    joined = [join(read_published(path), data) for path in (run, planted, zep)]
    found = compute(data, joined, resamples=100)
    # Another judge's refusal of a gold answer tells nothing about this one, nor do these errors about that judge.
    assert found.other_judges == ("zep",) and set(found.corrected) == {("run", "wrong_some")}
    assert found.missed["run"] == {"wrong_other": 1}
    assert found.accuracy["run"][0].value == 1.0
    assert found.planted["wrong_some"][0].value == 0.5
    assert found.fnr is not None and (found.fnr.hits, found.fnr.n) == (0, 1)
    whole = found.corrected["run", "wrong_some"][0]
    assert whole.youden == 0.5 and "undecidable" in whole.status  # of two answers nothing can be corrected
    assert found.agreement["run"].confusion == {("right", "right"): 1, ("right", "wrong"): 1}
    assert len(found.ceiling_warnings) == 2
    lines: list[str] = []
    show(found, joined, lines.append, disagreements=5)
    text = "\n".join(lines)
    assert "published right, matcher wrong" in text and "a pot" in text
    assert "not corrected" in text


def test_what_cannot_be_read_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--data", str(tmp_path / "none.json"), "--published", "x.json"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and "none.json" in said.err


@pytest.fixture(scope="module")
def real(shared_dir: Path) -> Figures:
    data = load_dataset({"name": "locomo", "path": str(shared_dir / "data" / "locomo" / "locomo10_dev6.json")})
    folder = shared_dir / "data" / "published"
    files = [*sorted((folder / "locomo_audit").glob("*.json")), folder / "zep" / "zep_locomo_grades.json"]
    if not all(file.is_file() for file in files) or len(files) < 7:
        pytest.skip("the published answers are not here")
    joined = [join(read_published(file), data) for file in files]
    assert not any(j.unmatched for j in joined)
    # Points and counts are compared; 500 resamples are enough to have the intervals defined.
    return compute(data, joined, resamples=500)


@pytest.mark.parametrize(
    ("run", "right"),
    [
        ("full_context_gpt-4o-mini_cot", 733),
        ("full_context_gpt-4o-mini_short", 672),
        ("full_context_gpt-4.1-mini_cot", 844),
        ("full_context_gpt-4.1-mini_short", 740),
        ("zep_locomo_grades", 668),
    ],
)
def test_published_accuracy_to_the_question(real: Figures, run: str, right: int) -> None:
    tally = real.accuracy[run][0]
    assert (tally.credit, tally.scored, tally.total) == (right, 916, 916)


@pytest.mark.parametrize(("planted", "credited"), [("wrong_specific_v1", 85), ("wrong_vague_v2", 557)])
def test_the_published_judges_false_positives_to_the_question(real: Figures, planted: str, credited: int) -> None:
    rate = real.planted[planted][0]
    assert (rate.hits, rate.n) == (credited, 916)


def test_corrections_of_the_real_runs_hold_together(real: Figures) -> None:
    assert {run for run, _ in real.corrected} == {n for n in real.accuracy if n.startswith("full_context")}
    assert real.other_judges == ("zep_locomo_grades",)
    for (run, planted), (whole, _) in real.corrected.items():
        p, fpr = real.accuracy[run][0].value, real.planted[planted][0].value
        assert p is not None and fpr is not None and real.fnr is not None and real.fnr.value is not None
        assert whole.value == pytest.approx((p - fpr) / (1 - fpr - real.fnr.value))
        assert whole.interval is not None and whole.interval.low < whole.value < whole.interval.high
