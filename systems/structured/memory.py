"""Records and indexes kept together: SQL first, then vectors and full text through the outbox.

A node is in the outbox from the transaction that writes it until every index holds it durably. A process may be killed
at any point between: what the outbox names is indexed again, which changes nothing where it was indexed already. When a
store is opened, the indexes are compared with the records once more, so that an index that was deleted, made with other
settings, or brought back from another day ends up with the same nodes.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import Field

from memtrial.datasets.errors import UnavailableError, UserError
from memtrial.systems.base import Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.stores.records import MemoryRecords, OutboxEntry
from memtrial.systems.structured.node import Extraction, Node

_HOPELESS = 3
"""So many nodes refused one by one and the last of the batch too, or so many whole batches: the index fails, not a node."""


class IndexWriter(Protocol):
    """What an index offers to be kept in step. Ids are those of nodes."""

    def __len__(self) -> int:
        """Return how many nodes the index holds."""
        ...

    def __contains__(self, id: str) -> bool:
        """Whether the index holds a node."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """Ids of all nodes held."""
        ...

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        """Take in nodes that it does not hold; durable after ``commit``."""
        ...

    def discard(self, ids: Sequence[str]) -> None:
        """Let go of nodes. An index that cannot may let go of everything: what it lacks is added again."""
        ...

    def commit(self) -> None:
        """Make what was added durable and searchable."""
        ...


class OutboxParams(Part):
    """How the indexes are filled.

    ``batch``: nodes handed to an index at once; ``tries``: how often a batch is tried, ``pause_s`` apart and twice that
    each time, before its nodes are tried one by one and what still fails waits for the next call.
    """

    batch: int = Field(default=512, ge=1, le=100_000)
    tries: int = Field(default=3, ge=1, le=20)
    pause_s: float = Field(default=0.2, ge=0, le=60)


class Memory:
    """Writes extractions into records and indexes.

    Args:
        records: the truth.
        writers: the indexes by a name that warnings use; their owner closes them.
        params: of the outbox.

    Attributes:
        behind: nodes that the indexes lacked after the last call; above 0, a search misses something and must say so.
    """

    def __init__(
        self, records: MemoryRecords, writers: Mapping[str, IndexWriter], params: OutboxParams | None = None
    ) -> None:
        """Tie them together; nothing is compared before ``mend`` or the first ``write``."""
        self._records = records
        self._writers = dict(writers)
        self._params = params or OutboxParams()
        self._mended = False
        self.behind = 0

    async def write(self, extraction: Extraction, message_ids: Sequence[str], trace: Trace) -> list[Node]:
        """Write what is new of an extraction, then bring the indexes up to date.

        Args:
            extraction: what was taken from the messages.
            message_ids: the messages; where all were written before, nothing changes.
            trace: gets the time of both steps, and a warning where an index could not take everything.

        Returns:
            The new nodes.

        Raises:
            UserError: the records cannot be written; nothing of this call is kept then.
            UnavailableError: an index's disk is full; what it lacks stays in the outbox.
        """
        if not self._mended:
            await self.mend(trace)
        with trace.span("records"):
            nodes = self._records.write(extraction, message_ids)
        await self.drain(trace)
        return nodes

    async def mend(self, trace: Trace) -> None:
        """Compare the indexes with the records, and give them what they lack and take from them what is not there."""
        for name, writer in self._writers.items():
            held = self._request_missing(writer)
            if len(writer) > held:
                surplus = self._surplus(writer)
                writer.discard(surplus)
                writer.commit()
                trace.warn(f"the {name} index held {len(surplus)} memories that the records do not: taken out")
                self._request_missing(writer)
        self._mended = True
        await self.drain(trace)

    def _request_missing(self, writer: IndexWriter) -> int:
        """Put into the outbox what an index lacks; return how many nodes of the records it holds."""
        held = 0
        for tenant, ids in self._records.ids():
            missing = [id for id in ids if id not in writer]
            held += len(ids) - len(missing)
            if missing:
                self._records.requeue(tenant, missing)
        return held

    def _surplus(self, writer: IndexWriter) -> list[str]:
        ids = list(writer.ids)
        there = self._records.present(ids)
        return [id for id in ids if id not in there]

    async def drain(self, trace: Trace) -> int:
        """Hand over to the indexes what the outbox holds; return how many nodes had to stay in it.

        Raises:
            UserError: an index cannot be used at all and says what to do.
        """
        after, self.behind, told, in_vain = -1, 0, "", 0
        with trace.span("index"):
            while entries := self._records.pending(self._params.batch, after):
                after = entries[-1].seq
                nodes = self._nodes(entries)
                refused: set[str] = set()
                for name, writer in self._writers.items():
                    error = await self._fill(writer, nodes, refused, trace)
                    if error is not None and _is_full(error):
                        self.behind = self._records.waiting()
                        raise UnavailableError(
                            f"the disk is full while the {name} index takes in memories: {self.behind} of them wait to be "
                            "indexed and none is lost; free some space and run the same command again"
                        ) from None
                    if error is not None:
                        told = f"the {name} index failed with {type(error).__name__}"
                self._records.done([entry.seq for entry in entries if entry.node_id not in refused])
                self.behind += len(refused)
                in_vain = in_vain + 1 if refused and len(refused) == len(nodes) else 0
                if in_vain == _HOPELESS:
                    break
        if told:
            self.behind = self._records.waiting()
            trace.warn(f"{told}: {self.behind} memories wait to be indexed and cannot be found until then")
        return self.behind

    def _nodes(self, entries: Sequence[OutboxEntry]) -> list[Node]:
        by_tenant: dict[str, list[str]] = {}
        for entry in entries:
            by_tenant.setdefault(entry.tenant_id, []).append(entry.node_id)
        found: dict[str, Node] = {}
        for tenant, ids in by_tenant.items():
            found |= self._records.nodes(tenant, ids)
        return [found[entry.node_id] for entry in entries if entry.node_id in found]

    async def _fill(
        self, writer: IndexWriter, nodes: Sequence[Node], refused: set[str], trace: Trace
    ) -> Exception | None:
        """Add nodes to an index; add to ``refused`` those that it did not take, and return its last error."""
        for attempt in range(self._params.tries):
            if attempt:
                await asyncio.sleep(self._params.pause_s * 2 ** (attempt - 1))
            error = await self._try(writer, nodes, trace)
            if error is None:
                return None
            if _is_full(error):
                return error  # each try would write more
        # One node may be the reason, and must not keep the others out.
        error, taken = None, False
        for place, node in enumerate(nodes):
            if place == _HOPELESS and not taken and await self._try(writer, nodes[-1:], trace) is not None:
                refused.update(later.id for later in nodes[place:])
                break
            failure = await self._try(writer, [node], trace)
            taken = taken or failure is None
            if failure is not None:
                error = failure
                refused.add(node.id)
        return error

    @staticmethod
    async def _try(writer: IndexWriter, nodes: Sequence[Node], trace: Trace) -> Exception | None:
        try:
            if new := [node for node in nodes if node.id not in writer]:
                await writer.add(new, trace)
            writer.commit()
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an engine or an endpoint raises: the nodes stay in the outbox
            return error
        return None

    def close(self) -> None:
        """Let go of the records; safe to call twice."""
        self._records.close()


def _is_full(error: BaseException) -> bool:
    """Whether an engine ran out of disk; most of them tell it in words alone."""
    said = str(error).lower()
    return (isinstance(error, OSError) and error.errno == errno.ENOSPC) or any(
        words in said for words in ("no space left on device", "disk is full")
    )
