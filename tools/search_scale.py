"""What raw-log search takes for a log of a given size: time to build, disk, memory, and how long a question waits.

    python tools/search_scale.py 100000 1000000

Keyless, full text and metadata only (no vectors, no rerank, no reader), supportdesk's train split, half of it English, all
tenants in one index; each size in a process of its own. Three kinds of questions: ``plain`` is searched without a plan;
``planned`` is planned and searched with whatever its plan filters, as ``raw_log`` does; ``filtered`` is the same question made
to ask what somebody wrote at some time, so that its plan filters by people and dates. Processor time stands beside the
clock's, as it tells what other work on the machine did to the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memtrial.datasets.schema import Message
from memtrial.datasets.supportdesk import generate
from memtrial.metrics.latency import nearest_rank
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.analyze import has_han
from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.raw_log.plan import Plan, Planner
from memtrial.systems.raw_log.search import Searcher

PORTION = 10_000
WARM_UP = 10


def memory_mb() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_mb() -> float:
    """Return the most that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def disk_mb(folder: Path) -> float:
    """Return the size of a folder's files in MB."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def filtering(query: Query, message: Message) -> Query:
    """Return a question that asks what a message's sender wrote on its day about the matter of another question."""
    day = message.timestamp.date()
    if has_han(query.text):
        text = f"{message.sender_name}在{day.year}年{day.month}月{day.day}日说了什么关于{query.text}"
    else:
        text = f"What did {message.sender_name} say on {day:%d %B %Y} about {query.text}"
    return replace(query, text=text)


def queries(log: Log, asked: Sequence[Query]) -> Iterator[Query]:
    """Yield the questions made to filter, each by the day and the sender of some message of its tenant."""
    for n, query in enumerate(asked):
        own = log.of(query.tenant_id)
        yield filtering(query, log.messages[own[n * 7919 % len(own)]])


async def ask(
    searcher: Searcher, planner: Planner | None, asked: Sequence[Query]
) -> tuple[list[float], list[float], int]:
    """Return each question's milliseconds by the clock and of the processor, and how many plans filtered.

    The first ones are asked twice, to warm up.
    """
    times, worked, filtered = [], [], 0
    for n, query in enumerate([*asked[:WARM_UP], *asked]):
        trace, plan = Trace(), Plan()
        began, busy = time.perf_counter(), time.process_time()
        if planner is not None:
            plan = await planner.plan(query, searcher.view(query.tenant_id), trace)
        searcher.search(query, plan, trace)
        if n >= WARM_UP:
            times.append((time.perf_counter() - began) * 1000)
            worked.append((time.process_time() - busy) * 1000)
            filtered += not plan.filters.empty
    return times, worked, filtered


def measure(size: int, count: int, seed: int) -> None:
    """Print the figures of one size."""
    began = time.perf_counter()
    data = generate(size, seed, "both", "train")
    messages = [message for corpus in data.corpora for message in corpus.messages()]
    asked = [
        Query(f"q{n}", q.tenant_id, q.asker, q.asked_at, q.text, q.history, q.language)
        for n, q in enumerate(q for corpus in data.corpora for q in corpus.questions)
    ]
    asked = asked[:: max(1, len(asked) // count)][:count]
    del data
    gc.collect()
    print(
        f"{size} messages, {len({m.tenant_id for m in messages})} tenants, made in {time.perf_counter() - began:.0f} s; "
        f"memory {memory_mb():.0f} MB; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        context = Context(Path(folder))
        params, log = RawLogParams.model_validate({"tiers": {"meaning": False}}), Log()
        searcher = Searcher(params, log, Path(folder), context)
        began, busy = time.perf_counter(), time.process_time()
        for start in range(0, size, PORTION):
            searcher.add(log.add(messages[start : start + PORTION]), Trace())
        built, busy = time.perf_counter() - began, time.process_time() - busy
        print(
            f"  built in {built:.0f} s, {busy:.0f} s of the processor; {disk_mb(Path(folder)):.0f} MB on disk; "
            f"memory {memory_mb():.0f} MB, peak {peak_mb():.0f} MB",
            flush=True,
        )
        planner = Planner(params.planner, context)
        for name, by, listed in (
            ("plain", None, asked),
            ("planned", planner, asked),
            ("filtered", planner, list(queries(log, asked))),
        ):
            times, worked, filtered = asyncio.run(ask(searcher, by, listed))
            print(
                f"  {name}: {len(times)} questions, {filtered} of them filter; P50 {nearest_rank(times, 50):.1f} ms, "
                f"P95 {nearest_rank(times, 95):.1f} ms, slowest {max(times):.0f} ms; processor P50 "
                f"{nearest_rank(worked, 50):.1f} ms, P95 {nearest_rank(worked, 95):.1f} ms, slowest {max(worked):.0f} ms",
                flush=True,
            )
        searcher.close()
        print(
            f"  peak memory {peak_mb():.0f} MB, {disk_mb(Path(folder)):.0f} MB on disk; load {os.getloadavg()[0]:.1f}"
        )


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    for size in given.sizes:
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(size, given.questions, given.seed))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
