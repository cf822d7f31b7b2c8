"""What an agent can do with the log, and how what it asks for is checked before anything is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memtrial.datasets.errors import did_you_mean
from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.models.llm.messages import Tool
from memtrial.systems.raw_log.agent.params import AgentParams
from memtrial.systems.raw_log.agent.shown import Board, ToolError

ANSWER = "answer"


class LogTools(Protocol):
    """Looks into the log of one tenant, that of the query, up to the query's time.

    Messages are named by their ids. What is looked for and not there is an empty sequence; a :class:`ToolError` says why
    a tool cannot look. Nothing may come from another tenant, or from after ``query.asked_at``.
    """

    async def search(
        self,
        query: Query,
        trace: Trace,
        text: str,
        *,
        start: datetime | None,
        end: datetime | None,
        person: str,
        limit: int,
    ) -> Sequence[Evidence]:
        """Return the messages that fit a text, best first; within [start, end), said by, to or of a person, where given."""
        ...

    async def open_session(self, query: Query, trace: Trace, message_id: str) -> Sequence[Evidence]:
        """Return all messages of a message's session, in time order."""
        ...

    async def around(self, query: Query, trace: Trace, message_id: str, reach: int) -> Sequence[Evidence]:
        """Return a message with up to ``reach`` neighbours on either side, in time order."""
        ...

    async def by_time(
        self, query: Query, trace: Trace, start: datetime | None, end: datetime | None, limit: int
    ) -> Sequence[Evidence]:
        """Return messages within [start, end), in time order."""
        ...

    async def by_person(self, query: Query, trace: Trace, name: str, limit: int) -> Sequence[Evidence]:
        """Return the newest messages that a person wrote, in time order."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model wants used.

    Attributes:
        tool: its name.
        arguments: as given; None where they are no JSON object.
        id: of the call where it came as one of the interface's, "" where it came as text.
    """

    tool: str
    arguments: Mapping[str, Any] | None
    id: str = ""

    @property
    def key(self) -> str:
        """The same for calls that ask for the same."""
        given = {name: value for name, value in (self.arguments or {}).items() if value not in (None, "", [])}
        return f"{self.tool} {json.dumps(given, sort_keys=True, ensure_ascii=False, default=str)}"


def _text(value: Any) -> Any:
    return "" if value is None else str(value) if isinstance(value, (int, float)) else value


def _whole(value: Any) -> Any:
    return None if value in ("", "null", "none") else value


Text = Annotated[str, BeforeValidator(_text)]
Words = Annotated[str, Field(min_length=1), BeforeValidator(_text)]
Whole = Annotated[int | None, BeforeValidator(_whole)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class _Search(_Arguments):
    text: Words
    start: Text = ""
    end: Text = ""
    person: Text = ""
    limit: Whole = None


class _Session(_Arguments):
    message: Words


class _Around(_Arguments):
    message: Words
    reach: Whole = None


class _Time(_Arguments):
    start: Text = ""
    end: Text = ""
    limit: Whole = None


class _Person(_Arguments):
    name: Words
    limit: Whole = None


def _strings(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, (str, int)):
        value = [part for part in str(value).replace("，", ",").split(",") if part.strip()]
    return [str(part).strip() for part in value] if isinstance(value, list) else value


def _share(value: Any) -> Any:
    """Return a confidence; what is none is not worth an answer."""
    try:
        share = float(str(value).strip().rstrip("%")) / (100.0 if str(value).strip().endswith("%") else 1.0)
    except ValueError:
        return None
    return share if 0.0 <= share <= 1.0 else None


class Final(_Arguments):
    """The arguments of ``answer``."""

    answer: Text = ""
    citations: Annotated[list[str], BeforeValidator(_strings)] = Field(default_factory=list)
    abstain: bool = False
    confidence: Annotated[float | None, BeforeValidator(_share)] = None
    open_points: Annotated[list[str], BeforeValidator(lambda v: [v] if isinstance(v, str) and v else _strings(v))] = (
        Field(default_factory=list)
    )


_LIMIT = {"type": "integer", "description": "most messages to return"}
_DAY = {"type": "string", "description": "first day, YYYY-MM-DD, or YYYY-MM-DDTHH:MM"}
_LAST = {"type": "string", "description": "last day (it is included), YYYY-MM-DD, or YYYY-MM-DDTHH:MM"}
_MESSAGE = {"type": "string", "description": "id of a message that was shown, such as m3"}


def _tool(name: str, description: str, required: Sequence[str], /, **properties: Mapping[str, Any]) -> Tool:
    shape = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, description, shape)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool(
            "search",
            "Search the log by words and by meaning; best first. Days and a person narrow it down.",
            ("text",),
            text={"type": "string", "description": "words or a sentence as the message could hold them"},
            start=_DAY,
            end=_LAST,
            person={"type": "string", "description": "who takes part or is spoken of"},
            limit=_LIMIT,
        ),
        _tool("open_session", "Read the conversation that a message belongs to.", ("message",), message=_MESSAGE),
        _tool(
            "around",
            "Read what was said just before and after a message.",
            ("message",),
            message=_MESSAGE,
            reach={"type": "integer", "description": "messages on either side"},
        ),
        _tool("by_time", "Read what was said in some days, in time order.", (), start=_DAY, end=_LAST, limit=_LIMIT),
        _tool(
            "by_person",
            "Read the newest messages that a person wrote.",
            ("name",),
            name={"type": "string", "description": "name or id"},
            limit=_LIMIT,
        ),
        _tool(
            ANSWER,
            "Give the final answer. Call it once, when nothing is left to look up.",
            ("answer", "citations", "abstain", "confidence", "open_points"),
            answer={"type": "string", "description": "the answer, short; what is known where it abstains"},
            citations={"type": "array", "items": {"type": "string"}, "description": "ids of the messages it rests on"},
            abstain={"type": "boolean", "description": "true if the log does not hold the answer"},
            confidence={"type": "number", "description": "from 0 to 1"},
            open_points={"type": "array", "items": {"type": "string"}, "description": "what could not be settled"},
        ),
    )
}
_SHAPES: Mapping[str, type[_Arguments]] = {
    "search": _Search, "open_session": _Session, "around": _Around, "by_time": _Time, "by_person": _Person, ANSWER: Final,
}  # fmt: skip


def checked(call: Call) -> _Arguments:
    """Return a call's arguments.

    Raises:
        ToolError: there is no such tool, or the arguments are none of its.
    """
    shape = _SHAPES.get(call.tool)
    if shape is None:
        raise ToolError(
            f"there is no tool {call.tool[:40]!r}{did_you_mean(call.tool, _SHAPES)}; there are {', '.join(_SHAPES)}"
        )
    if call.arguments is None:
        raise ToolError(f"the arguments of {call.tool} must be one JSON object")
    try:
        return shape.model_validate(dict(call.arguments))
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False, include_context=False)[:3]
        ]
        raise ToolError(f"wrong arguments for {call.tool}: {'; '.join(faults)}") from None


async def look(
    call: Call, tools: LogTools, board: Board, query: Query, trace: Trace, params: AgentParams
) -> list[Evidence]:
    """Do what a call asks for, and return what was found.

    Raises:
        ToolError: it cannot be done.
    """
    asked = checked(call)
    limit = min(max(1, getattr(asked, "limit", None) or params.hits), params.most_hits)
    if isinstance(asked, _Search):
        start, end = _interval(asked.start, asked.end, query)
        found = await tools.search(query, trace, asked.text, start=start, end=end, person=asked.person, limit=limit)
    elif isinstance(asked, _Session):
        id = board.id_of(asked.message)
        found = _near(await tools.open_session(query, trace, id), id, params.most_hits)
    elif isinstance(asked, _Around):
        reach = min(max(1, asked.reach or 3), max(1, params.most_hits // 2))
        found = await tools.around(query, trace, board.id_of(asked.message), reach)
    elif isinstance(asked, _Time):
        start, end = _interval(asked.start, asked.end, query)
        if start is None and end is None:
            raise ToolError("by_time needs start, end, or both")
        found = await tools.by_time(query, trace, start, end, limit)
    elif isinstance(asked, _Person):
        found = await tools.by_person(query, trace, asked.name, limit)
    else:
        raise ToolError("the answer is no search")
    # The tools belong to somebody else: what must not be shown is held back here too.
    return [
        item
        for item in found
        if item.tenant_id == query.tenant_id and (item.timestamp is None or item.timestamp <= query.asked_at)
    ]


def _near(items: Sequence[Evidence], id: str, most: int) -> Sequence[Evidence]:
    """Return the part of a session around a message that was asked for."""
    place = next((n for n, item in enumerate(items) if id in item.message_ids), 0)
    first = max(0, min(place - most // 2, len(items) - most))
    return items[first : first + most]


def _interval(start: str, end: str, query: Query) -> tuple[datetime | None, datetime | None]:
    first, last = _moment(start, query, after=False), _moment(end, query, after=True)
    if first is not None and last is not None and first >= last:
        raise ToolError(f"start {start} lies behind end {end}")
    return first, last


def _moment(text: str, query: Query, *, after: bool) -> datetime | None:
    """Return a day's beginning, or the next one's where the day is the last; a moment as it is."""
    if not text or text.lower() in ("null", "none"):
        return None
    zone = query.asked_at.tzinfo
    try:
        if len(text) <= 10:
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(days=int(after))
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ToolError(f"{text[:40]!r} is no day; write it as YYYY-MM-DD") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
