"""What an agent was shown: messages under short names, each in full once, and never more than a result may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from memtrial.systems.base import Evidence, Trace
from memtrial.systems.models.prompts import fence, row_text
from memtrial.systems.models.reader.shown import item_row, shorten
from memtrial.systems.models.tokens import count_tokens

_NAME = re.compile(r"\W*m?\s*(\d{1,6})\W*", re.IGNORECASE)


class ToolError(Exception):
    """A tool cannot do what it was asked for; the sentence is for the model."""


class Board:
    """The messages shown for one question.

    Short names cost few tokens, and a name that was never given stands for nothing: no answer can cite what was not shown.
    """

    def __init__(self, message_tokens: int, result_tokens: int) -> None:
        """Start empty.

        Args:
            message_tokens: most of one message.
            result_tokens: most of the messages of one result.
        """
        self._message_tokens, self._result_tokens = message_tokens, result_tokens
        self._items: list[Evidence] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._open: set[int] = set()
        self.cut = 0

    @property
    def seen(self) -> tuple[Evidence, ...]:
        """Everything shown, in the order shown."""
        return tuple(self._items)

    def id_of(self, name: str) -> str:
        """Return the id of a message by its short name.

        Raises:
            ToolError: it was not shown.
        """
        number = self._number(name)
        if number is None or not self._items[number].message_ids:
            given = f"; shown are m1 to m{len(self._items)}" if self._items else "; none was shown yet, so search first"
            raise ToolError(f"no message {name[:40]!r} was shown{given}")
        return self._items[number].message_ids[0]

    def cited(self, names: Iterable[str]) -> tuple[list[int], int]:
        """Return the numbers of the items that are cited, each once, and how many names stand for nothing shown."""
        found: dict[int, None] = {}
        strange = 0
        for name in names:
            number = self._number(name)
            if number is None:
                strange += 1
            else:
                found[number] = None
        return list(found), strange

    def forget(self, numbers: Iterable[int]) -> None:
        """Take note that the words of some messages stand in the prompt no more: they are shown in full when found again."""
        self._open -= set(numbers)

    def show(self, items: Sequence[Evidence]) -> tuple[str, list[int]]:
        """Return the block for a result, and the numbers of the messages that it shows in full.

        A message that the model can still see is named only. What does not fit is left out, from the end.
        """
        rows: list[dict[str, Any]] = []
        whole: list[int] = []
        left = self._result_tokens
        out = 0
        for item in items:
            number = self._numbers.get(item.message_ids or (item.text,), len(self._items))
            name = f"m{number + 1}"
            if number in self._open:
                row = {"id": name, "shown": "above"}
            else:
                short = shorten(item, self._message_tokens)
                row = {"id": name} | {k: v for k, v in item_row(short).items() if k not in ("id", "ids")}
            cost = count_tokens(row_text(row)) + 1
            if cost > left:
                out += 1
                continue
            left -= cost
            rows.append(row)
            if number in self._open:
                continue
            if number == len(self._items):
                self._numbers[item.message_ids or (item.text,)] = number
                self._items.append(item)
            self.cut += short is not item
            self._open.add(number)
            whole.append(number)
        told = fence("messages", rows)
        return (f"{told}\n{out} more do not fit; narrow it down." if out else told), whole

    def _number(self, name: str) -> int | None:
        found = _NAME.fullmatch(name.strip())
        if found is not None and 1 <= int(found[1]) <= len(self._items):
            return int(found[1]) - 1
        # A model that was told an id elsewhere may give that.
        return next((n for n, item in enumerate(self._items) if name.strip() in item.message_ids), None)

    def warn(self, trace: Trace) -> None:
        """Say what was cut."""
        if self.cut:
            trace.warn(f"agent: {self.cut} messages shortened to {self._message_tokens} tokens")
