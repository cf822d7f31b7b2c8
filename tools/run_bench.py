"""How close a run with a model comes to the ideal: 300 questions of bm25 with a model for a reader, 64 at a time.

    python tools/run_bench.py                       # both series
    python tools/run_bench.py --concurrency 16

The server is that of ``llm_bench.py``: it answers after 200 ms, and in the second series refuses 5 % of the requests and
resets 1 % of the connections. The ideal is questions / concurrency × 200 ms. Beside the whole pass, from the first
request to the last answer, stands the whole command: starting the worker, taking the logs in, metrics and records. It is
checked that every question has one line in the journal, an answer, and no request after it was answered.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import yaml
from llm_bench import LATENCY_S, Line, serve

from memtrial.datasets.export import export_dataset
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Message, Question
from memtrial.experiments.config import load_config
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.store import read_run

CORPORA, MESSAGES = 6, 60
START = datetime(2024, 3, 1, 9, tzinfo=UTC)


class ReaderLine(Line):
    """Answers as the reader's form wants it; two requests are the same question if they are equal."""

    def _name(self, body: bytes) -> str:
        return hashlib.sha256(body).hexdigest()[:12]

    def _text(self, name: str) -> str:
        return json.dumps({"answer": name, "citations": [], "confidence": 0.7, "abstain": False})


def dataset(questions: int) -> Dataset:
    """Six logs, each with its share of the questions at its end."""
    corpora = []
    for number in range(CORPORA):
        talk, tenant = f"c{number}", f"t{number}"
        messages = tuple(
            Message(
                f"{talk}-m{i}", talk, f"{talk}-s{i // 10}", tenant, "ana", "bob", START + timedelta(minutes=i),
                f"the code of day {i} in room {number} is {1000 * number + i}",
            )
            for i in range(MESSAGES)
        )  # fmt: skip
        asked = tuple(
            Question(
                id=f"{talk}-q{i}",
                conversation_id=talk,
                tenant_id=tenant,
                asker="ana",
                asked_at=START + timedelta(days=1),
                text=f"what is the code of day {i % MESSAGES}? (form {i})",
                category="code",
                answerable=True,
                needs_memory=True,
                answer_type="number",
                answers=(str(1000 * number + i % MESSAGES),),
                evidence=(f"{talk}-m{i % MESSAGES}",),
                cluster_id=talk,
                language="en",
            )
            for i in range(questions // CORPORA)
        )
        corpora.append(Corpus(talk, (Conversation(talk, tenant, messages, language="en"),), asked))
    return Dataset("bench", tuple(corpora), clock_usable=False)


def measure(questions: int, concurrency: int, *, faults: bool) -> str:
    """Run one series and return the line for people."""
    spawn = multiprocessing.get_context("spawn")
    mine, theirs = spawn.Pipe()
    server = spawn.Process(target=serve, args=(theirs, faults, ReaderLine), daemon=True)
    server.start()
    try:
        url = f"http://127.0.0.1:{mine.recv()}/v1"
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / "data", Path(folder) / "out"
            export_dataset(dataset(questions), data)
            config = {
                "name": "bench",
                "data": {"bench": {"name": "json", "path": str(data)}},
                "systems": {"bm25": {"reader": {"model": "bench", "base_url": url, "max_concurrency": concurrency}}},
                "concurrency": concurrency,
                "metrics": {"resamples": 100},
            }
            file = Path(folder) / "bench.yaml"
            file.write_text(yaml.safe_dump(config))
            plan = make_plan(load_config(file))
            start = time.perf_counter()
            summary = run(plan, out, options=ModelOptions())
            whole = time.perf_counter() - start
            rows = [orjson.loads(line) for line in (out / "journal.jsonl").read_bytes().splitlines()]
            lines = Counter(row["key"] for row in rows if row["type"] == "result")
            found = read_run(out)
            calls = [orjson.loads(line) for line in (out / "calls.jsonl").read_bytes().splitlines()]
        mine.send("done")
        seen = mine.recv()
    finally:
        server.join(10)
    # From the moment the first request was sent to the moment the last reply was stored.
    ends = [datetime.fromisoformat(call["at"]) for call in calls]
    starts = [end - timedelta(milliseconds=call["wall_ms"]) for end, call in zip(ends, calls, strict=True)]
    spent = (max(ends) - min(starts)).total_seconds()
    ideal = questions / concurrency * LATENCY_S
    answered = sum(record.result.error is None for record in found.records)
    return (
        f"{spent:.2f} s from the first request to the last answer, {spent / ideal:.2f} of the ideal {ideal:.2f} s; the whole"
        f" command {whole:.2f} s; {answered} of {summary.planned} answered, {len(lines)} lines in the journal,"
        f" {sum(lines.values()) - len(lines)} doubled; {seen['requests']} requests ({seen.get('refused', 0)} refused,"
        f" {seen.get('resets', 0)} reset), {seen['again']} asked again after an answer"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    print("clean:      ", measure(given.questions, given.concurrency, faults=False), flush=True)
    print("with faults:", measure(given.questions, given.concurrency, faults=True))


if __name__ == "__main__":
    main()
