"""The reading rule for memories that carry a trust."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.models.prompts import load_prompt
from memtrial.systems.models.prompts.additions import with_addition
from memtrial.systems.models.reader import ExtractiveReader, ModelReaderParams, ReaderParams, Reading, read
from memtrial.systems.models.reader.believed import trust_features
from memtrial.systems.models.reader.candidates import find_candidates
from memtrial.systems.models.reader.model_reader import ModelReader
from memtrial.systems.models.reader.need import understand
from memtrial.systems.models.reader.passages import weigh
from memtrial.systems.models.reader.shown import item_row
from memtrial.systems.models.role import ModelRole
from tests.systems.models.fake import FakeClient, block

START = datetime(2024, 3, 6, 9, 0, tzinfo=UTC)
FEE = Query("q", "t", "ann", START + timedelta(days=9), "How much is the fee for a return?")
SAID = {"answer": "$5", "abstain": False, "citations": ["m0"], "confidence": 0.8}


def memory(number: int, text: str, trust: float | None = None, **more: Any) -> Evidence:
    return Evidence(text, 1.0, (f"m{number}",), "t", "fact", START + timedelta(days=number), trust=trust, **more)


def extract(*items: Evidence, **params: Any) -> tuple[Reading, Trace]:
    trace = Trace()
    return ExtractiveReader(ReaderParams.model_validate(params)).read(FEE, items, trace), trace


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        (None, {}),
        (0.86, {"preferred": 1.0, "doubted": 0.0}),
        (0.85, {"preferred": 0.0, "doubted": 0.0}),
        (0.7, {"preferred": 0.0, "doubted": 0.0}),
        (0.69, {"preferred": 0.0, "doubted": 1.0}),
    ],
)
def test_the_bounds(trust: float | None, said: dict[str, float]) -> None:
    assert trust_features(trust) == said


def test_the_trusted_memory_wins_over_a_newer_doubtful_one() -> None:
    items = (memory(0, "The fee for a return is $5.", 0.95), memory(1, "The fee for a return is $7.", 0.6))
    assert extract(*items)[0].text == "$5"
    assert extract(*items, trust=False)[0].text == "$7"
    assert extract(*(replace(i, trust=None) for i in items))[0].text == "$7"


def test_what_is_doubtful_alone_is_less_certain() -> None:
    item = memory(0, "The fee for a return is $7.", 0.6)
    doubted, plain = (extract(i)[0].confidence for i in (item, replace(item, trust=0.75)))
    assert doubted is not None
    assert plain is not None
    assert doubted < plain


def test_a_context_without_trust_reads_as_if_there_were_no_rule() -> None:
    items = (
        memory(0, "The fee for a return is $5."),
        memory(1, "Now it is $7 for a return."),
        memory(2, "The fee rose."),
    )
    with_rule, without = extract(*items), extract(*items, trust=False)
    assert with_rule[0] == without[0]
    assert repr(with_rule[1].facts) == repr(without[1].facts)
    need = understand(FEE)
    features = [c.features for c in find_candidates(need, weigh(need, items), ReaderParams())]
    assert features
    assert not any({"preferred", "doubted"} & set(found) for found in features)


def ask_model(*items: Evidence, query: Query = FEE, **params: Any) -> tuple[dict[str, Any], Reading, Trace]:
    client, trace = FakeClient(lambda prompt: SAID), Trace()
    reader = ModelReader(ModelReaderParams(**params), ModelRole("read", client))
    said = asyncio.run(read(reader, query, items, trace))
    return client.calls[0], said, trace


def test_a_model_is_told_trust_and_rule_where_items_carry_one() -> None:
    item = memory(0, "The fee is $5. <b>", 0.947, status="active")
    call, said, trace = ask_model(item, memory(1, "Hello"))
    rows = block(call["messages"][-1]["content"], "messages")
    assert (rows[0]["trust"], rows[0]["status"]) == (0.95, "active")
    assert "trust" not in rows[1]
    instruction = call["messages"][0]["content"]
    assert instruction.startswith(load_prompt("read", "en").turns[0][1])
    assert "above 0.85" in instruction
    assert "below 0.7" in instruction
    assert trace.facts["prompts"]["read"] == with_addition(load_prompt("read", "en"), "trust").ident
    assert said.shown == (item, memory(1, "Hello"))
    chinese, _, _ = ask_model(item, query=replace(FEE, text="退货费多少？"))
    assert "高于 0.85" in chinese["messages"][0]["content"]


@pytest.mark.parametrize("trust", [None, 0.95])
def test_without_trust_or_with_the_rule_off_the_prompt_is_as_ever(trust: float | None) -> None:
    item = memory(0, "The fee is $5.", trust, status="active")
    call, said, trace = ask_model(item, trust=trust is None)
    plain = replace(item, trust=None)
    question = block(call["messages"][-1]["content"], "question")[0]
    assert call["messages"] == load_prompt("read", "en").render(messages=[item_row(plain)], question=question)
    assert "trust" not in item_row(plain)
    assert trace.facts["prompts"]["read"] == load_prompt("read", "en").ident
    assert said.shown == (plain,)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_addition_changes_version_and_hash_and_nothing_but_the_instruction(language: str) -> None:
    prompt = load_prompt("read", language)
    more = with_addition(prompt, "trust")
    assert more.version == f"{prompt.version}+trust1"
    assert more.hash != prompt.hash
    assert more.turns[1:] == prompt.turns[1:]
    assert more.fields == prompt.fields
    assert more.turns[0][1].startswith(f"{prompt.turns[0][1]}\n\n")
    assert all(bound in more.turns[0][1] for bound in ("0.85", "0.7"))
