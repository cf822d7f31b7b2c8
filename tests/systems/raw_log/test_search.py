"""Filters over the whole log, near words, cues, and what a hit of a cache tells."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.baselines.lexical import text_document
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.admitted import Admission
from memtrial.systems.raw_log.plan import DateRange, Filters, Keyword, LogIndex, Person, parse
from memtrial.systems.raw_log.search import best_of
from memtrial.systems.raw_log.system import RawLog
from memtrial.systems.stores.textindex_tantivy import TantivyIndex
from tests.systems.conftest import START

Say = Callable[..., Message]
Ask = Callable[..., Query]
WORDS_ONLY: dict[str, Any] = {"tiers": {"meaning": False}}


def run(
    context: Context, messages: list[Message], *queries: Query, params: dict[str, Any]
) -> list[tuple[Answer, Trace]]:
    async def go() -> list[tuple[Answer, Trace]]:
        system = RawLog.create(params, context)
        try:
            await system.ingest(messages, Trace())
            traces = [Trace() for _ in queries]
            return [(await system.answer(q, t), t) for q, t in zip(queries, traces, strict=True)]
        finally:
            await system.close()

    return asyncio.run(go())


def ids(answer: Answer) -> list[str]:
    return [id for item in answer.retrieved for id in item.message_ids]


def many(say: Say) -> list[Message]:
    """Sixty turns about a lamp by Ann; one by Zoe, on another day and in a session of its own, in other words."""
    log = [say(n, f"The lamp {n} stands in the lamp room", session=f"s{n // 20}") for n in range(60)]
    zoe = say(100, "I carried it upstairs", sender="Zoe", session="z")
    return [*log, replace(zoe, timestamp=zoe.timestamp + timedelta(days=3))]


def test_a_filter_reaches_what_no_search_proposed(context: Context, say: Say, ask: Ask) -> None:
    params = {**WORDS_ONLY, "words": {"candidates": 10}}
    question = replace(ask("What did Zoe say about the lamp?"), asked_at=START + timedelta(days=9))
    [(answer, trace)] = run(context, many(say), question, params=params)
    assert ids(answer) == ["m100"]
    assert trace.facts["plan"]["relaxed"] == []
    assert trace.facts["tiers"]["admitted"] == 1


def test_a_filter_that_admits_a_large_part_only_filters_what_was_proposed(context: Context, say: Say, ask: Ask) -> None:
    params = {"tiers": {"meaning": False, "admitted": 3}, "words": {"candidates": 10}}
    question = replace(ask("What did Ann say about the lamp?"), asked_at=START + timedelta(days=9))
    [(answer, trace)] = run(context, many(say), question, params=params)
    assert answer.retrieved
    assert {item.sender for item in answer.retrieved} == {"Ann"}
    assert trace.facts["tiers"]["admitted"] == 0


def test_near_words_find_what_the_question_does_not_name(context: Context, say: Say, ask: Ask) -> None:
    log = [say(n, "kettle descaler bottle", session=f"a{n}") for n in range(5)]
    log += [say(10 + n, f"some other matter {n}", session=f"b{n}") for n in range(80)]
    log.append(say(99, "the descaler comes on Friday", session="c"))
    question = replace(ask("What about the kettle?"), asked_at=START + timedelta(days=9))
    found = []
    for near in (0.0, 1.0):
        home = context.folder / f"near{near}"
        home.mkdir()
        params = {**WORDS_ONLY, "signals": {"near": near}}
        [(answer, _)] = run(replace(context, folder=home), log, question, params=params)
        found.append("m99" in ids(answer))
    assert found == [False, True]


def test_a_cue_speaks_for_a_turn_that_shows_it(context: Context, say: Say, ask: Ask) -> None:
    log = [say(1, "The lamp, hm, the lamp"), say(2, "The lamp is agreed, let's go with it")]
    log = [replace(m, session_id=m.id) for m in log]
    question = replace(ask("What was decided on the lamp?"), asked_at=START + timedelta(days=9))
    first = []
    for cue in (0.0, 5.0):
        home = context.folder / f"cue{cue}"
        home.mkdir()
        params = {**WORDS_ONLY, "rerank": {"kind": "off"}, "signals": {"cue": cue, "speaker": 0}}
        [(answer, _)] = run(replace(context, folder=home), log, question, params=params)
        first.append(ids(answer)[0])
    assert first == ["m1", "m2"]


def test_a_hit_of_a_cache_is_explained_like_the_first_time(context: Context, say: Say, ask: Ask) -> None:
    question = replace(ask("What did Ann say on 1 February 2020 about the lamp?"), asked_at=START + timedelta(days=9))
    for kinds in ({}, {"answers": False}, {"answers": False, "candidates": False}):
        home = context.folder / f"kinds{len(kinds)}"
        home.mkdir()
        params = {**WORDS_ONLY, "cache": kinds}
        (first, told), (again, hit) = run(replace(context, folder=home), many(say), question, question, params=params)
        assert sum(hit.cache_hits.values()) == 1
        assert again == first
        assert hit.facts == told.facts
        assert hit.facts["candidates"]
        assert hit.facts["plan"]["relaxed"]
        assert hit.warnings == told.warnings


def test_a_message_of_anybody_ends_what_was_kept(context: Context, say: Say, ask: Ask) -> None:
    """How rare a word is depends on everybody's messages, and so does a ranking."""

    async def go() -> list[dict[str, int]]:
        system = RawLog.create(WORDS_ONLY, context)
        question = replace(ask("Where is the lamp?"), asked_at=START + timedelta(days=9))
        hits = []
        await system.ingest(many(say), Trace())
        for message in (None, say(900, "lamp lamp", tenant="t2"), None):
            if message is not None:
                await system.ingest([message], Trace())
            trace = Trace()
            await system.answer(question, trace)
            hits.append(trace.cache_hits)
        await system.close()
        return hits

    assert asyncio.run(go()) == [{}, {}, {"answers": 1}]


def test_what_was_not_reranked_scores_below_what_was() -> None:
    assert best_of([(1, 30.0), (2, 20.0), (3, 10.0), (4, 0.0)], {2: 7.0, 1: 4.0}) == [
        (2, 7.0),
        (1, 4.0),
        (3, 4.0),
        (4, 0.0),
    ]
    assert best_of([(1, 3.0)], {}) == [(1, 3.0)]


_DAYS = st.integers(0, 12)


@settings(max_examples=40, deadline=None)  # each opens an index
@given(
    said=st.lists(
        st.tuples(st.sampled_from(["Ann", "Ben"]), st.sampled_from(["lamp", "tent", "lamp tent", ""]), _DAYS)
    ),
    spans=st.lists(st.tuples(_DAYS, _DAYS), max_size=3),
    people=st.sets(st.sampled_from(["Ann", "Ben", "Cleo"]), max_size=2),
    words=st.lists(st.sampled_from(["lamp", "lamp AND tent", "tent NOT lamp", "boat"]), max_size=2),
    most=st.integers(1, 8),
)
def test_what_is_admitted_is_what_a_look_at_every_message_admits(
    said: list[tuple[str, str, int]],
    spans: list[tuple[int, int]],
    people: set[str],
    words: list[str],
    most: int,
) -> None:
    log = Log()
    log.add(
        Message(f"m{n}", "c", "s", "t2" if n % 3 == 2 else "t1", who, "Ann", START + timedelta(days=day), text)
        for n, (who, text, day) in enumerate(sorted(said, key=lambda row: row[2]))
    )
    filters = Filters(
        dates=tuple(DateRange("", START + timedelta(days=a), START + timedelta(days=b)) for a, b in spans),
        people=(Person("", tuple(sorted(people))),) if people else (),
        keywords=tuple(Keyword(w, tree) for w in words if (tree := parse(w)) is not None),
    )
    expected = [p for p in reversed(log.of("t1")) if filters.admits(log.messages[p], terms(log.messages[p].content))]
    with tempfile.TemporaryDirectory() as folder:
        index = TantivyIndex(Path(folder) / "index", {})
        index.load(text_document(m, ["x"], terms(m.content)) for m in log.messages)
        index.commit()
        admission = Admission(log, LogIndex(log), index, "t1")
        found = admission.newest(filters, most)
        admission.filters = filters
        assert [p for p in reversed(log.of("t1")) if admission.admits(p)] == expected
        index.close()
    assert found == expected[:most]


_SCRIPT = """
import asyncio, sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.raw_log.system import RawLog
start = datetime(2023, 5, 7, tzinfo=timezone.utc)
log = [Message(f"m{n}", "c", "s", "t1", "Ann", "Ben", start + timedelta(minutes=n), text) for n, text in enumerate(
    ["My sister Eva moved to Lisbon", "The blue lamp is broken", "Eva likes Lisbon", "The tent leaks"])]
async def go():
    system = RawLog.create({"meaning": {"embedder": "tfidf_svd", "dims": 4}}, Context(Path(sys.argv[1]), tenants=("t1",)))
    given = int(sys.argv[2])
    await system.ingest(log[:given], Trace())
    query = Query("q", "t1", "Ann", start + timedelta(days=1), "Where does Eva live?", language="en")
    answer = await system.answer(query, Trace())
    await system.close()
    print([item.message_ids[0] for item in answer.retrieved], [round(item.score, 6) for item in answer.retrieved])
asyncio.run(go())
"""


def test_another_process_goes_on_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)

    def process(home: str, given: int) -> str:
        (tmp_path / home).mkdir(exist_ok=True)
        command = [sys.executable, str(script), str(tmp_path / home), str(given)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def here(home: str, given: int) -> str:
        (tmp_path / home).mkdir(exist_ok=True)
        monkeypatch.setattr(sys, "argv", ["", str(tmp_path / home), str(given)])
        runpy.run_path(str(script))
        return capsys.readouterr().out

    process("resumed", 2)
    whole = process("resumed", 4)
    assert "'m2'" in whole
    assert whole == here("fresh", 4)
    assert "m2" not in here("resumed", 2)  # the folder is ahead of what was handed over
