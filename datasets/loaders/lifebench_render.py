"""What a person would see of a LifeBench record, as the text of a message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtrial.datasets.loaders.fields import Row, as_text
from memtrial.datasets.loaders.notes import NoteBook

RECORD_TYPES = ("sms", "agent_chat", "call", "note", "calendar", "push", "photo")

_WORDS = {
    "zh": {
        "user": "用户", "assistant": "助手", "time": "时间", "repeats": "重复", "place": "地点", "people": "人物",
        "tags": "标签", "text": "图中文字", "call": "通话", "photo": "照片", "to": "至", "colon": "：", "comma": "，",
    },
    "en": {
        "user": "User", "assistant": "Assistant", "time": "Time", "repeats": "Repeats", "place": "Place", "people": "People",
        "tags": "Tags", "text": "Text in the picture", "call": "Call", "photo": "Photo", "to": "to", "colon": ": ", "comma": ", ",
    },
}  # fmt: skip
_NOTHING = frozenset({"", "无", "無", "none", "null", "unknown"})
_RECEIVED = re.compile(r"^(接收|接听|来电|receiv|answer|incoming)", re.IGNORECASE)
_SENT = re.compile(r"(发送|发出|send|sent|issue)", re.IGNORECASE)
# The English files hold prompts that their translator left around (or instead of) the text, whole or in part.
_PROMPT_HEAD = re.compile(r"^\s*Please translate the following Chinese text[^\n]*\n+", re.IGNORECASE)
_PROMPT_TAIL = re.compile(r"\n+Translation requirements:\s*\n1\. .*$", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Rendered:
    """A record as a message: who, to whom, what is seen."""

    sender: str
    recipient: str
    text: str
    extra: dict[str, Any] = field(default_factory=dict)


def without_prompt(data: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the record without translators' prompts, and how many fields held one."""
    found = 0

    def clean(value: Any) -> Any:
        nonlocal found
        if isinstance(value, str):
            text = _PROMPT_TAIL.sub("", _PROMPT_HEAD.sub("", value))
            found += text != value
            return text
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return value

    return {key: clean(value) for key, value in data.items()}, found


def render(kind: str, row: Row, person: str, language: str, notes: NoteBook) -> Rendered:
    """Render one record.

    Args:
        kind: one of ``RECORD_TYPES``.
        row: the record.
        person: id of the phone's owner.
        language: ``zh`` or ``en``, for the few words around the fields.
        notes: malformed agent chats and unclear calls are counted here.
    """
    words = _WORDS[language]
    if kind == "sms":
        return _sms(row, person)
    if kind == "call":
        return _call(row, person, words, notes)
    if kind == "agent_chat":
        return _agent_chat(row, person, words, notes)
    if kind == "push":
        return Rendered(_seen(row, "source") or "push", person, _lines(_seen(row, "title"), _seen(row, "content")))
    if kind == "calendar":
        return Rendered(person, "", _calendar(row, words))
    if kind == "photo":
        return Rendered(person, "", _photo(row, words))
    return Rendered(person, "", _lines(_seen(row, "title"), _seen(row, "content")))


def _sms(row: Row, person: str) -> Rendered:
    other, extra = _contact(row)
    way = _seen(row, "message_type")
    received = bool(_RECEIVED.search(way)) and not _SENT.search(way)
    sender, recipient = (other, person) if received else (person, other)
    return Rendered(sender, recipient, row.text("message_content", ""), extra)


def _call(row: Row, person: str, words: Mapping[str, str], notes: NoteBook) -> Rendered:
    other, extra = _contact(row)
    way = _seen(row, "call_type")
    if "direction" in row.data:
        notes.count(
            "call_direction", person, "calls whose direction is a bare number of unstated meaning; shown without it"
        )
    number = f" ({extra['phone']})" if "phone" in extra and extra["phone"] != other else ""
    span = _span(_seen(row, "datetime"), _seen(row, "datetime_end"), words)
    lasted = _seen(row, "duration") or _seen(row, "call_duration")
    facts = [other + number, way, _seen(row, "call_result"), span, lasted, _seen(row, "call_content")]
    text = words["call"] + words["colon"] + words["comma"].join(fact for fact in facts if fact)
    sender, recipient = (other, person) if _RECEIVED.search(way) else (person, other)
    return Rendered(sender, recipient, text, extra)


def _agent_chat(row: Row, person: str, words: Mapping[str, str], notes: NoteBook) -> Rendered:
    lines: list[str] = []
    talk = row.data.get("conversation")
    turns = talk.items() if isinstance(talk, dict) else [("", talk)]
    for name, turn in turns:
        sides = turn if isinstance(turn, dict) and "content" not in turn else {"": turn}
        if not name.startswith("turn") or set(sides) != {"user", "assistant"}:
            notes.count(
                "chat_malformed",
                person,
                "turns of agent chats that are not a user and an assistant part; kept as they are",
            )
        for side, said in sides.items():
            text = said.get("content") if isinstance(said, dict) else said
            if isinstance(text, str) and text.strip():
                speaker = words.get(side, "")
                lines.append(f"{speaker}{words['colon']}{text}" if speaker else text)
    return Rendered(person, "assistant", "\n".join(lines))


def _calendar(row: Row, words: Mapping[str, str]) -> str:
    span = _span(_seen(row, "start_time"), _seen(row, "end_time"), words)
    return _lines(
        _seen(row, "title"),
        _seen(row, "description"),
        _labelled(words, "time", span),
        _labelled(words, "repeats", _seen(row, "recurrence")),
    )


def _photo(row: Row, words: Mapping[str, str]) -> str:
    place = row.data.get("location")
    parts = place.values() if isinstance(place, dict) else [place]
    where = words["comma"].join(dict.fromkeys(text for part in parts if (text := _clean(part))))
    return _lines(
        _labelled(words, "photo", _seen(row, "caption")),
        _labelled(words, "place", where),
        _labelled(words, "people", _seen(row, "faceRecognition", words["comma"])),
        _labelled(words, "tags", _seen(row, "imageTag", words["comma"])),
        _labelled(words, "text", _seen(row, "ocrText")),
    )


def _contact(row: Row) -> tuple[str, dict[str, Any]]:
    phone = _seen(row, "phoneNumber") or _seen(row, "contact_phone_number")
    name = _seen(row, "contactName") or phone or "unknown"
    return name, {"phone": phone} if phone else {}


def _span(start: str, end: str, words: Mapping[str, str]) -> str:
    return f"{start} {words['to']} {end}" if start and end else start or end


def _seen(row: Row, key: str, glue: str = ", ") -> str:
    value = row.data.get(key)
    if isinstance(value, list):
        return glue.join(text for item in value if (text := _clean(item)))
    return _clean(value)


def _clean(value: Any) -> str:
    text = (as_text(value) or "").strip()
    return "" if text.lower() in _NOTHING else text


def _labelled(words: Mapping[str, str], label: str, text: str) -> str:
    return f"{words[label]}{words['colon']}{text}" if text else ""


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
