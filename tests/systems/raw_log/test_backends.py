"""``index.backend``: the same answers from Tantivy and from an engine that speaks Elasticsearch's interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.datasets.supportdesk import generate
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.analyze import has_han
from memtrial.systems.raw_log.system import RawLog
from memtrial.systems.stores.textindex_server import KEY, URL, Server

Say = Callable[..., Message]
Ask = Callable[..., Query]
Told = tuple[str, list[tuple[str, float]], Any, Any]
# so few are admitted that filters of both kinds come up: those that are all candidates, and those that only bar
PARAMS: dict[str, Any] = {"tiers": {"meaning": False, "admitted": 5}, "words": {"candidates": 200}}


@pytest.fixture
def server(noida: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv(URL, noida)
    monkeypatch.delenv(KEY, raising=False)
    yield
    asked = Server()
    for file in tmp_path.rglob("server.json"):
        asked.ask("indices.delete", index=name(file))
    asked.close()


def name(file: Path) -> str:
    return str(json.loads(file.read_text(encoding="utf-8"))["index"])


def told(backend: str, folder: Path, portions: Sequence[Sequence[Message]], queries: Sequence[Query]) -> list[Told]:
    """Return answers, rankings, tiers, and which filters gave way."""

    async def go() -> list[Told]:
        folder.mkdir(exist_ok=True)
        system = RawLog.create({**PARAMS, "index": {"backend": backend}}, Context(folder))
        found: list[Told] = []
        try:
            for portion in portions:
                await system.ingest(portion, Trace())
            for query in queries:
                trace = Trace()
                answer = await system.answer(query, trace)
                ranking = [(item.message_ids[0], round(item.score, 6)) for item in answer.retrieved]
                found.append((answer.text, ranking, trace.facts["tiers"], trace.facts["plan"].get("relaxed")))
        finally:
            await system.close()
        return found

    return asyncio.run(go())


def desk() -> tuple[list[Message], list[Query]]:
    """A support desk's log, half of it Chinese; its questions, and others about who wrote what on which day."""
    corpora = generate(1000, 3, "both", "train").corpora
    messages = [m for corpus in corpora for m in corpus.messages()]
    queries = []
    for n, q in enumerate(q for corpus in corpora for q in corpus.questions[:8]):
        query = Query(f"q{n}", q.tenant_id, q.asker, q.asked_at, q.text, q.history, q.language)
        own = [m for m in messages if m.tenant_id == q.tenant_id]
        one = own[n * 7 % len(own)]
        at = one.timestamp
        if has_han(q.text):
            text = f"{one.sender_name}在{at.year}年{at.month}月{at.day}日说了什么关于{q.text}"
        else:
            text = f"What did {one.sender_name} say on {at:%d %B %Y} about {q.text}"
        queries += [query, replace(query, text=text)]
    return messages, queries


def test_both_engines_give_the_same_answers(server: None, tmp_path: Path) -> None:
    messages, queries = desk()
    portions = [messages[:400], messages[400:]]
    one = told("tantivy", tmp_path / "a", portions, queries)
    other = told("elasticsearch", tmp_path / "b", portions, queries)
    assert one == other
    tiers = [tiers for _, _, tiers, _ in one]
    assert sum("admitted" in found for found in tiers) > 10
    assert {bool(found.get("admitted")) for found in tiers} == {True, False}


def test_a_server_s_index_is_taken_up_and_never_ahead_of_the_log(
    server: None, tmp_path: Path, say: Say, ask: Ask
) -> None:
    log = [say(n, text, sender=who) for n, (who, text) in enumerate(zip("AABB", ("lamp", "tent", "lamp", "lamp"), strict=True))]  # fmt: skip
    queries = [
        replace(ask(text), asked_at=ask("").asked_at + timedelta(days=1)) for text in ("lamp", "What did B say?")
    ]
    folder = tmp_path / "home"
    fresh = told("elasticsearch", tmp_path / "other", [log[:3]], queries)
    told("elasticsearch", folder, [log], queries)
    made = name(folder / "words" / "server.json")
    assert told("elasticsearch", folder, [log[:3]], queries) == fresh
    assert name(folder / "words" / "server.json") == made


def test_without_an_address_one_sentence_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("elasticsearch")
    monkeypatch.delenv(URL, raising=False)
    with pytest.raises(UserError, match=r"ELASTICSEARCH_URL is not set; .* or use Tantivy$"):
        RawLog.create({**PARAMS, "index": {"backend": "elasticsearch"}}, Context(tmp_path))
