"""The same questions once more: what a memory made of its first answers shows in the second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memtrial.datasets.schema import Corpus, Dataset, Note, Question

AGAIN = "again"


def asked_again(dataset: Dataset) -> Dataset:
    """Ask every question a second time at the same moment, after the first time of all that are asked at that moment.

    Not a message lies between the two, so the right answer is the same. The second category is the first with ``, again``
    behind it, so that both stand side by side wherever categories do; the cluster is the same, as the two are not independent.

    Args:
        dataset: what to extend; unchanged.
    """
    corpora = tuple(_twice(corpus) for corpus in dataset.corpora)
    count = sum(len(corpus.questions) for corpus in dataset.corpora)
    note = Note(AGAIN, dataset.name, f"{count} questions are asked twice, with no message between")
    return replace(dataset, corpora=corpora, notes=(*dataset.notes, note))


def second_times(questions: Iterable[Question]) -> dict[str, Question]:
    """Return what asks a question for the second time, by the id of the first."""
    by_id = {question.id: question for question in questions}
    first = ((id.removesuffix(f"~{AGAIN}"), question) for id, question in by_id.items())
    return {id: question for id, question in first if id != question.id and id in by_id}


def _twice(corpus: Corpus) -> Corpus:
    return replace(corpus, questions=(*corpus.questions, *map(_second, corpus.questions)))


def _second(question: Question) -> Question:
    return replace(
        question, id=f"{question.id}~{AGAIN}", category=f"{question.category}, {AGAIN}" if question.category else AGAIN
    )
