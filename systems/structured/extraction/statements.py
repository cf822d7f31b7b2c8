"""Plain statements: what a message says, standing by itself, where no attribute is known for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from memtrial.systems.models.reader.cues import is_doubtful
from memtrial.systems.models.reader.text import sentences
from memtrial.systems.structured.extraction.focus import Focus
from memtrial.systems.structured.extraction.learn import Learner
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.node import Fact, FactType

_ABSOLUTE = re.compile(r"(?:19|20)\d\d")
_ELLIPTIC_EN = re.compile(
    r"\b(?:it|that|this|those|these|they|them|one|he|she|him|her|there|that'll|it's|that's)\b|^\W*\w+(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_ELLIPTIC_ZH = re.compile(r"它|这个|那个|这|那|该|他|她|^.{0,12}$")
_TYPES: tuple[tuple[FactType, re.Pattern[str]], ...] = (
    (
        "preference",
        re.compile(
            r"\b(?:prefer|favou?rite|like|love|enjoy|hate|dislike|can't stand|fan of|rather have|into)s?\b|喜欢|爱吃|爱喝|偏爱|讨厌|最爱|受不了|不爱",
            re.IGNORECASE,
        ),
    ),
    (
        "plan",
        re.compile(
            r"\b(?:going to|gonna|plan(?:s|ning)? to|will|i'll|we'll|intend|hope to|looking forward|next (?:week|month|year|weekend)|tomorrow|booked|signed up)\b"
            r"|打算|计划|准备|将要|明天|后天|下周|下个?月|明年|约好|预订|要去",
            re.IGNORECASE,
        ),
    ),
    (
        "profile",
        re.compile(
            r"\b(?:i am|i'm|my (?:name|job|birthday|age|hometown|wife|husband|partner|son|daughter|mother|father|mom|dad|sister|brother)|i work|i live|i was born|years old|grew up)\b"
            r"|我是|我叫|我在.{1,12}(?:工作|上班|上学)|我住|出生|今年.{0,3}岁|老家|我(?:老婆|老公|儿子|女儿|妈|爸|姐|妹|哥|弟)",
            re.IGNORECASE,
        ),
    ),
    (
        "event",
        re.compile(
            r"\b(?:went|was|were|had|got|made|took|bought|met|saw|did|finished|started|visited|joined|won|lost|yesterday|last (?:night|week|month|year|weekend)|ago|\w{3,}ed)\b"
            r"|昨天|前天|上周|上个?月|去年|刚才|了|过",
            re.IGNORECASE,
        ),
    ),
)


def fact_type(text: str, source_type: FactType = "other") -> FactType:
    """Return what sort of statement a text is."""
    return next((kind for kind, pattern in _TYPES if pattern.search(text)), source_type)


def day_of(iso: str) -> datetime | None:
    """Return the first moment of an ISO day, month or year, None for anything else."""
    try:
        day = date.fromisoformat(iso if len(iso) == 10 else f"{iso}-01" if len(iso) == 7 else f"{iso}-01-01")
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def dates_told(said: Said, part: str) -> str:
    """Return the days that the relative dates of a part stand for, in brackets, or ""."""
    told = {
        v.text: v.norm
        for v in said.values
        if v.kind == "date" and v.norm[:4].isdigit() and not _ABSOLUTE.search(v.text) and v.text in part
    }
    return f" [{'; '.join(f'{text} = {norm}' for text, norm in told.items())}]" if told else ""


def about(said: Said, focus: Focus, learner: Learner) -> tuple[str, ...]:
    """Return keys of what an elliptic message is about, from the turns before; empty where it names things itself.

    Only customers and a desk keep to one thing throughout a session: people who talk come and go between topics.
    """
    if said.voice not in ("customer", "staff") or said.first("product", "order", "ticket"):
        return ()
    if not (_ELLIPTIC_ZH if said.language == "zh" else _ELLIPTIC_EN).search(said.text):
        return ()
    keys = [*focus.products[-1:], *focus.orders[-1:]]
    return tuple(key for key in keys if key in focus.fresh and key in learner.lexicon.entities)


def speaker_name(said: Said, learner: Learner) -> str:
    """Return how the speaker is called: a name, or a record's source."""
    entity = learner.lexicon.entities.get(said.speaker)
    return entity.name if entity else said.message.sender_name


def pieces(text: str, most: int) -> list[str]:
    """Cut at sentence ends into pieces of at most ``most`` characters; one sentence may be longer."""
    if len(text) <= most:
        return [text]
    parts: list[str] = []
    for sentence in sentences(text):
        if parts and len(parts[-1]) + len(sentence) < most:
            parts[-1] = f"{parts[-1]} {sentence}"
        else:
            parts.append(sentence)
    return parts


def statements(said: Said, focus: Focus, learner: Learner, *, most: int, resolve_dates: bool) -> list[Fact]:
    """Return a message as plain statements: speaker named, the topic of an elliptic reply added, relative days resolved."""
    message = said.message
    name = speaker_name(said, learner)
    hidden = about(said, focus, learner)
    named = tuple(dict.fromkeys([*([said.speaker] if said.speaker else []), *(m.key for m in said.mentions), *hidden]))
    subject = _subject(said, hidden)
    told: list[Fact] = []
    for part in pieces(said.text, most):
        topic = "、".join if said.language == "zh" else ", ".join
        note = topic([learner.lexicon.entities[k].name for k in hidden])
        note = (f"（关于{note}）" if said.language == "zh" else f" (about {note})") if note else ""
        colon = "：" if said.language == "zh" else ": "
        text = f"{name}{colon}{part}{note}{dates_told(said, part) if resolve_dates else ''}"
        days = [v for v in said.values if v.kind == "date" and v.text in part]
        told.append(
            Fact(
                text=text,
                tenant_id=message.tenant_id,
                message_ids=(message.id,),
                recorded_at=message.timestamp,
                fact_type=_type(said, part),
                subject=subject,
                owner=said.customer if said.voice != "person" else "",
                state="injected" if said.injected else "uncertain" if is_doubtful(part) else "active",
                entities=named,
                source=message.source,
                speaker=message.sender,
                conversation_id=message.conversation_id,
                event_time=day_of(days[0].norm) if days else None,
            )
        )
    return told


def _type(said: Said, part: str) -> FactType:
    if said.voice == "record" and said.message.source in ("wiki", "kb", "knowledge_base"):
        return "policy" if not said.first("product") else "product"
    return fact_type(part)


def _subject(said: Said, hidden: Sequence[str]) -> str:
    return (
        said.first("order", "ticket", "product")
        or (hidden[0] if hidden else "")
        or said.speaker
        or said.first("person")
    )
