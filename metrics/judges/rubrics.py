"""Rubrics: prompt files that say what counts as right, chosen by a question's labels and filled with fenced data.

A file ``prompts/NAME.LANGUAGE.md`` has three parts parted by ``---``: version and labels, the system's message, the
user's message with ``{{fields}}``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal, get_args

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.metrics.judges.case import JudgeCase
from memtrial.metrics.judges.labels import LABELS, Label
from memtrial.systems.models.llm.messages import ChatMessage, clean_text

Family = Literal["ours", "longmemeval", "locomo"]
FAMILIES: tuple[Family, ...] = get_args(Family)

_LANGUAGES = ("en", "zh")
_FIELD = re.compile(r"\{\{(\w+)\}\}")
_LONGMEMEVAL: Mapping[str, str] = {
    "temporal-reasoning": "longmemeval_temporal",
    "knowledge-update": "longmemeval_update",
    "single-session-preference": "longmemeval_preference",
}


@dataclass(frozen=True, slots=True)
class Rubric:
    """One prompt file.

    Attributes:
        name: of the file, without language.
        language: ``en`` or ``zh``.
        version: as the file says.
        labels: that this rubric may give.
        system: the system's message.
        user: the user's message with its fields open.
        hash: first 12 hex digits of the file's SHA-256.
    """

    name: str
    language: str
    version: str
    labels: tuple[Label, ...]
    system: str
    user: str
    hash: str

    @property
    def ident(self) -> str:
        """What a report prints: name, language, version and hash."""
        return f"{self.name}.{self.language}@{self.version}#{self.hash}"

    def messages(self, case: JudgeCase, answer: str) -> list[ChatMessage]:
        """Fill in a question and the answer to be judged, each fenced as data."""
        fields = {
            "question": fence("question", _question(case)),
            "gold": fence("accepted_answer", _gold(case)),
            "lures": fence("wrong_memories", "\n".join(f"{kind}: {'; '.join(values)}" for kind, values in case.lures)),
            "answer": fence("judged_answer", answer),
            "labels": ", ".join(self.labels),
        }
        # One pass: a field that holds {{answer}} itself is text.
        user = _FIELD.sub(lambda m: fields[m[1]], self.user)
        return [{"role": "system", "content": self.system}, {"role": "user", "content": user}]


def select(family: str, case: JudgeCase) -> Rubric:
    """Choose the rubric of a family for a question, by its labels and language.

    The abstention rubric is chosen by ``answerable`` alone; neither the wording of the gold answer nor an id decides.

    Raises:
        UserError: there is no such family.
    """
    if family not in FAMILIES:
        raise UserError(
            f"rubric {family!r} does not exist; there are {', '.join(FAMILIES)}{did_you_mean(family, FAMILIES)}"
        )
    if not case.answerable:
        name = "longmemeval_abstention" if family == "longmemeval" else "abstention"
    elif family == "longmemeval":
        name = _LONGMEMEVAL.get(case.category, "longmemeval_default")
    else:
        name = family
    return load_rubric(name, "zh" if case.language.startswith("zh") else "en")


def rubrics_of(family: str) -> list[Rubric]:
    """Return every prompt that a family may use, for the manifest of a run."""
    names = {
        "ours": ("ours", "abstention"),
        "locomo": ("locomo", "abstention"),
        "longmemeval": ("longmemeval_default", *_LONGMEMEVAL.values(), "longmemeval_abstention"),
    }
    if family not in names:
        raise UserError(
            f"rubric {family!r} does not exist; there are {', '.join(FAMILIES)}{did_you_mean(family, FAMILIES)}"
        )
    return [load_rubric(name, language) for name in names[family] for language in _LANGUAGES]


@lru_cache(maxsize=64)
def load_rubric(name: str, language: str) -> Rubric:
    """Read a prompt file.

    Raises:
        ValueError: the file is not of the form this module's docstring gives (a fault of the package, not of a user).
    """
    source = (files("memtrial.metrics.judges") / "prompts" / f"{name}.{language}.md").read_text(encoding="utf-8")
    head, system, user = (part.strip() for part in source.split("\n---\n"))
    settings = dict(line.split(": ", 1) for line in head.splitlines())
    labels = tuple(label for label in LABELS if label in settings["labels"].split())
    if set(settings["labels"].split()) != set(labels):
        raise ValueError(f"{name}.{language}.md: labels are {', '.join(LABELS)}, not {settings['labels']}")
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    return Rubric(name, language, settings["version"], labels, system, user, digest)


def fence(tag: str, text: str) -> str:
    """Put a text between tags that it cannot close: its own angle brackets and ampersands are escaped."""
    escaped = clean_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").strip()
    return f"<{tag}>\n{escaped or '(none)'}\n</{tag}>"


def _question(case: JudgeCase) -> str:
    lines = [f"{speaker}: {text}" for speaker, text in case.history]
    lines.append(case.text)
    lines += [f"- {option}" for option in case.options]
    if case.asked_at:
        lines.append(f"({'提问时间' if case.language.startswith('zh') else 'asked at'} {case.asked_at})")
    return "\n".join(lines)


def _gold(case: JudgeCase) -> str:
    zh = case.language.startswith("zh")
    if not case.answerable:
        head = "聊天记录里没有答案。" if zh else "The log does not answer this."
        return "\n".join([head, *case.answers])
    if len(case.answers) < 2:
        return "\n".join(case.answers)
    if case.answer_type == "list":
        head = "以下各项都需要：" if zh else "All of these are required:"
    else:
        head = "以下任一说法都可以：" if zh else "Any one of these will do:"
    return "\n".join([head, *(f"- {form}" for form in case.answers)])
