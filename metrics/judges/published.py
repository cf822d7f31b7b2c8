"""Published answers put beside the questions they answer, with the majority of their verdicts and the matcher's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtrial.datasets.loaders.locomo import CATEGORIES
from memtrial.datasets.schema import Dataset, Message, Question
from memtrial.metrics.judges.labels import JudgeLabel, credited
from memtrial.metrics.judges.majority import majority
from memtrial.metrics.judges.rates import Sample
from memtrial.metrics.matching import judge as matcher
from memtrial.metrics.matching.text import normalise
from memtrial.metrics.records import Judgement, Result
from memtrial.systems.published import PublishedAnswer, PublishedRun, read_published

__all__ = ["Joined", "JudgedAnswer", "join", "matcher_judgement", "read_published", "verbatim"]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A question, the published answer and what the majority of its published judges says (``unscored`` on a tie)."""

    question: Question
    answer: PublishedAnswer
    label: JudgeLabel

    @property
    def credit(self) -> bool | None:
        """Whether the published verdict counts the answer as right."""
        return credited(self.label, answerable=self.question.answerable)


@dataclass(frozen=True, slots=True)
class Joined:
    """A published run on a data set.

    Attributes:
        name: of the run.
        rows: answers with their questions, in file order.
        unmatched: answers to questions that the data set does not have.
        judged_by: format and names of the judges; errors measured on one judge say nothing about another.
    """

    name: str
    rows: tuple[JudgedAnswer, ...]
    unmatched: tuple[PublishedAnswer, ...] = ()
    judged_by: str = ""

    def sample(self, credit: Mapping[str, bool | None] | None = None) -> Sample:
        """Return credits for rates: the published ones, or another judge's by question id."""
        return Sample.of(
            [
                (
                    row.credit if credit is None else credit.get(row.question.id),
                    row.question.id,
                    row.question.cluster_id,
                    row.question.category,
                )
                for row in self.rows
            ]
        )


def join(run: PublishedRun, data: Dataset) -> Joined:
    """Find the question of every published answer.

    By conversation and place where the file states it and the text agrees; else by text: among questions of one text the
    category decides, then the order of both files.
    """
    by_place: dict[tuple[str, int], Question] = {}
    by_text: dict[tuple[str, str], list[Question]] = {}
    for _, question in data.questions():
        place = question.id.rpartition(":qa")[2]
        if place.isdecimal():
            by_place[question.conversation_id, int(place)] = question
        by_text.setdefault((question.conversation_id, _key(question.text)), []).append(question)
    rows: list[JudgedAnswer] = []
    unmatched: list[PublishedAnswer] = []
    taken: set[str] = set()
    for answer in run.answers:
        found = _question_of(answer, by_place, by_text, taken)
        if found is None:
            unmatched.append(answer)
            continue
        taken.add(found.id)
        rows.append(JudgedAnswer(found, answer, majority(_label(v) for v in answer.verdicts)))
    judged_by = f"{run.meta.get('format', '')}: {', '.join(run.judges)}"
    return Joined(run.name, tuple(rows), tuple(unmatched), judged_by)


def _question_of(
    answer: PublishedAnswer,
    by_place: Mapping[tuple[str, int], Question],
    by_text: Mapping[tuple[str, str], Sequence[Question]],
    taken: set[str],
) -> Question | None:
    if answer.index is not None:
        stated = by_place.get((answer.conversation, answer.index))
        if stated is not None and stated.id not in taken and _key(stated.text) == _key(answer.question):
            return stated
    free = [q for q in by_text.get((answer.conversation, _key(answer.question)), ()) if q.id not in taken]
    number = int(answer.category) if answer.category.isdecimal() else 0
    fitting = [q for q in free if q.category in (answer.category, CATEGORIES.get(number))]
    return next(iter(fitting or free), None)


def matcher_judgement(row: JudgedAnswer, log: Mapping[str, Message]) -> Judgement:
    """Judge a published answer with the deterministic matcher, as if a system had just given it."""
    result = Result(
        key="",
        unit="",
        dataset="",
        corpus_id="",
        question_id=row.question.id,
        text=row.answer.text,
        abstained=not row.answer.text.strip(),
    )
    return matcher(row.question, result, log)


def verbatim(row: JudgedAnswer) -> bool:
    """Whether the answer is the gold answer word for word (case, punctuation and order of list elements aside).

    Such answers are right whatever a judge says: they stand in for planted right answers where none were published.
    """
    said = _words(row.answer.text)
    forms = row.question.answers
    if row.question.answer_type == "list":
        return bool(said) and sorted(said) == sorted(w for form in forms for w in _words(form))
    return bool(said) and any(said == _words(form) for form in forms)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in normalise(text).low).split()


def _key(text: str) -> str:
    return normalise(text).low.replace("\n", " ").strip()


def _label(verdict: str) -> JudgeLabel:
    return "correct" if verdict == "correct" else "wrong" if verdict == "wrong" else "unscored"
