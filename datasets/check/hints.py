"""Hints that a gold label may be in doubt. None of them proves anything; each names what a person should look at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from memtrial.datasets.check.report import Finding
from memtrial.datasets.schema import Corpus, Message, Question

_SHOWN_IDS = 5
# Values computed from the log (sums, day counts, resolved dates) and yes or no are seldom written in it.
_LITERAL_TYPES = frozenset({"span", "money", "choice"})
_SHORTEST_LITERAL = 4
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LAST_DAY = re.compile(rf"\blast ({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_LAST_DAY_ZH = re.compile(r"上(?:个)?(?:周|星期|礼拜)([一二三四五六日天])")
_ZH_DAYS = {day: i for i, day in enumerate("一二三四五六日")} | {"天": 6}
_YESTERDAY = re.compile(r"\byesterday\b|昨天", re.IGNORECASE)
# Every log is full of other spans of time.
_TIME_UNIT = re.compile(r"(?:second|minute|min|hour|hr|day|night|week|month|year)s?|am|pm", re.IGNORECASE)
_MEASURE = re.compile(r"([\d.,]+)\s?([A-Za-z]{2,})\.?")


def contested_hints(corpus: Corpus) -> Iterator[Finding]:
    """Yield hints over one corpus: answers absent from their evidence, two anchors of one time, a later other value."""
    messages = corpus.messages()
    folded = [m.content.casefold() for m in messages]
    by_id = {m.id: m for m in messages}
    by_session: dict[str, list[Message]] = {}
    for message in messages:
        by_session.setdefault(message.session_id, []).append(message)
    for question in corpus.questions:
        gold = [by_id[i] for i in question.evidence if i in by_id]
        gold += [m for session in question.evidence_sessions for m in by_session.get(session, ())]
        if gold and question.answerable:
            yield from _absent(question, gold, messages, folded)
            yield from _two_anchors(question, gold)
            yield from _later_value(question, gold, messages)


def _absent(
    q: Question, gold: Sequence[Message], messages: Sequence[Message], folded: Sequence[str]
) -> Iterator[Finding]:
    forms = [re.escape(a.casefold()) for a in q.answers if len(a.encode()) >= _SHORTEST_LITERAL]
    # ASCII boundaries: whole words in English, while Chinese has no spaces to cut at.
    stated = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(forms)})(?![a-z0-9])")
    shown = "\n".join(m.content.casefold() for m in gold)
    if q.answer_type not in _LITERAL_TYPES or not forms or stated.search(shown):
        return
    lures = {i for lure in q.lures for i in lure.message_ids}
    elsewhere = [
        m.id
        for m, text in zip(messages, folded, strict=True)
        if any(form in text for form in forms)
        and m.tenant_id == q.tenant_id
        and m.timestamp <= q.asked_at
        and m.id not in lures
    ]
    if elsewhere:
        detail = f"the answer is not in the words of its evidence, but stands in {_some(elsewhere)}"
        yield Finding("info", "contested", q.id, detail)


def _two_anchors(q: Question, gold: Sequence[Message]) -> Iterator[Finding]:
    asked = dict(_relative_days(q.text, q.asked_at.date()))
    for message in gold:
        for phrase, day in _relative_days(message.content, message.timestamp.date()):
            if phrase in asked and asked[phrase] != day:
                detail = f"{phrase!r} is {day} counted from evidence {message.id} but {asked[phrase]} counted from the question"
                yield Finding("info", "contested", q.id, detail)


def _relative_days(text: str, anchor: date) -> Iterator[tuple[str, date]]:
    for found in _LAST_DAY.finditer(text):
        back = (anchor.weekday() - _WEEKDAYS.index(found[1].lower())) % 7 or 7
        yield found[0].lower(), anchor - timedelta(days=back)
    for found in _LAST_DAY_ZH.finditer(text):
        monday = anchor - timedelta(days=anchor.weekday() + 7)
        yield f"上周{found[1]}", monday + timedelta(days=_ZH_DAYS[found[1]])
    for found in _YESTERDAY.finditer(text):
        yield found[0].lower(), anchor - timedelta(days=1)


def _later_value(q: Question, gold: Sequence[Message], messages: Sequence[Message]) -> Iterator[Finding]:
    measure = _MEASURE.fullmatch(q.answers[0].strip()) if q.answers else None
    if measure is None or _TIME_UNIT.fullmatch(measure[2]):
        return
    number, unit = measure[1], measure[2].casefold()
    other = re.compile(rf"(?<![\w.,])([\d.,]*\d)\s?{re.escape(unit)}\b", re.IGNORECASE)
    known = {m.id for m in gold} | {i for lure in q.lures for i in lure.message_ids}
    last = max(m.timestamp for m in gold)
    later = [
        m.id
        for m in messages
        if last < m.timestamp <= q.asked_at
        and m.id not in known
        and m.tenant_id == q.tenant_id
        and any(found != number for found in other.findall(m.content))
    ]
    if later:
        yield Finding(
            "info", "contested", q.id, f"after its evidence another value in {unit!r} stands in {_some(later)}"
        )


def _some(idents: Sequence[str]) -> str:
    rest = f" and {len(idents) - _SHOWN_IDS} more" if len(idents) > _SHOWN_IDS else ""
    return ", ".join(idents[:_SHOWN_IDS]) + rest
