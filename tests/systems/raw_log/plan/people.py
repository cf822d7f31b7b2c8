"""A small log for the planner's tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Query
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import LogIndex, LogView

ASKED = datetime(2024, 5, 22, 10, 30, tzinfo=UTC)  # a Wednesday
NAMES = {
    "u1": "Jo Park",
    "u2": "Kim Lee",
    "u3": "王小明",
    "u4": "周乔",
    "u5": "Mark Will",
    "u6": "王芳",
    "u7": "Kim Novak",
    "u8": "Ann Lee",
}
KIM = ("u2", "u7")


def message(number: int, sender: str, text: str, *, days_ago: float = 30, tenant: str = "t", to: str = "") -> Message:
    return Message(
        f"{tenant}{number}",
        "c",
        "s",
        tenant,
        sender,
        to,
        ASKED - timedelta(days=days_ago),
        text,
        extra={"sender_name": NAMES.get(sender, sender)},
    )


def view(texts: Sequence[str] = (), tenant: str = "t", people: Sequence[str] = tuple(NAMES)) -> LogView:
    log = Log()
    log.add([message(n, sender, "hi") for n, sender in enumerate(people)])
    log.add([message(100 + n, people[n % len(people)], text) for n, text in enumerate(texts)])
    return LogIndex(log).view(tenant)


def question(text: str, asker: str = "u1", history: Sequence[tuple[str, str]] = (), asked: datetime = ASKED) -> Query:
    return Query("q", "t", asker, asked, text, tuple(Turn(*turn) for turn in history))
