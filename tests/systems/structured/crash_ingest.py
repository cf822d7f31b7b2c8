"""Ingests made-up facts in a child process that is killed, again and again, then says what is left.

Usage: ``crash_ingest.py FOLDER URL PORTIONS KILLS SEED``. Half of the kills come at a counted step (before or after a
call of records or of an index), half after a random time of work, wherever the process then is. Each child checks on
opening that records and indexes agree. Prints one JSON line with what happened.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memtrial.systems.base import Trace
from memtrial.systems.models.analyze import terms
from memtrial.systems.stores.fulltext import FullTextStore
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.stores.vectors import StoreOptions, open_vectors
from memtrial.systems.structured.memory import Memory, OutboxParams
from memtrial.systems.structured.node import Edge, Entity, Extraction, Fact, Node

SIZE = 8
EACH = 15
START = datetime(2024, 1, 1, tzinfo=UTC)


class Vectors:
    """Qdrant Edge as an index; a vector is drawn from the node's id."""

    def __init__(self, folder: Path) -> None:
        self.store = open_vectors(folder, SIZE, StoreOptions())

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, id: str) -> bool:
        return id in self.store

    @property
    def ids(self) -> list[str]:
        return self.store.ids

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        drawn = [np.random.default_rng(int(node.id[:8], 16)).normal(size=SIZE) for node in nodes]
        vectors = np.array(drawn, dtype=np.float32)
        self.store.add([node.id for node in nodes], [node.fact.tenant_id for node in nodes], vectors)

    def discard(self, ids: Sequence[str]) -> None:
        self.store.discard(ids)

    def commit(self) -> None:
        self.store.commit()


class Words:
    """Tantivy as an index."""

    def __init__(self, folder: Path) -> None:
        self.store = FullTextStore(folder, {})

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
        self.store.clear()  # a document cannot be taken out; what is missing is added again

    def commit(self) -> None:
        self.store.commit()


def portion(number: int) -> tuple[Extraction, list[str]]:
    """Facts of two tenants, some of them versions of one memory, some told late."""
    found = Extraction()
    for n in range(number * EACH, (number + 1) * EACH):
        tenant, person = f"t{n % 2}", f"person:{n % 7}"
        late = 40 if n % 11 == 0 else 0
        found.facts.append(
            Fact(
                f"statement number{n}",
                tenant,
                (f"m{n}",),
                START + timedelta(minutes=n - late),
                subject=person,
                attribute="mood" if n % 3 else "",
                value=str(n),
                entities=(person,),
            )
        )
        found.entities.append(Entity(person, "person", person, tenant, (f"alias {n % 5}",)))
        found.edges.append(Edge(tenant, person, "knows", f"person:{n % 5}", (f"m{n}",), START))
    return found, [fact.message_ids[0] for fact in found.facts]


class Stores:
    """Everything that a system would open."""

    def __init__(self, folder: Path, url: str) -> None:
        self.records = MemoryRecords(folder, {"v": 1}, url=url)
        self.vectors = Vectors(folder / "vectors")
        self.words = Words(folder / "words")
        self.memory = Memory(
            self.records, {"vectors": self.vectors, "text": self.words}, OutboxParams(batch=EACH - 4, pause_s=0)
        )

    def disagreement(self) -> str:
        """Say what is lost, doubled or still waiting; "" where all agree."""
        known = [id for _, ids in self.records.ids() for id in ids]
        for name, index in (("vectors", self.vectors), ("text", self.words)):
            if sorted(index.ids) != sorted(known):
                return f"{name}: {len(set(known) - set(index.ids))} lost of {len(known)}, {len(index)} held"
        return f"{self.records.waiting()} wait" if self.records.waiting() else ""

    def close(self) -> None:
        self.vectors.store.close()
        self.words.store.close()
        self.memory.close()


def dying(act: Callable[..., Any], countdown: list[int]) -> Callable[..., Any]:
    """Wrap a call so that the process is killed before or after it when the countdown ends."""

    def step() -> None:
        countdown[0] -= 1
        if countdown[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def sync(*args: Any, **more: Any) -> Any:
        step()
        result = act(*args, **more)
        step()
        return result

    async def later(*args: Any, **more: Any) -> Any:
        step()
        result = await act(*args, **more)
        step()
        return result

    return later if asyncio.iscoroutinefunction(act) else sync


async def ingest(folder: Path, url: str, portions: int, steps: int, seconds: float) -> str:
    if seconds:
        # Of processor time, so that a busy machine does not make every kill come too early; without a handler it ends the
        # process even inside an engine.
        signal.setitimer(signal.ITIMER_PROF, seconds)
    stores = Stores(folder, url)
    if steps:
        countdown = [steps]
        for owner, names in (
            (stores.records, ("write", "done", "requeue")),
            (stores.vectors, ("add", "commit")),
            (stores.words, ("add", "commit")),
        ):
            for name in names:
                setattr(owner, name, dying(getattr(owner, name), countdown))
    await stores.memory.mend(Trace())
    wrong = stores.disagreement()
    for number in range(portions):
        if wrong:
            break
        trace = Trace()
        await stores.memory.write(*portion(number), trace)
        wrong = "; ".join(trace.warnings)
    wrong = wrong or stores.disagreement()
    stores.close()
    return wrong


def main(folder: Path, url: str, portions: int, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    written: list[int] = []
    for number in range(kills + 1):
        last = number == kills
        steps = 0 if last or number % 2 else rng.randrange(1, 60)
        seconds = 0.0 if last or steps else rng.uniform(0.02, 0.4)
        child = os.fork()
        if child == 0:
            said = "child broke off"
            try:
                said = asyncio.run(ingest(folder, url, portions, steps, seconds))
            except BaseException as error:  # noqa: BLE001 - told by the parent
                said = repr(error)
            finally:
                (folder.parent / "said.txt").write_text(said)
                os._exit(3 if said else 0)
        _, status = os.waitpid(child, 0)
        ends["killed" if os.WIFSIGNALED(status) else "ended"] += 1
        if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
            wrong.append((folder.parent / "said.txt").read_text())
            break
        if not last and (url or (folder / "records.sqlite").exists()):
            records = MemoryRecords(folder, {"v": 1}, url=url)
            written.append(records.count())
            records.close()
    print(json.dumps({"ends": ends, "wrong": wrong, "written": written}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *(int(number) for number in sys.argv[3:6]))
