"""From a judge's reply to a verdict: whole labels at anchored places, or none.

Prose never decides. Structured output comes first; else a JSON object with the verdict's field, a label after an anchor
("verdict: …"), or a line that is a label and nothing else. Several that disagree are no verdict unless the last is marked
final. What stands word for word in the judged answer is a quotation and never counts.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memtrial.metrics.judges.labels import WORDS, JudgeLabel, Label

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CODE_FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_EMPHASIS = re.compile(r"[*_`#]")
_FINAL = re.compile(r"\bfinal(?:ly)?\b|最终|最后", re.IGNORECASE)
_NOUN = (
    r"(?:verdict|grade|label|judge?ment|rating|score|decision|conclusion|assessment|判定|结论|评判|评级|裁定|判断|标签)"
)
_ANCHOR = (
    r"(?:^|[\n.;,!。；，！])[ \t]*(?:(?:so|and|but|hence|thus|therefore|the|my|our|this|its|overall|所以|因此|我的|本题)[ \t,]*){0,3}"
    rf"(?P<final>final(?:ly)?[ \t]*|最终|最后)?(?:answer[ \t]+|的)?{_NOUN}[ \t]*"
    r"(?:[:=：]|\bis\b:?|为：?|是：?)[ \t]*[\"'“「(\[]?"
)
_AFTER = r"(?=[\"'”」)\]}]*[ \t]*(?:$|[\n.;,!()\]}。；，！（）】]|—|–|-[ \t]|\bbecause\b|\bsince\b))"
_BARE = " \t\r\n.!。！\"'“”「」()[]:：-"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A verdict, or ``unscored`` with the reason in ``how``; ``fields``: the rest of the JSON object it stood in."""

    label: JudgeLabel
    how: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    label: Label
    final: bool
    how: str
    fields: Mapping[str, Any]


class _Repeated(Exception):
    """A key stands twice in one object: which value counts is nobody's guess."""


def parse_verdict(
    reply: str, *, answer: str = "", words: Mapping[str, Label] = WORDS, field: str = "verdict"
) -> Parsed:
    """Read the verdict out of a judge's reply.

    Args:
        reply: what the judge wrote.
        answer: the judged answer; a verdict that is a quotation of it is none.
        words: whole labels and what they mean.
        field: name of the verdict in a JSON object.

    Returns:
        The label, or ``unscored`` with the reason. Never raises.
    """
    text = _THINKING.sub(" ", reply).strip()
    if not text:
        return _unscored("the reply is empty")
    if _OPEN_THINKING.search(text):
        return _unscored("the reply ends inside its own thoughts")
    fenced = _CODE_FENCE.fullmatch(text)
    if _folded(text) in _folded(answer) and _whole(text, words) is None:
        return _unscored("the reply repeats the judged answer")
    found = _find(fenced[1].strip() if fenced else text, answer, words, field)
    if not found:
        return _unscored("no verdict at an anchored place")
    if len({f.label for f in found}) > 1 and not found[-1].final:
        return _unscored("verdicts that disagree")
    last = found[-1]
    return Parsed(last.label, last.how, last.fields)


def _unscored(why: str) -> Parsed:
    return Parsed("unscored", why, {})


def _find(text: str, answer: str, words: Mapping[str, Label], field: str) -> list[_Found]:
    quoted = [value for value, _, _ in _objects(answer)]
    found: list[_Found] = []
    prose = list(text)
    previous = 0
    for value, start, end in _objects(text):
        prose[start:end] = " " * (end - start)
        marked = bool(_FINAL.search(text[max(previous, start - 60) : start]))
        previous = end
        if isinstance(value, dict) and field in value and value not in quoted:
            label = _whole(_as_word(value[field]), words)
            if label is not None:
                rest = {k: v for k, v in value.items() if k != field}
                found.append(_Found(start, label, marked, "structured" if end - start == len(text) else "json", rest))
    found += _in_prose("".join(prose), _folded(answer), words)
    return sorted(found, key=lambda f: f.start)


def _in_prose(text: str, answer: str, words: Mapping[str, Label]) -> Iterator[_Found]:
    # Emphasis is blanked rather than cut, so that places stay comparable.
    plain = _EMPHASIS.sub(" ", text)
    for match in _anchored(tuple(words)).finditer(plain):
        label = _whole(match["label"], words)
        if label is not None and _folded(match[0].lstrip(" \t\n.;,!。；，！")) not in answer:
            yield _Found(match.start(), label, match["final"] is not None, "anchored", {})
    lines = [(m.start(), m[0]) for m in re.finditer(r"[^\n]+", plain) if m[0].strip(_BARE)]
    for start, line in dict.fromkeys((*lines[:1], *lines[-1:])):
        label = _whole(line, words)
        alone = len(lines) == 1
        if label is not None and (alone or _folded(line) not in _folded_lines(answer)):
            yield _Found(start, label, False, "label", {})


@lru_cache(maxsize=16)
def _anchored(words: Sequence[str]) -> re.Pattern[str]:
    # The longest first: "not correct" and "partially correct" are labels of their own.
    alternatives = [
        re.escape(w) if _letter(w) else f"(?i:{re.escape(w)})" for w in sorted(words, key=lambda w: (-len(w), w))
    ]
    label = "|".join(alternatives)
    # "verdict: correct, wrong or abstained" repeats the question put to the judge.
    no_list = rf"(?![ \t]*[,/|、或][ \t]*(?:or[ \t]+)?[\"'“]?(?:{label})(?!\w))(?![ \t]+or[ \t])"
    return re.compile(rf"(?:(?i:{_ANCHOR}))(?P<label>{label}){no_list}(?i:{_AFTER})")


def _whole(text: str, words: Mapping[str, Label]) -> Label | None:
    bare = " ".join(_EMPHASIS.sub(" ", text).strip(_BARE).split())
    if bare in words:
        return words[bare]
    lowered = bare.lower()
    return words.get(lowered) if not _letter(bare) else None


def _letter(word: str) -> bool:
    return len(word) == 1 and "A" <= word <= "Z"


def _as_word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""


_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _once(pairs))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Repeated
    return found


def _objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the outermost JSON objects of a text with their places; one that repeats a key is skipped as a whole."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
            yield value, at, end
        except _Repeated:
            end = text.find("}", at) + 1 or len(text)
            yield None, at, end
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated") or not text[error.pos :].strip():
                return  # cut off: an object inside the torso is a part of a reply, not a verdict
            end = at + 1
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)


def _folded(text: str) -> str:
    folded = _EMPHASIS.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return "\n".join(" ".join(line.split()) for line in folded.split("\n") if line.strip())


def _folded_lines(answer: str) -> set[str]:
    return set(answer.split("\n"))
