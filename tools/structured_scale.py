"""Ingest and latency of structured memory as the log grows, and the graph index on its own.

    python tools/structured_scale.py ingest 1000 10000 100000     # memories a second, write P95, growth
    python tools/structured_scale.py answers 120000 --questions 300   # the ladder's last round over 100,000 memories
    python tools/structured_scale.py hnsw 60000                   # ANN recall@10 and P95 for 12 settings

Keyless, with the fast embedder that is fitted on the memories themselves; the log is supportdesk's, English, train split.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memtrial.datasets.schema import Message, Question
from memtrial.datasets.supportdesk import generate
from memtrial.metrics.latency import nearest_rank
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.structured.system import Structured
from memtrial.systems.structured.vectors import MemoryVectors, VectorPartParams

PORTION = 500
LAST_ROUND: dict[str, Any] = {
    "gates": {"semantic": {"kind": "classifier"}},
    "vectors": {
        "embedder": "tfidf_svd",
        "pca": {"dims": 0.5},
        "hnsw": {"m": 32, "ef_construct": 128, "ef": 128, "build_from": 100},
    },
}


def _log(messages: int, seed: int) -> tuple[list[Message], list[Question]]:
    corpus = generate(messages, seed, "en", "train").corpora[0]
    return corpus.messages(), list(corpus.questions)


async def _fill(system: Structured, messages: Sequence[Message]) -> tuple[float, list[float], dict[str, float]]:
    """Ingest in portions; returns seconds in all, milliseconds of each portion, and seconds by stage."""
    portions, stages = [], dict[str, float]()
    began = time.perf_counter()
    for start in range(0, len(messages), PORTION):
        trace, at = Trace(), time.perf_counter()
        await system.ingest(messages[start : start + PORTION], trace)
        portions.append((time.perf_counter() - at) * 1000)
        for span in trace.spans:
            stages[span.stage] = stages.get(span.stage, 0.0) + span.ms / 1000
    return time.perf_counter() - began, portions, stages


async def ingest(sizes: Sequence[int], seed: int) -> None:
    """Print memories a second for each size, and by which power of the size the time grows."""
    points = []
    for size in sizes:
        messages, _ = _log(size, seed)
        with tempfile.TemporaryDirectory() as folder:
            system = Structured.create({"vectors": {"embedder": "tfidf_svd"}}, Context(Path(folder)))
            seconds, portions, stages = await _fill(system, messages)
            memories = len(system._meaning)
            await system.close()
        points.append((size, seconds))
        told = {name: round(value, 1) for name, value in sorted(stages.items(), key=lambda s: -s[1])[:6]}
        print(
            f"{size} messages: {memories} memories in {seconds:.1f} s, {memories / seconds:.0f} a second; "
            f"write P95 of {PORTION} messages {nearest_rank(portions, 95):.0f} ms; {json.dumps(told)}"
        )
    if len(points) > 1:
        (a, s), (b, t) = points[-2], points[-1]
        print(f"growth from {a} to {b} messages: time ~ size^{math.log(t / s) / math.log(b / a):.2f}")


async def answers(size: int, questions: int, seed: int) -> None:
    """Print the latency of answers over a filled memory, by stage."""
    messages, asked = _log(size, seed)
    with tempfile.TemporaryDirectory() as folder:
        system = Structured.create(LAST_ROUND, Context(Path(folder)))
        seconds, _, _ = await _fill(system, messages)
        end = messages[-1].timestamp
        chosen = asked[:: max(1, len(asked) // questions)][:questions]
        times, stages = [], dict[str, list[float]]()
        facts: dict[str, Any] = {}
        for number, question in enumerate([*chosen[:10], *chosen]):
            query = Query(f"q{number}", question.tenant_id, question.asker, end, question.text, question.history, "en")
            trace, at = Trace(), time.perf_counter()
            await system.answer(query, trace)
            if number >= 10:  # the first ten warm up
                times.append((time.perf_counter() - at) * 1000)
                facts = {**facts, **trace.facts}
                for span in trace.spans:
                    stages.setdefault(span.stage, []).append(span.ms)
        memories = len(system._meaning)
        await system.close()
    said = {name: facts.get(name) for name in ("vectors", "vectors_indexed", "search", "dims", "explained_variance")}
    told = {name: round(nearest_rank(ms, 95), 1) for name, ms in stages.items()}
    print(f"{memories} memories of {size} messages, ingested in {seconds:.0f} s; {json.dumps(said)}")
    print(
        f"{len(times)} questions: P50 {nearest_rank(times, 50):.1f} ms, P95 {nearest_rank(times, 95):.1f} ms, "
        f"max {max(times):.0f} ms; P95 by stage {json.dumps(told)}"
    )


async def hnsw(size: int, seed: int) -> None:
    """Print ANN recall@10 against exact search and search P95 for a grid of settings."""
    messages, asked = _log(size, seed)
    ids = [m.id for m in messages]
    texts = [m.content for m in messages]
    queries = [q.text for q in asked[:300]]
    with tempfile.TemporaryDirectory() as cache:
        for m in (4, 16, 32):
            for construct in (32, 128):
                with tempfile.TemporaryDirectory() as folder:
                    for ef in (16, 128):
                        graph = {"m": m, "ef_construct": construct, "ef": ef, "build_from": 1000}
                        params = VectorPartParams.model_validate(
                            {"embedder": "tfidf_svd", "hnsw": graph, "measure_ann": True}
                        )
                        vectors = MemoryVectors(params, Path(folder), Context(Path(folder), cache_dir=Path(cache)))
                        began = time.perf_counter()
                        await vectors.add(ids, ["t"] * len(ids), texts, Trace())
                        vectors.commit()
                        built = time.perf_counter() - began
                        times, recall = [], []
                        for text in queries:
                            trace = Trace()
                            await vectors.search(text, "t", 10, trace)
                            if "ann_recall@10" in trace.facts:  # a question without a known word has no vector
                                times.append(sum(s.ms for s in trace.spans if s.stage == "search"))
                                recall.append(trace.facts["ann_recall@10"])
                        print(
                            f"m {m:2} ef_construct {construct:3} ef {ef:3}: ANN recall@10 {np.mean(recall):.3f}, "
                            f"search P50 {nearest_rank(times, 50):.2f} ms, P95 {nearest_rank(times, 95):.2f} ms, "
                            f"{trace.facts['vectors_indexed']} of {trace.facts['vectors']} in the graph, built in {built:.0f} s",
                            flush=True,
                        )
                        await vectors.aclose()


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ingest", "answers", "hnsw"))
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    if given.what == "ingest":
        asyncio.run(ingest(given.sizes, given.seed))
    elif given.what == "answers":
        asyncio.run(answers(given.sizes[0], given.questions, given.seed))
    else:
        asyncio.run(hnsw(given.sizes[0], given.seed))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"peak memory {peak:.0f} MB, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
