"""Messages counted as a prompt will show them, before anything is asked."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from memtrial.datasets.schema import Message, Question
from memtrial.experiments.plan import CorpusPlan
from memtrial.systems.baselines.log import evidence
from memtrial.systems.models.prompts import row_text
from memtrial.systems.models.reader.shown import item_row
from memtrial.systems.models.tokens import count_tokens


class Counted:
    """Tokens of a corpus' messages as a prompt shows them, each counted when it is first needed.

    Args:
        part: what is handed over and asked.
        captions: texts derived from pictures count as part of a message.
    """

    def __init__(self, part: CorpusPlan, captions: bool) -> None:
        """Count nothing yet."""
        self.part = part
        self._captions = captions
        self._rows: dict[str, int] = {}
        self._extremes: dict[tuple[str | None, int], tuple[list[int], list[int]]] = {}
        self._held: dict[str | None, list[Message]] = {}

    def row(self, message: Message) -> int:
        """Return the tokens of a message's row in a prompt, the line break among them."""
        if message.id not in self._rows:
            item = evidence(message, 0.0, captions=self._captions)
            self._rows[message.id] = count_tokens(row_text(item_row(item))) + 1
        return self._rows[message.id]

    def rendered(self, message: Message) -> int:
        """Return the tokens of a message as a context shows it."""
        return count_tokens(evidence(message, 0.0, captions=self._captions).render())

    def held(self, tenant: str | None) -> list[Message]:
        """Return the messages that are handed over, those of a tenant or all, in time order."""
        if tenant not in self._held:
            given = self.part.messages[: self.part.upto[-1]]
            self._held[tenant] = [m for m in given if tenant in (None, m.tenant_id)]
        return self._held[tenant]

    def tenants(self) -> list[str]:
        """Return the tenants that hold a message."""
        return sorted({m.tenant_id for m in self.held(None)})

    def before(self, tenant: str | None, question: Question) -> list[Message]:
        """Return the messages, of a tenant or all, that are handed over before a question is asked, in time order."""
        upto = self.part.upto[self.part.questions.index(question)]
        if upto == self.part.upto[-1]:
            return self.held(tenant)
        return [m for m in self.part.messages[:upto] if tenant in (None, m.tenant_id)]

    def extremes(self, tenant: str | None, count: int) -> tuple[list[int], list[int]]:
        """Return running sums over the shortest and over the longest messages, up to ``count`` of them."""
        key = (tenant, count)
        if key not in self._extremes:

            def size(message: Message) -> int:
                return len(message.content.encode("utf-8", "replace"))

            held = self.held(tenant)
            short = [self.row(m) for m in heapq.nsmallest(count, held, key=size)]
            long = [self.row(m) for m in heapq.nlargest(count, held, key=size)]
            self._extremes[key] = (sums(sorted(short)), sums(sorted(long, reverse=True)))
        return self._extremes[key]


def sums(values: Sequence[int]) -> list[int]:
    """Return running sums, 0 first."""
    found = [0]
    for value in values:
        found.append(found[-1] + value)
    return found
