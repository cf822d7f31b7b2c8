"""Do Tantivy and an Elasticsearch server find the same ten messages, in the same order?

    noida-db start --only elasticsearch --elasticsearch-port 9200     # or any real server
    ELASTICSEARCH_URL=http://127.0.0.1:9200 python tools/index_agreement.py --messages 20000 --questions 500

Questions and log are supportdesk's train split, half of them English; each question is asked plainly, with its plan's filters
where it has any, and with a date range and people made up for it. Where the two differ, BM25 is counted by its formula, with
lengths as they are and as a byte keeps them, and says why.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from memtrial.datasets.schema import Message, Question
from memtrial.datasets.supportdesk import generate
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.lexical import text_document
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.analyze import date_words, has_han, terms
from memtrial.systems.raw_log.indexed import text_query
from memtrial.systems.raw_log.plan import LogIndex, Planner, PlanParams
from memtrial.systems.stores.textindex import TextDocument, TextIndex, TextQuery
from memtrial.systems.stores.textindex_elasticsearch import ElasticsearchIndex
from memtrial.systems.stores.textindex_tantivy import TantivyIndex

TOP, K1, B = 10, 1.2, 0.75
EQUAL = 1e-5  # engines add in single precision
Hits = Sequence[tuple[str, float]]


def byte_length(length: int) -> int:
    """Return a length as Lucene and Tantivy keep it in a byte: exact up to 40, then with four significant bits."""
    if length < 40:
        return length
    rest = length - 24
    shift = max(rest.bit_length() - 4, 0)
    return 24 + (rest >> shift << shift)


class Formula:
    """BM25 of documents, as written in the literature (Lucene's idf, which is never negative)."""

    def __init__(self, documents: Sequence[TextDocument]) -> None:
        """Count."""
        self._counts = {d.id: Counter(d.terms) for d in documents}
        self._frequency = Counter(term for counts in self._counts.values() for term in counts)
        self._mean = sum(map(len, (d.terms for d in documents))) / len(documents)

    def score(self, query: TextQuery, id: str, *, rounded: bool) -> float:
        """Return a document's score, its length rounded to a byte or not."""
        counts, total = self._counts[id], len(self._counts)
        length = counts.total()
        damping = K1 * (1 - B + B * (byte_length(length) if rounded else length) / self._mean)
        score = 0.0
        for term, weight in query.terms or ():
            df = self._frequency[term]
            tf = counts[term] * (K1 + 1) / (counts[term] + damping)
            score += weight * math.log(1 + (total - df + 0.5) / (df + 0.5)) * tf
        return score


def why(query: TextQuery, one: Hits, other: Hits, formula: Formula) -> str:
    """Return why two rankings differ: ``same``, ``ties``, ``length`` or ``unexplained``.

    ``ties``: both are right by the formula, which gives what they disagree about the same score; ``length``: one is right with
    lengths as a byte keeps them, the other with lengths as they are.
    """
    if [id for id, _ in one] == [id for id, _ in other]:
        return "same"
    for kind, roundings in (("ties", ((True, True), (False, False))), ("length", ((True, False), (False, True)))):
        for first, second in roundings:
            if _right(query, one, other, formula, first) and _right(query, other, one, formula, second):
                return kind
    return "unexplained"


def _right(query: TextQuery, hits: Hits, beside: Hits, formula: Formula, rounded: bool) -> bool:
    """Whether a ranking has the formula's scores, best first, and leaves out nothing of the other that scores higher."""
    scores = [formula.score(query, id, rounded=rounded) for id, _ in hits]
    mine = {id for id, _ in hits}
    left_out = [formula.score(query, id, rounded=rounded) for id, _ in beside if id not in mine]
    return (
        len(hits) == len(beside)
        and all(abs(a - b) <= EQUAL * max(a, b) for a, (_, b) in zip(scores, hits, strict=True))
        and all(better >= worse * (1 - EQUAL) for better, worse in pairwise(scores))
        and max(left_out, default=0.0) <= scores[-1] * (1 + EQUAL)
    )


def compare(
    engines: tuple[TextIndex, TextIndex], queries: Sequence[TextQuery], formula: Formula
) -> tuple[Counter[str], list[tuple[TextQuery, Hits, Hits]]]:
    """Return how often the first ten are the same or why not, and what was not the same.

    Of the rest, those with the same ten documents in another order count under ``same set`` besides.
    """
    found: Counter[str] = Counter()
    differing = []
    for query in queries:
        one, other = (engine.find(query, TOP) for engine in engines)
        reason = why(query, one, other, formula)
        found[reason] += 1
        found["same set"] += {id for id, _ in one} == {id for id, _ in other}
        if reason != "same":
            differing.append((query, one, other))
    return found, differing


def documents(messages: Sequence[Message]) -> Iterator[TextDocument]:
    """Yield messages as they are ranked: by content, sender and date."""
    for m in messages:
        dated = date_words(m.timestamp, chinese=has_han(m.content))
        yield text_document(m, terms(f"{m.content}\n{m.sender_name}\n{dated}"), terms(m.content))


async def queries(log: Log, questions: Sequence[Question]) -> dict[str, list[TextQuery]]:
    """Return each question plainly, with its plan's filters (where it has any), and in a week with people (made up)."""
    index, planner = LogIndex(log), Planner(PlanParams(), Context(Path()))
    plain, planned, dated = [], [], []
    for n, question in enumerate(questions):
        query = Query(f"q{n}", question.tenant_id, question.asker, question.asked_at, question.text, question.history)
        weights = [(term, 0.5) for turn in question.history for term in terms(turn.text)]
        weights = list((dict(weights) | dict.fromkeys(terms(question.text), 1.0)).items())
        plan = await planner.plan(query, index.view(question.tenant_id), Trace())
        plain.append(text_query(type(plan.filters)(), question.tenant_id, weights))
        if not plan.filters.empty:
            planned.append(text_query(plan.filters, question.tenant_id, weights))
        own = log.of(question.tenant_id)
        near = log.messages[own[n * 37 % len(own)]]
        week = (near.timestamp - timedelta(days=3), near.timestamp + timedelta(days=4))
        with_people = frozenset({near.sender, log.messages[own[n * 11 % len(own)]].sender})
        dated.append(replace(plain[-1], dates=(week,), parties=with_people))
    return {"plain": plain, "planned": planned, "with dates and people": dated}


def told(counts: Mapping[str, int]) -> str:
    """Return counts as one line."""
    total = sum(counts[name] for name in ("same", "ties", "length", "unexplained"))
    return (
        f"{total} questions: same ten in the same order {counts['same'] / max(total, 1):.1%}, same ten {counts['same set'] / max(total, 1):.1%}; "
        f"the rest: ties {counts['ties']}, rounded length {counts['length']}, unexplained {counts['unexplained']}"
    )


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    data = generate(given.messages, given.seed, "both", "train")
    log = Log()
    for corpus in data.corpora:
        log.add(corpus.messages())
    asked = [q for corpus in data.corpora for q in corpus.questions]
    step = max(1, len(asked) // given.questions)
    made = list(documents(log.messages))
    formula = Formula(made)
    with tempfile.TemporaryDirectory() as folder:
        tantivy, server = TantivyIndex(Path(folder) / "a", {}), ElasticsearchIndex(Path(folder) / "b", {})
        try:
            for engine in (tantivy, server):
                engine.load(made)
                engine.commit()
            print(f"{len(made)} messages, {len(asked)} questions, load {os.getloadavg()[0]:.1f}")
            for name, listed in asyncio.run(queries(log, asked[::step][: given.questions])).items():
                counts, differing = compare((tantivy, server), listed, formula)
                print(f"{name}: {told(counts)}")
                for query, one, other in differing[:2]:
                    print("   ", [t for t, _ in query.terms or ()][:8], list(zip(one, other, strict=False))[:10])
        finally:
            tantivy.close()
            server.drop()


if __name__ == "__main__":
    main()
