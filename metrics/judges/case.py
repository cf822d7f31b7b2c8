"""What a judge is told about a question, from a question of a data set or from the labels in a record alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from memtrial.datasets.schema import Question
from memtrial.metrics.matching.text import is_cjk
from memtrial.metrics.records import Labels


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """One question with its labels.

    Attributes:
        text: the question.
        history: earlier turns as (speaker, text).
        options: choices that the question offers.
        asked_at: ISO time, or "".
        answers: accepted forms; for ``answer_type`` list the elements, all of them required.
        lures: wrong memories as (kind, values).
        answerable: as set when the data was loaded; it alone decides between the rubrics (never an id).
    """

    text: str
    answers: tuple[str, ...]
    answerable: bool = True
    answer_type: str = "free"
    category: str = ""
    language: str = ""
    asked_at: str = ""
    history: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    lures: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, source: Question | Labels | Self) -> JudgeCase:
        """Take over what a judge needs; a case passes unchanged."""
        if isinstance(source, JudgeCase):
            return source
        if isinstance(source, Question):
            asked_at = source.asked_at.isoformat()
            history = tuple((turn.speaker, turn.text) for turn in source.history)
        else:
            asked_at = source.asked_at
            history = tuple((speaker, text) for speaker, text in source.history)
        return JudgeCase(
            text=source.text,
            answers=tuple(source.answers),
            answerable=source.answerable,
            answer_type=source.answer_type,
            category=source.category,
            language=source.language or ("zh" if is_cjk(source.text) else "en"),
            asked_at=asked_at,
            history=history,
            options=tuple(source.options),
            lures=tuple((lure.kind, tuple(lure.values)) for lure in source.lures if lure.values),
        )
