"""Whether the messages of a fact support it; what they do not is refused, with the reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import lru_cache

from memtrial.datasets.schema import Message
from memtrial.systems.models.prompts import load_prompt
from memtrial.systems.models.reader.text import terms
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.structured.extraction.folding import key_of
from memtrial.systems.structured.extraction.said import Said, spoken
from memtrial.systems.structured.node import Fact

_SHARE = 0.25
"""Least share of a fact's content terms that its messages must hold; a paraphrase keeps its nouns, an invention does not."""

_GRAM = {"en": 4, "zh": 8}
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[a-z0-9]+", re.IGNORECASE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_NAME = re.compile(r"(?<![\w'’])[A-Z][\w'’-]+|[A-Z]{2,}[\w-]*\d[\w-]*")
_FORMAT = re.compile(
    r"\b(?:as|in|one|valid) json\b|\bjson (?:object|list|array)\b|\b(?:list|messages|text|rules|instructions) (?:below|above)\b|\bnothing else\b"
    r"|输出.{0,4}JSON|JSON ?(?:对象|格式|列表)|(?:以下|下面|上面|以上)的?(?:列表|消息|规则|文本)",
    re.IGNORECASE,
)
_OPEN_SUBJECT = re.compile(
    r"^(?:the|a|an|my|his|her|their|our|its|there|every|each|all|some|no|any|this|that|these|those|one|both|two|three|most|many)\b",
    re.IGNORECASE,
)
_ZH_NO_SUBJECT = re.compile(
    r"^(?:他|她|它|他们|她们|持有|拥有|有|是|在|想|要|会|能|喜欢|去|买|住|打算|计划|说|觉得|认为|正在|已|没|不)"
)
_EN_PRONOUN = re.compile(r"^(?:he|she|it|they|him|her|them)\b", re.IGNORECASE)


def _grams(text: str, language: str) -> frozenset[str]:
    size = _GRAM[language]
    if language == "zh":
        run = "".join(_HAN.findall(text))
        return frozenset(run[i : i + size] for i in range(len(run) - size + 1))
    words = [w.lower() for w in _WORD.findall(text)]
    return frozenset(" ".join(words[i : i + size]) for i in range(len(words) - size + 1))


@lru_cache(maxsize=4)
def _prompt_grams(language: str) -> frozenset[str]:
    return _grams(load_prompt("extract", language).text, language)


def why_refused(
    fact: Fact, offered: Mapping[str, Message], names: Collection[str] = (), known: Iterable[str] = ()
) -> str:
    """Return why a fact must not be stored, "" where its messages support it.

    Args:
        fact: with the ids of the messages it claims to come from.
        offered: messages by id that it may come from.
        names: of the entities that it is about, as given by whoever took it from the log.
        known: names that the tenant's log has used before, which a pronoun may stand for.

    Returns:
        ``invented_id``, ``prompt_leak``, ``translated_name``, ``invented_name``, ``unsupported_value``, ``subject_lost``,
        ``unsupported``, or "".
    """
    if not fact.message_ids or any(id not in offered for id in fact.message_ids):
        return "invented_id"
    messages = [offered[id] for id in fact.message_ids]
    said = "\n".join(m.content for m in messages)
    people = "\n".join(
        str(part)
        for m in messages
        for part in (m.sender_name, m.sender, m.recipient, m.extra.get("recipient_name") or "")
    )
    folded = key_of(f"{said}\n{people}")
    language = spoken(fact.text)
    if _leaks(fact.text, said, language):
        return "prompt_leak"
    known_names = {key_of(name) for name in known}
    for name in names:
        if key_of(name) not in folded and key_of(name) not in known_names and not _parts_in(name, folded):
            return "translated_name" if _scripts(name) != _scripts(said + people) else "invented_name"
    if not _values_stand(fact, messages):
        return "unsupported_value"
    if _subject_lost(fact.text, language, {key_of(n) for n in names} | known_names, people):
        return "subject_lost"
    mine = terms(fact.text) - terms(people)
    if mine and len(mine & terms(said)) < _SHARE * len(mine) and spoken(said) == language:
        return "unsupported"
    return ""


def _leaks(text: str, said: str, language: str) -> bool:
    if _FORMAT.search(text) and not _FORMAT.search(said):
        return True
    grams = _grams(text, language)
    echoed = (grams & _prompt_grams(language)) - _grams(said, language)
    return bool(grams) and 2 * len(echoed) > len(grams)


def _parts_in(name: str, folded: str) -> bool:
    """Whether every word of a name stands in the text: the model may have put "the grey lamp of Mira" together."""
    words = _WORD.findall(key_of(name))
    return bool(words) and all(word in folded for word in words)


def _scripts(text: str) -> bool:
    return bool(_HAN.search(text))


def _values_stand(fact: Fact, messages: list[Message]) -> bool:
    """Whether each number, date, amount and id of a fact stands in its messages or follows from their days."""
    texts = " ".join(unicodedata.normalize("NFKC", m.content) for m in messages)
    numbers = set(_DIGITS.findall(texts))
    norms: set[str] = {m.timestamp.date().isoformat() for m in messages}
    for message in messages:
        norms |= {v.norm for v in extract_values(message.content, message.timestamp, spoken(message.content))}
    days = {norm for norm in norms if len(norm) >= 4 and norm[:4].isdigit()}
    for value in extract_values(fact.text, fact.recorded_at, spoken(fact.text)):
        if not any(c.isdigit() for c in value.norm) or value.norm in norms or value.text in texts:
            continue
        if value.kind == "date":
            if any(day.startswith(value.norm) for day in days):
                continue
        elif all(number in numbers for number in _DIGITS.findall(value.text)):
            continue
        return False
    if fact.event_time is not None:
        day = fact.event_time.date().isoformat()
        if not any(day.startswith(known) or known.startswith(day) for known in days) and not _in_stretch(day, days):
            return False
    return True


def _in_stretch(day: str, days: Collection[str]) -> bool:
    """Whether a day begins a month or year, or lies in a week, that the messages name."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return any(known.startswith(f"{year:04d}-W{week:02d}") for known in days) or day[:7] in days or day[:4] in days


def _subject_lost(text: str, language: str, names: Collection[str], people: str) -> bool:
    folded = key_of(text)
    named = [n for n in (*names, *(key_of(p) for p in people.split("\n"))) if len(n) > 1 and n in folded]
    if named:
        return False
    if language == "zh":
        return bool(_ZH_NO_SUBJECT.match(text))
    first = text.split(" ", 1)
    if _EN_PRONOUN.match(text):
        return True
    if _OPEN_SUBJECT.match(text):
        return False
    return not _NAME.search(first[1] if len(first) > 1 else "") and (text[:1].islower() or _verb(first[0]))


def _verb(word: str) -> bool:
    """Whether a sentence's first word looks like a verb whose subject is gone: Holds, Moved, Likes, Has."""
    low = word.lower()
    return low in ("is", "was", "are", "were", "am", "can", "will") or (
        len(low) > 2 and low.endswith(("s", "ed", "ing"))
    )


def value_stands(fact: Fact, said: Said) -> bool:
    """Whether a pattern's value stands in the message it was taken from; what earlier messages lend is not looked at."""
    if len(fact.message_ids) > 1 or not fact.value:
        return True
    if fact.value_kind in ("date", "money", "quantity") and any(v.norm == fact.value for v in said.values):
        return True
    if fact.value_kind == "boolean":
        return True
    return all(n in said.text for n in _DIGITS.findall(fact.value))
