from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Trace
from memtrial.systems.models.analyze import terms
from memtrial.systems.stores.fulltext import FullTextStore
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.stores.vectors import StoreOptions, VectorStore, open_vectors
from memtrial.systems.structured.memory import Memory, OutboxParams
from memtrial.systems.structured.node import Extraction, Fact, Node

Open = Callable[..., MemoryRecords]
START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
QUICK = OutboxParams(batch=4, tries=3, pause_s=0)


def facts(first: int, count: int) -> tuple[Extraction, list[str]]:
    found = [
        Fact(f"fact {n}", f"t{n % 2}", (f"m{n}",), START + timedelta(minutes=n)) for n in range(first, first + count)
    ]
    return Extraction(found), [f"m{n}" for n in range(first, first + count)]


class Listed:
    """An index in this process, which can be told to fail."""

    def __init__(self) -> None:
        self.held: dict[str, Node] = {}
        self.calls: list[int] = []
        self.fails = 0
        self.poison: set[str] = set()
        self.error: Exception = ConnectionError("refused, key=hunter2")

    def __len__(self) -> int:
        return len(self.held)

    def __contains__(self, id: str) -> bool:
        return id in self.held

    @property
    def ids(self) -> list[str]:
        return list(self.held)

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        self.calls.append(len(nodes))
        if self.fails:
            self.fails -= 1
            raise self.error
        for node in nodes:
            if node.fact.text in self.poison:
                raise self.error
            self.held[node.id] = node

    def discard(self, ids: Sequence[str]) -> None:
        for id in ids:
            del self.held[id]

    def commit(self) -> None:
        pass


class Vectors(Listed):
    """Real shards."""

    def __init__(self, store: VectorStore) -> None:
        super().__init__()
        self.store = store

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, id: str) -> bool:
        return id in self.store

    @property
    def ids(self) -> list[str]:
        return self.store.ids

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        self.store.add(
            [n.id for n in nodes], [n.fact.tenant_id for n in nodes], np.eye(4, dtype=np.float32)[[0] * len(nodes)]
        )

    def discard(self, ids: Sequence[str]) -> None:
        self.store.discard(ids)

    def commit(self) -> None:
        self.store.commit()


class Words(Listed):
    """A real full-text index, which cannot take a document out."""

    def __init__(self, store: FullTextStore) -> None:
        super().__init__()
        self.store = store

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, id: str) -> bool:
        return id in self.store

    @property
    def ids(self) -> list[str]:
        return self.store.ids

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        for node in nodes:
            self.store.add(node.id, node.fact.tenant_id, terms(node.fact.text))

    def discard(self, ids: Sequence[str]) -> None:
        self.store.clear()

    def commit(self) -> None:
        self.store.commit()


def write(memory: Memory, first: int, count: int, trace: Trace | None = None) -> list[Node]:
    return asyncio.run(memory.write(*facts(first, count), trace or Trace()))


def test_indexes_get_every_node_once_in_the_order_of_writing(open_records: Open) -> None:
    records, one, two = open_records(), Listed(), Listed()
    memory = Memory(records, {"one": one, "two": two}, QUICK)
    nodes = write(memory, 0, 10)
    assert one.ids == two.ids == [node.id for node in nodes]
    assert list(one.held.values()) == nodes
    assert one.calls == [4, 4, 2]
    assert (records.waiting(), memory.behind) == (0, 0)
    assert write(memory, 0, 10) == []
    assert one.calls == [4, 4, 2]


def real(folder: Path) -> tuple[Vectors, Words]:
    return Vectors(open_vectors(folder / "vectors", 4, StoreOptions())), Words(FullTextStore(folder / "words", {}))


def test_an_index_that_was_lost_or_is_ahead_is_mended_on_opening(open_records: Open, tmp_path: Path) -> None:
    records, (vectors, words) = open_records(), real(tmp_path)
    before = {node.id for node in write(Memory(records, {"vectors": vectors, "text": words}, QUICK), 0, 9)}
    assert set(vectors.ids) == set(words.ids) == before
    vectors.store.close()
    words.store.close()

    # Lost: the folder of one index is gone.
    shutil.rmtree(tmp_path / "vectors")
    vectors, words = real(tmp_path)
    trace = Trace()
    asyncio.run(Memory(records, {"vectors": vectors, "text": words}, QUICK).mend(trace))
    assert set(vectors.ids) == set(words.ids) == before
    assert trace.warnings == []

    # Ahead and behind at once: records of another day, of which the indexes know only a part.
    records.drop()
    records = open_records()
    records.write(*facts(5, 9))
    records.done([entry.seq for entry in records.pending(99)])
    asyncio.run(Memory(records, {"vectors": vectors, "text": words}, QUICK).mend(trace))
    wanted = {id for _, ids in records.ids() for id in ids}
    assert len(wanted & before) == 4
    for index in (vectors, words):
        assert sorted(index.ids) == sorted(wanted)
    assert trace.warnings == [
        "the vectors index held 5 memories that the records do not: taken out",
        "the text index held 5 memories that the records do not: taken out",
    ]
    assert len(words.store.search([(term, 1.0) for term in terms("fact")], None, 99)) == 9
    vectors.store.close()
    words.store.close()


def test_a_failure_that_passes_is_not_told(open_records: Open) -> None:
    records, index = open_records(), Listed()
    index.fails = 2
    trace = Trace()
    write(Memory(records, {"one": index}, QUICK), 0, 3, trace)
    assert (len(index), trace.warnings, index.calls) == (3, [], [3, 3, 3])


def test_a_batch_that_is_refused_as_a_whole_goes_in_one_by_one(open_records: Open) -> None:
    records, index = open_records(), Listed()
    index.fails = QUICK.tries
    trace = Trace()
    write(Memory(records, {"one": index}, QUICK), 0, 3, trace)
    assert (len(index), trace.warnings, index.calls) == (3, [], [3, 3, 3, 1, 1, 1])


def test_an_index_that_is_down_costs_a_warning_and_no_memory(open_records: Open) -> None:
    records, down, up = open_records(), Listed(), Listed()
    down.fails = 10**6
    memory = Memory(records, {"vectors": down, "text": up}, OutboxParams(batch=10, tries=3, pause_s=0))
    trace = Trace()
    nodes = write(memory, 0, 60, trace)
    assert trace.warnings == [
        "the vectors index failed with ConnectionError: 60 memories wait to be indexed and cannot be found until then"
    ]
    assert memory.behind == records.waiting() == 60
    # Three batches, each tried three times, then three of its nodes and the last: not every node there is.
    assert len(down.calls) == 3 * (3 + 3 + 1)
    down.fails = 0
    nodes += write(memory, 60, 1)
    assert set(down.ids) == set(up.ids) == {node.id for node in nodes}
    assert (records.waiting(), memory.behind) == (0, 0)


def test_one_node_that_is_refused_keeps_no_other_out(open_records: Open) -> None:
    records, index, other = open_records(), Listed(), Listed()
    index.poison = {"fact 1", "fact 7"}
    memory = Memory(records, {"one": index, "two": other}, QUICK)
    trace = Trace()
    write(memory, 0, 10, trace)
    assert [node.fact.text for node in index.held.values()] == [f"fact {n}" for n in (0, 2, 3, 4, 5, 6, 8, 9)]
    assert len(other) == 10
    assert memory.behind == records.waiting() == 2
    assert len(trace.warnings) == 1 and "hunter2" not in trace.warnings[0]
    index.poison = set()
    assert asyncio.run(memory.drain(Trace())) == 0
    assert len(index) == 10


def test_many_refused_nodes_at_the_head_keep_no_other_out(open_records: Open) -> None:
    records, index = open_records(), Listed()
    index.poison = {f"fact {n}" for n in range(7)}
    memory = Memory(records, {"one": index}, QUICK)
    write(memory, 0, 7)
    write(memory, 7, 3)
    assert [node.fact.text for node in index.held.values()] == ["fact 7", "fact 8", "fact 9"]
    assert memory.behind == 7


def test_what_the_user_has_to_mend_is_raised_and_nothing_is_lost(open_records: Open) -> None:
    records, index = open_records(), Listed()
    index.fails, index.error = 1, UserError("the budget of 2 USD is spent")
    memory = Memory(records, {"one": index}, QUICK)
    with pytest.raises(UserError, match="budget"):
        write(memory, 0, 5)
    assert (records.count(), records.waiting()) == (5, 5)
    asyncio.run(memory.drain(Trace()))
    assert (len(index), records.waiting()) == (5, 0)


def test_what_another_process_left_in_the_outbox_is_indexed_before_anything_new(open_records: Open) -> None:
    records, index = open_records(), Listed()
    early = records.write(*facts(0, 3))
    late = write(Memory(records, {"one": index}, QUICK), 3, 2)
    assert index.ids == [node.id for node in [*early, *late]]


def test_stores_of_one_folder_cannot_be_opened_twice(tmp_path: Path) -> None:
    vectors, words = real(tmp_path)
    with pytest.raises(UserError, match=r"vector store .*vectors is already open"):
        open_vectors(tmp_path / "vectors", 4, StoreOptions())
    with pytest.raises(UserError, match=r"full-text index .*words is already open"):
        FullTextStore(tmp_path / "words", {})
    vectors.store.close()
    words.store.close()
    with pytest.raises(UserError, match=r"vector store .*vectors was made for vectors of 4 dimensions.*have 5"):
        open_vectors(tmp_path / "vectors", 5, StoreOptions())
