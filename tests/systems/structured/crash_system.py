"""Takes a desk's log into the whole system in child processes that are killed at random moments, then in one that is not.

Usage: ``crash_system.py FOLDER MESSAGES KILLS SEED``. After each kill the next child opens what is left and is handed the
log from its first message again, as a run does it. Half of the children are killed at a random moment after the first
portion that the records do not know, the others at one after they begin to open the folder. Prints one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from memtrial.datasets.schema import Message, Question
from memtrial.datasets.supportdesk import generate
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.structured.system import Structured

PORTION = 10
TENANTS = 4
QUESTIONS = 20
PARAMS: dict[str, Any] = {
    "gates": {"semantic": {"kind": "rules"}},
    "vectors": {"embedder": "tfidf_svd", "dims": 24, "pca": {"dims": 0.5}},
}


@dataclass(frozen=True)
class Log:
    """The first messages of a desk, and questions about them."""

    messages: list[Message]
    questions: list[Question]


def desk(count: int) -> Log:
    corpus = generate(max(1_000, 4 * count), 5, "en", "train").corpora[0]
    whose = {conversation.tenant_id for conversation in corpus.conversations}
    some = sorted(whose)[:TENANTS]
    messages = [m for m in corpus.messages() if m.tenant_id in some][:count]
    told = {m.id for m in messages}
    asked = [q for q in corpus.questions if q.evidence and told.issuperset(q.evidence)]
    return Log(messages, asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS])


async def take_in(folder: Path, log: Log, within: float) -> Structured:
    """Open a folder and hand over a log, portion by portion; ``within`` seconds of something new the process dies."""
    folder.mkdir(exist_ok=True)
    system = Structured.create(PARAMS, Context(folder))
    for start in range(0, len(log.messages), PORTION):
        portion = log.messages[start : start + PORTION]
        if within and not system._records.known([m.id for m in portion]):
            signal.setitimer(signal.ITIMER_REAL, within)  # no handler: ends the process even inside an engine
            within = 0.0
        trace = Trace()
        await system.ingest(portion, trace)
        if trace.warnings:
            raise AssertionError(trace.warnings)
    return system


def held(system: Structured) -> dict[str, Any]:
    """Say what SQL and the two indexes hold, and where they disagree."""
    records = system._records
    known = {tenant: sorted(ids) for tenant, ids in records.ids()}
    nodes = {id: repr(node) for tenant, ids in known.items() for id, node in records.nodes(tenant, ids).items()}
    everything = sorted(id for ids in known.values() for id in ids)
    return {
        "nodes": nodes,
        "entities": sorted(map(repr, records.entities())),
        "edges": sorted(map(repr, records.edges())),
        "waiting": records.waiting(),
        "words_agree": sorted(system._words.ids) == everything,
        "vectors_agree": sorted(system._meaning.ids) == everything,
        "order": system._meaning.ids,
    }


async def answers(system: Structured, log: Log) -> list[str]:
    """Ask questions; all of an answer counts, scores too."""
    said, end = [], log.messages[-1].timestamp
    for number, q in enumerate(log.questions):
        query = Query(f"q{number}", q.tenant_id, q.asker, end, q.text, q.history, q.language)
        said.append(repr(await system.answer(query, Trace())))
    return said


async def whole(folder: Path, log: Log) -> dict[str, Any]:
    system = await take_in(folder, log, 0.0)
    found = held(system) | {"answers": await answers(system, log)}
    await system.close()
    return found


def in_child(folder: Path, act: Any) -> tuple[int, str]:
    """Run in a process of its own; return how it ended and what it said."""
    said = folder.parent / "said.txt"
    child = os.fork()
    if child == 0:
        try:
            said.write_text(json.dumps(act()))
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - told by the parent
            said.write_text(repr(error))
            os._exit(3)
    _, status = os.waitpid(child, 0)
    return status, said.read_text() if said.exists() and not os.WIFSIGNALED(status) else ""


def dying(folder: Path, log: Log, opening: float, taking: float) -> str:
    if opening:
        signal.setitimer(signal.ITIMER_REAL, opening)
    asyncio.run(take_in(folder, log, taking))
    return "reached the end"


def main(folder: Path, messages: int, kills: int, seed: int) -> None:
    for engine in ("qdrant_edge", "tantivy", "sklearn.decomposition", "sklearn.feature_extraction.text"):
        import_module(engine)  # once, not in every child
    rng, log = random.Random(seed), desk(messages)
    ends: Counter[str] = Counter()
    written: list[int] = []
    wrong: list[str] = []
    for number in range(kills):
        opening = 0.0 if number % 2 == 0 else rng.uniform(0.01, 0.6)
        taking = rng.uniform(0.01, 0.4) if number % 2 == 0 else 0.0
        status, said = in_child(folder, lambda o=opening, t=taking: dying(folder, log, o, t))
        ends["killed" if os.WIFSIGNALED(status) else "ended"] += 1
        if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
            wrong.append(said)
        records = folder / "records" / "records.sqlite"
        written.append(sum(f.stat().st_size for f in records.parent.glob(f"{records.name}*")))
    status, left = in_child(folder, lambda: asyncio.run(whole(folder, log)))
    with tempfile.TemporaryDirectory() as beside:
        ended, plain = in_child(folder, lambda: asyncio.run(whole(Path(beside), log)))
    if status or ended:
        wrong += [left, plain]
    report = {"ends": ends, "wrong": wrong, "written": written}
    print(json.dumps(report | {"left": json.loads(left), "plain": json.loads(plain)} if not wrong else report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(number) for number in sys.argv[2:5]))
