"""The words a judge may say, and what they mean for an answer's credit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Label = Literal["correct", "partial", "wrong", "abstained"]
JudgeLabel = Literal["correct", "partial", "wrong", "abstained", "unscored"]
LABELS: tuple[Label, ...] = get_args(Label)

WORDS: Mapping[str, Label] = {
    "correct": "correct",
    "right": "correct",
    "yes": "correct",
    "true": "correct",
    "partial": "partial",
    "partially correct": "partial",
    "partly correct": "partial",
    "incomplete": "partial",
    "wrong": "wrong",
    "incorrect": "wrong",
    "not correct": "wrong",
    "no": "wrong",
    "false": "wrong",
    "abstained": "abstained",
    "abstention": "abstained",
    "abstains": "abstained",
    "正确": "correct",
    "对": "correct",
    "部分正确": "partial",
    "不完整": "partial",
    "错误": "wrong",
    "不正确": "wrong",
    "错": "wrong",
    "弃答": "abstained",
    "拒答": "abstained",
    "未作答": "abstained",
}
"""Whole labels as judges write them; a single capital letter (other vocabularies) is matched with its case."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge made of one answer.

    Attributes:
        label: one of the four labels, or ``unscored``.
        judge: who says so, with rubric and version where it is a model.
        detail: the judge's reason, or why there is no verdict.
        usage: tokens of the call, as the client reports them; None where no model was asked.
        lure: kind of the wrong memory that the judge saw asserted, or "".
        status: of the model's reply (``ok``, ``truncated``, ``refused`` …); ``rule`` where no model was asked.
    """

    label: JudgeLabel
    judge: str
    detail: str = ""
    usage: Any = None
    lure: str = ""
    status: str = "ok"


def credited(label: str, *, answerable: bool = True) -> bool | None:
    """Whether an answer with this label counts as right; None for ``unscored``.

    Abstaining is right exactly where the question cannot be answered; a part of an answer counts nothing (METRICS.md).
    """
    if label == "unscored":
        return None
    return label == ("correct" if answerable else "abstained")
