"""Measure the matcher itself: ``python -m memtrial.metrics.matching.audit FOLDER``.

FOLDER holds handwritten conversations and ``second_annotator.jsonl``, a strong reader's answers to the same questions.
Five figures: its answers judged right; lure values put in as the answer judged wrong_memory; accepted forms put in judged
correct; both stated together, with and without saying which holds; and wrong answers (another question's, or a form with a
number raised) judged correct, which should be none.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Corpus, Dataset, Message, Question
from memtrial.metrics.matching.forms import compile_key
from memtrial.metrics.matching.judging import judge
from memtrial.metrics.matching.text import is_cjk
from memtrial.metrics.records import Judgement, Result


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer put before the judge, and whether its judgement is right."""

    probe: str
    question: Question
    answer: str
    judgement: Judgement
    right: bool


def put(question: Question, answer: str, log: Mapping[str, Message], *, abstained: bool = False) -> Judgement:
    """Judge a text as the answer to a question."""
    result = Result(
        key="", unit="", dataset="", corpus_id="", question_id=question.id, text=answer, abstained=abstained
    )
    return judge(question, result, log)


def annotator(data: Dataset, answers: Mapping[str, Mapping[str, object]], *, flag: bool) -> Iterator[Trial]:
    """Judge a strong reader's answers; without its abstention flag, the text alone must show that it abstains."""
    for question, log in _questions(data):
        row = answers.get(question.id)
        if row is not None:
            j = put(question, str(row["answer"]), log, abstained=flag and bool(row["abstained"]))
            yield Trial("annotator" if flag else "annotator, no flag", question, str(row["answer"]), j, _good(j))


def lures(data: Dataset) -> Iterator[Trial]:
    """Put every lure value in as the answer, bare and in a short sentence."""
    for question, log in _questions(data):
        for lure in question.lures:
            for value in lure.values:
                for probe, text in (("lure bare", value), ("lure in a sentence", _sentence(value))):
                    j = put(question, text, log)
                    yield Trial(probe, question, text, j, j.outcome == "wrong_memory")


def golds(data: Dataset) -> Iterator[Trial]:
    """Put every accepted form in as the answer (all elements at once for a list)."""
    for question, log in _questions(data):
        forms = question.answers
        if question.answer_type == "list":
            forms = (("、" if is_cjk(question.text) else ", ").join(forms),)
        for form in forms:
            for probe, text in (("gold bare", form), ("gold in a sentence", _sentence(form))):
                j = put(question, text, log)
                yield Trial(probe, question, text, j, j.outcome == "correct")


_RESOLVED = {
    "en": (
        "{g}, not {l}.",
        "Not {l} but {g}.",
        "It used to be {l}, now it is {g}.",
        "{g} (formerly {l})",
        "It was changed from {l} to {g}.",
    ),
    "zh": (
        "{g}，不是{l}。",
        "不是{l}，是{g}。",
        "原来是{l}，现在是{g}。",
        "{g}（以前是{l}）",
        "从{l}改成{g}了",
        "{l}已经作废，现在是{g}",
    ),
}
_OPEN = {"en": ("{g} or {l}", "{l}, {g}", "{g}. {l}."), "zh": ("{g}或者{l}", "{l}、{g}", "{g}。{l}。")}


def contrasts(data: Dataset) -> Iterator[Trial]:
    """State accepted form and lure together: saying which holds (either way round), and not saying it.

    Lists, booleans and questions about an earlier state are left out: what holds there is not a matter of one value.
    """
    for question, log in _questions(data):
        if (
            question.answer_type in ("list", "boolean")
            or not question.answers
            or compile_key(question, frozenset()).past
        ):
            continue
        gold, language = question.answers[0], "zh" if is_cjk(question.text) else "en"
        for value in (v for lure in question.lures for v in lure.values):
            for frame in _RESOLVED[language]:
                for probe, text, outcome in (
                    ("gold holds, not the lure", frame.format(g=gold, l=value), "correct"),
                    ("lure holds, not the gold", frame.format(g=value, l=gold), "wrong_memory"),
                ):
                    j = put(question, text, log)
                    yield Trial(probe, question, text, j, j.outcome == outcome)
            for frame in _OPEN[language]:
                text = frame.format(g=gold, l=value)
                j = put(question, text, log)
                yield Trial("both, not which", question, text, j, j.outcome == "wrong_memory" and j.mixed)


def strangers(data: Dataset) -> Iterator[Trial]:
    """Put in the gold of every other question of the same type whose gold shares no form."""
    by_type: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question, _ in _questions(data):
        if question.answers:
            by_type[question.answer_type, question.language].append(question)
    for question, log in _questions(data):
        for other in by_type[question.answer_type, question.language]:
            if other.id == question.id or question.answer_type == "boolean" or _same_gold(question, other):
                continue
            text = ", ".join(other.answers) if other.answer_type == "list" else other.answers[0]
            j = put(question, text, log)
            yield Trial("another question's gold", question, text, j, not _good(j))


def shifted(data: Dataset) -> Iterator[Trial]:
    """Put in each accepted form with one of its numbers raised by one."""
    for question, log in _questions(data):
        for form in question.answers if question.answer_type != "list" else ():
            for match in re.finditer(r"\d+", form):
                text = form[: match.start()] + str(int(match[0]) + 1).zfill(len(match[0])) + form[match.end() :]
                j = put(question, text, log)
                if text not in question.answers:
                    yield Trial("gold with a number raised", question, text, j, not _good(j))


def _questions(data: Dataset) -> Iterator[tuple[Question, Mapping[str, Message]]]:
    for corpus in data.corpora:
        log = _log(corpus)
        for question in corpus.questions:
            yield question, log


def _log(corpus: Corpus) -> dict[str, Message]:
    return {m.id: m for c in corpus.conversations for m in c.messages}


def _good(judgement: Judgement) -> bool:
    return judgement.outcome in ("correct", "correct_abstention")


def _same_gold(a: Question, b: Question) -> bool:
    left, right = ({_bare(f) for f in q.answers} for q in (a, b))
    return bool(left & right)


def _bare(form: str) -> str:
    return re.sub(r"\W", "", form).lower()


def _sentence(value: str) -> str:
    return f"是{value}。" if is_cjk(value) else f"It is {value}."


def _read_answers(path: Path) -> dict[str, dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def run(folder: Path, show: Callable[[str], None]) -> list[Trial]:
    """Run every probe on a folder and print figures by language, then what was misjudged.

    Args:
        folder: handwritten conversations, with ``second_annotator.jsonl`` beside them.
        show: prints a line.

    Returns:
        Every answer put before the judge.
    """
    data = load_dataset({"name": "handwritten", "path": str(folder)})
    answers = _read_answers(folder / "second_annotator.jsonl")
    probes: list[Iterable[Trial]] = [
        annotator(data, answers, flag=True),
        annotator(data, answers, flag=False),
        lures(data),
        golds(data),
        contrasts(data),
        strangers(data),
        shifted(data),
    ]
    trials = [t for probe in probes for t in probe]
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for t in trials:
        for language in (t.question.language, "all"):
            counts[t.probe, language][0] += t.right
            counts[t.probe, language][1] += 1
    for (probe, language), (right, total) in sorted(counts.items()):
        show(f"{probe:28} {language:4} {right:6} of {total:6} right ({right / total:.2%})")
    for t in trials:
        if not t.right:
            gold = " / ".join(t.question.answers) or "(unanswerable)"
            show(
                f"- {t.probe}: {t.question.id} [{t.question.answer_type}] gold {gold} | answer {t.answer} | {t.judgement.outcome}"
            )
    return trials


if __name__ == "__main__":
    run(Path(sys.argv[1]), print)
