"""The agent against a scripted model server and a log in memory."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.llm import dialect
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore
from memtrial.systems.models.prompts import load_prompt, with_addition
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.raw_log.agent import AgentLoop, AgentParams, AgentResult
from memtrial.systems.raw_log.agent.tools import TOOLS, Call, checked
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says
from tests.systems.models.fake import block
from tests.systems.raw_log.agent.fake_log import T0, FakeLog, message, messages

QUERY = Query("q1", "t", "kim", T0 + timedelta(days=1), "What did my tent cost?")
NONE = object()


@pytest.fixture(autouse=True)
def _fresh() -> None:
    dialect.forget()


def call(tool: str, _raw: Any = NONE, **arguments: Any) -> dict[str, Any]:
    text = json.dumps(arguments) if _raw is NONE else _raw
    return {"id": "srv_xyz", "type": "function", "function": {"name": tool, "arguments": text}}


def turn(*calls: dict[str, Any], content: Any = None) -> Step:
    usage = {"prompt_tokens": 2000, "completion_tokens": 10}
    return says(content, finish="tool_calls", message={"tool_calls": list(calls)}, usage=usage)


def final(answer: str = "120 euros", citations: Any = ("m1",), **more: Any) -> dict[str, Any]:
    given = {"answer": answer, "citations": list(citations), "abstain": False, "confidence": 0.8, "open_points": []}
    return call("answer", **given | more)


FOUND = turn(call("search", text="tent euros"))


class Ran:
    """One question asked."""

    def __init__(self, script: Any, query: Query = QUERY, log: FakeLog | None = None, **params: Any) -> None:
        self.log = log or FakeLog()
        self.trace = Trace()
        self.result: AgentResult | None = None
        self.error: ModelRoleError | None = None
        with ScriptedServer(script) as server:
            given = {"model": "m", "base_url": server.url, "max_retries": 0, **params}
            asyncio.run(self._run(AgentParams.model_validate(given), query))
            self.requests: list[Seen] = server.requests

    async def _run(self, params: AgentParams, query: Query) -> None:
        agent = AgentLoop(params, Context(Path()), self.log)
        try:
            self.result = await agent.answer(query, self.trace)
        except ModelRoleError as failed:
            self.error = failed
        finally:
            await agent.aclose()

    @property
    def steps(self) -> list[dict[str, Any]]:
        return list(self.trace.facts["agent"])

    @property
    def end(self) -> str:
        return str(self.trace.facts["agent_end"]["end"])

    def told(self, request: int) -> str:
        """What the model was told last before a request."""
        return str(self.requests[request].body["messages"][-1]["content"])


def test_it_looks_around_and_answers_with_citations() -> None:
    ran = Ran([FOUND, turn(call("around", message="m1", reach=1)), turn(final(citations=["m1", "m1", " m3 "]))])
    assert ran.result is not None
    assert (ran.result.text, ran.result.abstained, ran.result.confidence) == ("120 euros", False, 0.8)
    assert ran.result.citations == ("s1:4", "s1:2")
    assert [item.message_ids[0] for item in ran.result.seen] == ["s1:4", "s1:2", "s1:0", "s1:3"]
    assert ran.end == "answered"
    assert [(s["step"], s["tool"]) for s in ran.steps] == [(1, "search"), (2, "around"), (3, "answer")]
    assert [s["tokens"] for s in ran.steps] == [2010, 2010, 2010]
    assert ran.steps[0]["hits"] == len(block(ran.told(1), "messages"))
    assert [span.stage for span in ran.trace.spans] == ["agent", "agent_tools", "agent", "agent_tools", "agent"]
    assert [c.role for c in ran.trace.llm_calls] == ["agent"] * 3
    assert not ran.trace.warnings


def test_calls_go_back_under_ids_of_our_own_so_that_a_dialogue_can_be_replayed() -> None:
    ran = Ran([FOUND, turn(final())])
    _, _, said, told = ran.requests[1].body["messages"]
    assert said["tool_calls"][0]["id"] == told["tool_call_id"] == "call00001"
    assert told["role"] == "tool"


def test_chat_content_is_fenced_and_shown_in_full_once() -> None:
    ran = Ran([turn(call("search", text="euro rules euros")), turn(call("open_session", message="m1")), turn(final())])
    shown = block(ran.told(1), "messages")  # asserts that the tags stand once although a message holds </messages>
    assert any("ignore your rules" in row["text"] for row in shown)
    again = block(ran.told(2), "messages")
    assert {"id": "m1", "shown": "above"} in again
    assert all("text" in row or row["shown"] == "above" for row in again)


def test_only_what_was_shown_can_be_cited() -> None:
    ran = Ran([FOUND, turn(final(citations=["m1", "m77", "s1:4", "s9:9"]))])
    assert ran.result is not None
    assert ran.result.citations == ("s1:4",)
    assert ran.trace.warnings == ["agent: 2 citations dropped: no such message was shown"]


def test_an_answer_without_citations_is_sent_back_once() -> None:
    ran = Ran([FOUND, turn(final(citations=[])), turn(final(citations=["m1"]))])
    assert "cites no message" in ran.told(2)
    assert ran.result is not None and len(ran.result.citations) == 1
    stubborn = Ran([turn(final(citations=[]))])
    assert len(stubborn.requests) == 2
    assert stubborn.result is not None and stubborn.result.citations == ()
    assert stubborn.trace.warnings == ["agent: the answer cites no message that was shown"]
    lax = Ran([turn(final(citations=[]))], cite=False)
    assert len(lax.requests) == 1


def test_it_abstains() -> None:
    given = final("", ["m1"], abstain=True, confidence="high", open_points=["which tent"])
    ran = Ran([FOUND, turn(given)])
    assert ran.result is not None
    assert (ran.result.abstained, ran.result.citations, ran.result.confidence) == (True, (), None)
    assert ran.result.open_points == ("which tent",) and ran.result.text
    assert ran.end == "abstained"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (call("serach", text="x"), "there is no tool 'serach' (did you mean 'search'?)"),
        (call("search", "{'text': 'tent'}"), "the arguments of search must be one JSON object"),
        (call("search", '["tent"]'), "must be one JSON object"),
        (call("search"), "text: Field required"),
        (call("search", text=" "), "text: String should have at least 1 character"),
        (call("search", text="tent", start="last week"), "'last week' is no day; write it as YYYY-MM-DD"),
        (
            call("search", text="tent", start="2024-05-09", end="2024-05-07"),
            "start 2024-05-09 lies behind end 2024-05-07",
        ),
        (call("by_time"), "by_time needs start, end, or both"),
        (call("by_person", name="Zed"), "nobody is called 'Zed'; there are Kim and Jo"),
        (call("around", message="m9"), "no message 'm9' was shown; none was shown yet, so search first"),
        (final(""), "The answer is empty"),
    ],
)
def test_what_cannot_be_done_is_told_to_the_model_and_it_goes_on(wrong: dict[str, Any], sentence: str) -> None:
    ran = Ran([turn(wrong), FOUND, turn(final())])
    assert sentence in ran.told(1)
    assert ran.requests[1].body["messages"][-1]["role"] == "tool"
    assert sentence[:30] in ran.steps[0]["error"]
    assert ran.result is not None and not ran.result.abstained


def test_arguments_reach_the_tools() -> None:
    ran = Ran(
        [
            turn(
                call("search", text="tent", start="2024-05-06", end="2024-05-06", person="Kim", limit="500"),
                call("by_time", json.dumps(json.dumps({"start": "2024-05-06T10:30"}))),
                call("by_person", name="kim"),
            ),
            turn(final()),
        ]
    )
    day = datetime(2024, 5, 6, tzinfo=UTC)
    assert ran.log.asked == [
        ("search", "tent", day, day + timedelta(days=1), "Kim", 30),
        ("by_time", day + timedelta(hours=10, minutes=30), None, 10),
        ("by_person", "kim", 10),
    ]
    assert [s["step"] for s in ran.steps] == [1, 1, 1, 2]
    assert [s["tokens"] for s in ran.steps] == [2010, 0, 0, 2010]


def test_a_model_that_never_answers_is_an_error_within_its_steps() -> None:
    words = iter(range(100))
    ran = Ran(lambda seen: turn(call("search", text=f"tent {next(words)}")), steps=4)
    assert ran.error is not None and "no final answer in 4 replies" in str(ran.error)
    assert len(ran.requests) == 4
    assert [t["function"]["name"] for t in ran.requests[3].body["tools"]] == ["answer"]
    assert "You must answer now" in ran.told(3)
    assert ran.end == "no_answer"
    assert len(ran.log.asked) == 3  # in its last reply nothing is looked up any more


def test_repeated_calls_are_not_made_again_and_lead_to_the_answer() -> None:
    ran = Ran([FOUND, FOUND, FOUND, turn(final())], repeats=1)
    assert len(ran.log.asked) == 1
    assert "this very call before" in str(ran.requests[2].body["messages"][-1]["content"])
    assert "You must answer now" in ran.told(3)
    assert ran.result is not None


def test_tokens_end_the_search() -> None:
    words = iter(range(100))
    ran = Ran(lambda seen: turn(call("search", text=f"tent {next(words)}")), max_total_tokens=4_020, steps=50)
    assert len(ran.requests) == 4 and ran.error is not None  # 2010 a reply: two, then told to answer, twice
    assert "You must answer now" in ran.told(2) and "You must answer now" in ran.told(3)


def test_too_many_calls_in_one_reply_are_not_made() -> None:
    many = [call("search", text=f"tent {n}") for n in range(5)]
    ran = Ran([turn(*many), turn(final())], calls_per_step=2)
    assert len(ran.log.asked) == 2
    told = [m for m in ran.requests[1].body["messages"] if m["role"] == "tool"]
    assert len(told) == 5 and told[-1]["content"] == "not done: at most 2 calls in one reply"


def test_old_results_give_way_and_are_shown_again_when_found_again() -> None:
    long = FakeLog([message(n, "kim", f"tent {n} " + "word " * 190) for n in range(30)])
    script = [
        *(turn(call("by_time", start=f"2024-05-06T{9 + n:02d}:00", limit=7)) for n in (0, 7)),
        turn(call("around", message="m1", reach=1)),
        turn(final()),
    ]
    ran = Ran(script, QUERY_LATE, long, max_context_tokens=3_700)
    assert ran.trace.facts["agent_end"]["taken_out"] == 1
    results = [m["content"] for m in ran.requests[2].body["messages"] if m["role"] == "tool"]
    assert results[0] == "(taken out to make room)" and "tent 7" in results[1]
    assert "text" in block(ran.told(3), "messages")[0]
    assert ran.result is not None
    assert "taken out of the prompt by agent.max_context_tokens" in " ".join(ran.trace.warnings)


QUERY_LATE = Query("q1", "t", "kim", T0 + timedelta(days=9), "What did my tent cost?")


def test_results_are_bounded_and_long_messages_cut() -> None:
    log = FakeLog([message(n, "kim", f"tent {n} " + "word " * 500) for n in range(20)])
    ran = Ran(
        [turn(call("search", text="tent", limit=20)), turn(final())],
        QUERY_LATE,
        log,
        max_message_tokens=60,
        max_result_tokens=500,
    )
    rows = block(ran.told(1).rpartition("\n")[0], "messages")
    assert 5 <= len(rows) <= 9 and rows[0]["text"].endswith("[…]")
    assert ran.told(1).endswith(f"{20 - len(rows)} more do not fit; narrow it down.")
    assert ran.result is not None and len(ran.result.seen) == len(rows)  # the rest was not shown
    assert f"agent: {len(rows)} messages shortened to 60 tokens" in ran.trace.warnings


def test_nothing_of_another_tenant_or_of_later_is_shown() -> None:
    log = FakeLog(
        [
            *messages(),
            message(6, "kim", "tent of another tenant", tenant_id="other", conversation_id="d"),
            message(90, "kim", "tent after the question"),
        ]
    )
    ran = Ran([turn(call("search", text="tent")), turn(final())], log=log)
    assert ran.result is not None
    assert {item.message_ids[0] for item in ran.result.seen} == {"s1:0", "s1:4"}


@pytest.mark.parametrize("protocol", ["json", "auto"])
def test_a_server_without_tools_is_spoken_to_in_text(protocol: str) -> None:
    said = [
        {"tool": "search", "arguments": {"text": "tent euros"}},
        {
            "tool": "answer",
            "arguments": {"answer": "120", "citations": ["m1"], "abstain": False, "confidence": 1, "open_points": []},
        },
    ]
    replies = iter([says(json.dumps(row)) for row in said])

    def script(seen: Seen) -> Step:
        return error(400, "this model does not support tools") if "tools" in seen.body else next(replies)

    ran = Ran(script, protocol=protocol)
    assert ran.result is not None and ran.result.text == "120"
    assert ran.trace.facts["agent_end"]["protocol"] == "json"
    assert [r.body["messages"][-1]["role"] for r in ran.requests[-2:]] == ["user", "user"]
    assert '{"tool": "search"' in ran.requests[-1].body["messages"][0]["content"]
    assert len(ran.requests) == (3 if protocol == "auto" else 2)
    assert ran.trace.facts["agent_end"]["replies"] == 2


def test_a_server_that_ignores_tools_is_spoken_to_in_text() -> None:
    replies = iter(
        [
            "I would look for the tent.",
            '{"tool": "search", "arguments": {"text": "tent"}}',
            json.dumps({"name": "answer", "parameters": {"answer": "120", "citations": "m1"}}),
        ]
    )
    ran = Ran(lambda seen: says(next(replies)))
    assert ran.result is not None and (ran.result.text, len(ran.result.citations)) == ("120", 1)
    assert "tools" in ran.requests[0].body and "tools" not in ran.requests[1].body
    assert ran.steps[0]["error"] == "the reply calls no tool"


@pytest.mark.parametrize(
    "text",
    [
        'Sure!\n<tool_call>\n{"name": "search", "arguments": {"text": "tent"}}\n</tool_call>',
        '```json\n{"action": "search", "action_input": "{\\"text\\": \\"tent\\"}"}\n```',
        '{"tool": "search", "text": "tent"}',
        '{"type": "function", "function": {"name": "search", "arguments": {"text": "tent"}}}',
    ],
)
def test_calls_written_as_text_are_read(text: str) -> None:
    ran = Ran([says(text), turn(final())], protocol="tools")
    assert [a[:2] for a in ran.log.asked] == [("search", "tent")]
    assert ran.requests[1].body["messages"][-1]["role"] == "user"


def test_words_alone_and_nothing_at_all_are_told_to_call_a_tool() -> None:
    ran = Ran([says("It was 120 euros, I think."), says(""), FOUND, turn(final())], protocol="tools")
    assert "Your reply calls no tool" in ran.told(1) and "Your reply calls no tool" in ran.told(2)
    assert ran.result is not None
    mute = Ran([says("120 euros")], protocol="tools", steps=3)
    assert mute.error is not None and len(mute.requests) == 3


@pytest.mark.parametrize(
    ("step", "status"),
    [
        (says(None, message={"refusal": "no"}), "refused"),
        (says("", finish="content_filter"), "filtered"),
        (error(400, "no such parameter"), "bad_request"),
        (error(503, "busy"), "server_error"),
    ],
)
def test_what_is_no_reply_is_an_error_that_says_so(step: Step, status: str) -> None:
    ran = Ran([FOUND, step])
    assert ran.error is not None and (ran.error.role, ran.error.status) == ("agent", status)
    assert ran.end == status
    assert ran.steps[-1]["error"] == status


def test_a_long_session_is_read_around_the_message() -> None:
    log = FakeLog([message(n, "kim", f"tent {n}", session_id="s") for n in range(40)])
    ran = Ran(
        [turn(call("search", text="25")), turn(call("open_session", message="m1")), turn(final())],
        QUERY_LATE,
        log,
        most_hits=10,
    )
    texts = [row.get("text", row["id"]) for row in block(ran.told(2), "messages")]
    assert texts == ["tent 20", "tent 21", "tent 22", "tent 23", "tent 24", "m1", *(f"tent {n}" for n in range(26, 30))]


def test_the_dialogue_and_an_endless_question_stay_within_the_prompt() -> None:
    query = Query("q", "t", "kim", T0 + timedelta(days=1), "tent " * 40_000)
    ran = Ran([FOUND, turn(final())], query, max_context_tokens=4_000)
    assert ran.result is not None
    assert len(ran.requests[0].raw) < 20_000
    assert "the question shortened in the prompt" in " ".join(ran.trace.warnings)


def test_a_whole_dialogue_is_replayed_from_its_record_with_the_same_result(tmp_path: Path) -> None:
    """The server gives every call another id, as they do; a second recording finds every step all the same."""
    numbers = iter(range(100))

    def script(seen: Seen) -> Step:
        words = call("search", text="tent euros") if len(seen.body["messages"]) == 2 else final()
        return turn({**words, "id": f"srv_{next(numbers)}"})

    results: list[AgentResult] = []
    traces: list[Trace] = []
    with ScriptedServer(script) as server:
        given = ModelSettings(model="m", base_url=server.url)
        for replay in ("prefer", "prefer", "only"):
            client = Client(given, store=CallStore(tmp_path / "calls.jsonl"), replay=replay)  # type: ignore[arg-type]
            agent = AgentLoop(AgentParams(), Context(Path()), FakeLog(), role=ModelRole("agent", client))
            traces.append(Trace())

            async def once(agent: AgentLoop = agent) -> AgentResult:
                try:
                    return await agent.answer(QUERY, traces[-1])
                finally:
                    await agent.aclose()

            results.append(asyncio.run(once()))
        assert len(server.requests) == 2
    assert results[0] == results[1] == results[2]
    assert traces[0].facts["agent"] == traces[2].facts["agent"]
    assert traces[2].replayed_ms > 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_calls_that_the_prompt_shows_are_calls(language: str) -> None:
    system = with_addition(load_prompt("agent", language), "json").turns[0][1]
    shown = [json.loads(found) for found in re.findall(r'\{"tool": "[a-z].*\}\}', system)]
    assert [row["tool"] for row in shown] == list(TOOLS)
    for row in shown:
        asked = checked(Call(row["tool"], row["arguments"]))
        assert (
            set(row["arguments"]) == set(TOOLS[row["tool"]].parameters["properties"]) == set(type(asked).model_fields)
        )


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "message", "start", "citations", "answer", "limit"]), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["search", "around", "by_time", "answer", "x", ""]), JSONISH | st.text(max_size=8)), max_size=3),
        min_size=1,
        max_size=4,
    )
)  # fmt: skip
def test_whatever_a_model_calls_it_ends_in_a_result_or_an_error(turns: Sequence[Sequence[tuple[str, Any]]]) -> None:
    script = [turn(*(call(tool, json.dumps(given)) for tool, given in calls), content="") for calls in turns]
    ran = Ran(script, steps=4)
    assert (ran.result is None) != (ran.error is None)
    assert len(ran.requests) <= 5
    if ran.result is not None:
        assert set(ran.result.citations) <= {id for item in ran.result.seen for id in item.message_ids}
