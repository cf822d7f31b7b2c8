from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.budget import Budget
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.llm.outcome import (
    AuthRejected,
    BudgetSpent,
    EndpointUnreachable,
    ModelCallError,
    ModelMissing,
    QuotaExhausted,
    Reply,
    RunStop,
)
from memtrial.systems.models.llm.prices import Price
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore
from tests.systems.llm.scripted import USAGE, ScriptedServer, Seen, Step, error, says

KEY = "sk-proj-Zx81-secret/value+==77"


class Verdict(BaseModel):
    ok: bool


def user(text: str = "hi") -> list[ChatMessage]:
    return [{"role": "user", "content": text}]


def settings(server: ScriptedServer, **more: Any) -> ModelSettings:
    return ModelSettings(model="m", base_url=server.url, **more)


def run(body: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(body, 30))


async def ask(client: Client, *texts: str, **more: Any) -> list[Reply]:
    try:
        return list(await asyncio.gather(*(client.complete("read", user(text), **more) for text in texts or ["hi"])))
    finally:
        await client.aclose()


# -- what is sent ------------------------------------------------------------------------------------------------------


def test_what_is_sent() -> None:
    with ScriptedServer([says()]) as server:
        run(ask(Client(settings(server, temperature=0.5, seed=3, max_tokens=9)), "hi"))
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 3,
    }


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("lone \ud83d half", "lone \ufffd half"),
        ("pair \ud83d\ude00 in halves", "pair \U0001f600 in halves"),
        ("nul \0 inside", "nul \ufffd inside"),
        ("\udcff\udcfe bytes", "\ufffd\ufffd bytes"),
        ("<|endoftext|> 你好 \u202e", "<|endoftext|> 你好 \u202e"),
    ],
)
def test_any_text_can_be_sent(text: str, sent: str, tmp_path: Path) -> None:
    with ScriptedServer([says()]) as server:
        store = CallStore(tmp_path / "calls.jsonl")
        (reply,) = run(ask(Client(settings(server), store=store), text))
    assert reply.ok
    assert server.requests[0].prompt == sent


def test_a_very_long_prompt_arrives_whole() -> None:
    text = "长文 " * 500_000
    with ScriptedServer([says(usage=None)]) as server:
        (reply,) = run(ask(Client(settings(server)), text))
    assert server.requests[0].prompt == text
    assert reply.usage.prompt > 500_000


def test_connections_are_kept() -> None:
    async def body(client: Client) -> None:
        for number in range(5):
            await client.complete("read", user(str(number)))
        await client.aclose()

    with ScriptedServer([says()]) as server:
        run(body(Client(settings(server))))
    assert (len(server.requests), server.connections) == (5, 1)


# -- time and attempts -------------------------------------------------------------------------------------------------


def test_service_time_is_the_successful_attempt_and_wall_time_is_all(clock: Any) -> None:
    """Shared case st-03: 120 ms refused, 20 s waited, 450 ms served."""
    script = [error(429, headers={"Retry-After": "20"}), says()]
    script[0].delay_s, script[1].delay_s = 0.12, 0.45
    with ScriptedServer(script) as server:
        (reply,) = run(ask(Client(settings(server), clock=clock)))
    assert reply.service_ms is not None
    assert 450 <= reply.service_ms < 900
    assert 20_570 <= reply.wall_ms < 23_500
    assert reply.attempts == 2


def test_pauses_are_random_bounded_and_the_same_for_the_same_seed(clock: Any) -> None:
    pauses = []
    for seed in (0, 0, 1):
        clock.slept.clear()
        with ScriptedServer([error(500)]) as server:
            run(ask(Client(settings(server, max_retries=8, seed=seed), clock=clock)))
        pauses.append(list(clock.slept))
    assert pauses[0] == pauses[1] != pauses[2]
    assert len(pauses[0]) == 8
    assert all(0 <= pause <= min(30.0, 0.5 * 2**n) for n, pause in enumerate(pauses[0]))


def test_nothing_listens(clock: Any) -> None:
    with ScriptedServer([]) as server:
        pass
    client = Client(settings(server, max_retries=5), clock=clock)
    with pytest.raises(EndpointUnreachable, match=f"nothing can be reached at {server.url}") as stop:
        run(ask(client))
    # A server that is just starting gets two more chances; nobody waits for one that has never been there.
    assert (stop.value.reply.status, stop.value.reply.attempts) == ("connection", 3)


def test_a_server_that_comes_up_late_is_waited_for() -> None:
    class Starting:
        def now(self) -> float:
            return 0.0

        async def sleep(self, seconds: float) -> None:
            if not server.port:
                server.__enter__()

    with ScriptedServer([]) as other:
        port = other.port
    server = ScriptedServer([says()], port=port)
    try:
        (reply,) = run(ask(Client(settings(other, max_retries=5), clock=Starting())))
    finally:
        server.__exit__(None, None, None)
    assert (reply.status, reply.attempts) == ("ok", 2)


def test_an_endpoint_that_goes_away_is_retried_and_does_not_end_the_run(clock: Any) -> None:
    async def body(client: Client) -> Reply:
        assert (await client.complete("read", user("one"))).ok
        server.__exit__(None, None, None)
        reply = await client.complete("read", user("two"))
        await client.aclose()
        return reply

    server = ScriptedServer([says(headers={"Connection": "close"})])
    server.__enter__()
    reply = run(body(Client(settings(server, max_retries=4), clock=clock)))
    assert (reply.status, reply.attempts) == ("connection", 5)


def test_calls_that_wait_learn_that_nothing_is_there(clock: Any) -> None:
    with ScriptedServer([]) as server:
        pass
    client = Client(settings(server, max_concurrency=1, max_retries=0), clock=clock)

    async def body() -> list[Any]:
        calls = (client.complete("read", user(str(number))) for number in range(20))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    stops = run(body())
    assert all(isinstance(stop, EndpointUnreachable) for stop in stops)
    assert sum(stop.reply.attempts for stop in stops) == 1


@pytest.mark.parametrize(
    ("code", "message", "named"),
    [
        (404, "The model `m` does not exist or you do not have access to it.", {"code": "model_not_found"}),
        (404, 'model "m" not found, try pulling it first', {}),
        (400, "Model Not Exist", {}),
        (400, "/chat/completions: Invalid model name passed in model=m. Call `/v1/models`", {}),
        (404, "no such page", {}),
    ],
)
def test_a_model_that_is_not_there_stops_the_run_at_once(code: int, message: str, named: Any, clock: Any) -> None:
    ledger = Ledger()
    with (
        ScriptedServer([error(code, message, **named)]) as server,
        pytest.raises(ModelMissing, match="model 'm' is not found at http") as stop,
    ):
        run(ask(Client(settings(server), clock=clock, ledger=ledger)))
    assert (len(server.requests), stop.value.reply.status) == (1, "no_model")
    assert message in str(stop.value)
    assert ledger.total().calls == 0


@pytest.mark.parametrize(
    "message",
    ["The model does not support temperature", "max_tokens is too large: this model supports at most 4096 tokens"],
)
def test_a_complaint_about_a_parameter_is_none_about_the_model(message: str, clock: Any) -> None:
    with ScriptedServer([error(400, message)]) as server:
        (reply,) = run(ask(Client(settings(server, seed=None), clock=clock)))
    assert reply.status == "bad_request"


def test_a_connection_that_is_not_taken_times_out(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("memtrial.systems.models.llm.pool.connect", never)
    monkeypatch.setattr("memtrial.systems.models.llm.transport._CONNECT_S", 0.05)
    config = ModelSettings(model="m", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(EndpointUnreachable) as stop:
        run(ask(Client(config, clock=clock)))
    assert (stop.value.reply.status, stop.value.reply.detail) == ("timeout", "no connection within 0.05 s")


def test_one_loop_after_another() -> None:
    with ScriptedServer([says()]) as server:
        client = Client(settings(server))
        for number in range(3):
            assert run(client.complete("read", user(str(number)))).ok
        run(client.aclose())


def test_a_cancelled_call_leaves_the_client_usable() -> None:
    async def body(client: Client) -> Reply:
        task = asyncio.create_task(client.complete("read", user("hang")))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reply = await client.complete("read", user("hi"))
        await client.aclose()
        return reply

    with ScriptedServer(lambda seen: Step(act="hang") if seen.prompt == "hang" else says()) as server:
        client = Client(settings(server, max_concurrency=1))
        assert run(body(client)).ok
    assert client.limiter.active == 0


# -- the run stops -----------------------------------------------------------------------------------------------------


def test_exhausted_quota_stops_the_run_at_once(clock: Any) -> None:
    """Shared case lc-06."""
    script = [error(429, "no more", type="insufficient_quota")]

    async def body(client: Client) -> list[Any]:
        calls = (client.complete("read", user(str(number))) for number in range(50))
        out = await asyncio.gather(*calls, return_exceptions=True)
        await client.aclose()
        return out

    with ScriptedServer(script) as server:
        stops = run(body(Client(settings(server), clock=clock)))
    assert {type(stop) for stop in stops} == {QuotaExhausted}
    assert stops[0].reply.status == "quota"
    assert stops[0].reply.attempts == 1
    assert "quota" in str(stops[0])
    assert "run the same command again" in str(stops[0])
    assert len(server.requests) <= 8  # those under way when the first one came back
    assert clock.slept == []


def test_a_missing_key_is_named(clock: Any) -> None:
    with (
        ScriptedServer([error(401)]) as server,
        pytest.raises(AuthRejected, match="set the environment variable MY_KEY"),
    ):
        run(ask(Client(settings(server, api_key_env="MY_KEY"), clock=clock)))


def test_openai_itself_is_never_asked_without_a_key() -> None:
    with pytest.raises(UserError, match="OPENAI_API_KEY is not set"):
        run(ask(Client(ModelSettings(model="gpt-4o-mini"))))


# -- keys are seen nowhere ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [400, 401, 429, 500])
def test_a_server_that_echoes_the_key(code: int, clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def script(seen: Seen) -> Step:
        return error(code, f"rejected: {seen.headers['authorization']} and {KEY!r}", code=KEY, param=KEY)

    path = tmp_path / "calls.jsonl"
    with ScriptedServer(script) as server:
        client = Client(settings(server, max_retries=1), store=CallStore(path), clock=clock)
        try:
            told = repr(run(ask(client))[0])
        except RunStop as stop:
            told = f"{stop!r} {stop} {stop.reply!r} {stop.__cause__!r} {stop.__context__!r}"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    stored = path.read_text() if path.exists() else ""
    for text in (told, stored, repr(client), repr(vars(client))):
        assert KEY not in text
        assert KEY[8:] not in text


@pytest.mark.parametrize("key", ["sk-with space-1234", "sk-umlaut-ä-1234", "sk-line\nbreak-1234"])
def test_a_key_that_no_header_can_carry_is_not_printed(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with ScriptedServer([says()]) as server, pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
        run(ask(Client(settings(server))))
    assert "1234" not in str(caught.value)
    assert server.requests == []


def test_a_password_in_the_address(tmp_path: Path, clock: Any) -> None:
    with ScriptedServer([error(500, "who is aladdin:opensesame?")]) as server:
        url = server.url.replace("//", "//aladdin:opensesame@")
        config = ModelSettings(model="m", base_url=url, max_retries=0)
        client = Client(config, store=CallStore(tmp_path / "calls.jsonl"), clock=clock)
        (reply,) = run(ask(client))
    assert server.requests[0].headers["authorization"] == "Basic YWxhZGRpbjpvcGVuc2VzYW1l"
    assert config.identity()["base_url"] == server.url
    for text in (repr(reply), repr(client), (tmp_path / "calls.jsonl").read_text()):
        assert "opensesame" not in text


def test_a_query_in_the_address_is_sent_and_its_secret_not_shown(clock: Any) -> None:
    with ScriptedServer([error(400, "what is opensesame?")]) as server:
        config = ModelSettings(model="m", base_url=f"{server.url}?api-version=2&api-key=opensesame")
        client = Client(config, clock=clock)
        (reply,) = run(ask(client))
    assert server.requests[0].path == "/v1/chat/completions?api-version=2&api-key=opensesame"
    assert config.public_url == f"{server.url}?api-version=2"
    assert "opensesame" not in f"{reply!r} {client!r}"


@pytest.mark.parametrize("values", [{"api_key_env": KEY}, {"base_url": f"ftp://u:{KEY}@host"}])
def test_a_key_in_the_wrong_place_is_refused_without_being_quoted(values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"environment variable|address") as caught:
        ModelSettings.model_validate({"model": "m", **values})
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "pasted", ["PASTEDKEY1234567890abcdefPASTED", "0f9c2d11a7b34c55", "AKIA1234567890EXAMPLE", "gsk_a1B2c3D4", "sk-1"]
)
def test_what_looks_like_a_key_is_no_name_of_a_variable(pasted: str) -> None:
    with pytest.raises(ValueError, match="never the key"):
        ModelSettings(model="m", api_key_env=pasted)
    assert ModelSettings(model="m", api_key_env="MY_AZURE_KEY_2024").api_key_env == "MY_AZURE_KEY_2024"


# -- record and replay -------------------------------------------------------------------------------------------------


def test_a_recorded_call_is_replayed_with_its_own_times(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    script = [says("not JSON"), says('so: {"ok": true}', top={"model": "other"}, delay_s=0.05)]
    with ScriptedServer(script) as server:
        config = settings(server)
        (first,) = run(ask(Client(config, store=CallStore(path), replay="prefer"), schema=Verdict))
    # The server is gone, and so are the key and the network.
    (again,) = run(ask(Client(config, store=CallStore(path), replay="only"), schema=Verdict))
    assert first.ok
    assert again.replayed
    assert again.recorded_ms == pytest.approx(first.service_ms, abs=0.01)
    assert again.parsed == first.parsed == Verdict(ok=True)
    for name in ("status", "text", "usage", "detail", "attempts", "model", "flags"):
        assert getattr(again, name) == getattr(first, name), name
    assert first.flags == ("repaired", "model_mismatch")


def test_failures_are_replayed_as_failures_and_asked_again_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ScriptedServer([says(None, message={"refusal": "no"}), says("yes")]) as server:
        config = settings(server)
        (first,) = run(ask(Client(config, store=CallStore(path), replay="prefer")))
        (only,) = run(ask(Client(config, store=CallStore(path), replay="only")))
        (second,) = run(ask(Client(config, store=CallStore(path), replay="prefer")))
    assert [first.status, only.status, second.status] == ["refused", "refused", "ok"]
    assert (only.replayed, second.replayed) == (True, False)


def test_what_is_not_recorded_is_an_outcome(tmp_path: Path) -> None:
    for store in (None, CallStore(tmp_path / "calls.jsonl")):
        (reply,) = run(ask(Client(ModelSettings(model="m"), store=store, replay="only")))
        assert reply.status == "not_recorded"
        assert reply.detail


@pytest.mark.parametrize("replay", ["off", "prefer"])
def test_the_same_question_is_paid_for_once(replay: Any, tmp_path: Path) -> None:
    ledger = Ledger()
    with ScriptedServer([says(delay_s=0.05)]) as server:
        client = Client(settings(server), store=CallStore(tmp_path / "c.jsonl"), ledger=ledger, replay=replay)
        replies = run(ask(client, "a", "a", "b", "a"))
    assert sorted(seen.prompt for seen in server.requests) == ["a", "b"]
    assert [reply.replayed for reply in replies].count(True) == 2
    assert ledger.total().calls == 4
    assert ledger.total().replayed == 2


def test_off_asks_what_an_earlier_run_has_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with ScriptedServer([says("one"), says("two")]) as server:
        texts = [run(ask(Client(settings(server), store=CallStore(path), replay="off")))[0].text for _ in range(2)]
    assert texts == ["one", "two"]


def test_repeats_share_at_temperature_zero_alone(tmp_path: Path) -> None:
    for temperature, requests in ((0.0, 1), (0.7, 3)):
        with ScriptedServer([says()]) as server:
            store = CallStore(tmp_path / f"{temperature}.jsonl")
            for repeat in range(3):
                config = settings(server, temperature=temperature)
                run(ask(Client(config, store=store, replay="prefer"), repeat=repeat))
            assert len(server.requests) == requests


def test_cache_hits_do_not_move_the_limiter(tmp_path: Path) -> None:
    store = CallStore(tmp_path / "c.jsonl")
    with ScriptedServer([says()]) as server:
        run(ask(Client(settings(server), store=store, replay="prefer"), "a"))
        client = Client(settings(server), store=store, replay="prefer")
        run(ask(client, *["a"] * 200))
        assert (client.limiter.limit, len(server.requests)) == (8, 1)


# -- money -------------------------------------------------------------------------------------------------------------


def test_tokens_and_money_are_counted_with_repairs(tmp_path: Path) -> None:
    ledger = Ledger()
    with ScriptedServer([says("no"), says('{"ok": true}')]) as server:
        config = settings(server, price=Price(prompt=1e6, completion=0))
        run(ask(Client(config, ledger=ledger), schema=Verdict, phase="ingest", trial="t"))
    total = ledger.total(role="read", phase="ingest", trial="t", model="m")
    assert total.prompt == 2 * USAGE["prompt_tokens"]
    assert total.usd == 24.0


def test_the_budget_ends_the_run_before_it_is_passed() -> None:
    ledger = Ledger()

    async def body(client: Client) -> list[Any]:
        out: list[Any] = []
        for number in range(10):
            try:
                out.append(await client.complete("read", user(str(number))))
            except BudgetSpent as stop:
                out.append(stop)
        await client.aclose()
        return out

    with ScriptedServer([says()]) as server:
        price = Price(prompt=1e6, completion=1e6)  # one dollar a token: 15 a call, at most 81 prompt + 20
        budget = Budget(150.0)
        out = run(body(Client(settings(server, price=price, max_tokens=20), ledger=ledger, budget=budget)))
    assert [isinstance(one, Reply) for one in out] == [True] * 4 + [False] * 6
    assert out[-1].reply.status == "budget"
    assert len(server.requests) == 4
    assert budget.spent_usd == ledger.total().usd == 60.0


def test_a_budget_needs_a_price() -> None:
    with pytest.raises(UserError, match="price"):
        Client(ModelSettings(model="nobody-knows"), budget=Budget(1.0))


def test_a_timeout_counts_as_its_worst_case_for_the_budget(clock: Any) -> None:
    budget = Budget(1000.0)
    with ScriptedServer([Step(act="hang")]) as server:
        config = settings(server, price=Price(prompt=1e6, completion=1e6), timeout_s=0.1, max_retries=0)
        run(ask(Client(config.model_copy(update={"max_tokens": 20}), budget=budget, clock=clock)))
    assert budget.spent_usd > 20


# -- what was learnt ---------------------------------------------------------------------------------------------------


def test_what_an_endpoint_does_not_know_is_remembered() -> None:
    def script(seen: Seen) -> Step:
        if seen.body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "json_schema is not supported")
        if "max_tokens" in seen.body:
            return error(400, "use 'max_completion_tokens' instead of max_tokens")
        return says('{"ok": true}')

    with ScriptedServer(script) as server:
        for _ in range(3):
            (reply,) = run(ask(Client(settings(server)), schema=Verdict))
            assert reply.ok
    assert len(server.requests) == 5
    assert server.requests[-1].body["response_format"] == {"type": "json_object"}
    assert server.requests[-1].body["max_completion_tokens"] == 1024
    assert "JSON schema" in server.requests[-1].body["messages"][0]["content"]


def test_twice_the_limit_is_asked_for_after_a_cut() -> None:
    with ScriptedServer([says('{"ok": tr', finish="length"), says('{"ok": true}')]) as server:
        run(ask(Client(settings(server, max_tokens=100)), schema=Verdict))
    assert [seen.body["max_tokens"] for seen in server.requests] == [100, 200]


# -- embeddings --------------------------------------------------------------------------------------------------------


def vectors(seen: Seen) -> Step:
    texts = seen.body["input"]
    rows = [{"index": i, "embedding": [len(text), 0.1, -1]} for i, text in enumerate(texts)]
    return Step(body={"data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 7 * len(texts), "total_tokens": 7}})


def test_vectors_in_order_and_recorded(tmp_path: Path) -> None:
    ledger = Ledger()
    texts = [f"{'x' * number}" for number in range(150)]

    async def body(client: Client) -> list[list[float]]:
        try:
            return await client.embed(texts)
        finally:
            await client.aclose()

    store = CallStore(tmp_path / "c.jsonl")
    with ScriptedServer(vectors) as server:
        config = settings(server)
        first = run(body(Client(config, store=store, ledger=ledger, replay="prefer")))
    again = run(body(Client(config, store=store, replay="only")))
    assert [row[0] for row in first[1:]] == list(range(1, 150))
    assert first == again
    assert len(server.requests) == 3
    assert ledger.total().prompt > 0
    assert ledger.total().completion == 0


@pytest.mark.parametrize(
    "step",
    [Step(body={"data": []}), Step(body=b"<html>"), says(), Step(body={"data": [{"index": 0, "embedding": []}]})],
)
def test_no_vectors(step: Step, clock: Any) -> None:
    with ScriptedServer([step]) as server, pytest.raises(ModelCallError, match="bad_reply"):
        run(Client(settings(server, max_retries=1), clock=clock).embed(["a"]))


def test_vectors_that_are_not_recorded() -> None:
    with pytest.raises(ModelCallError, match="not_recorded"):
        run(Client(ModelSettings(model="m"), replay="only").embed(["a"]))


def test_the_package_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(UserError, match=r"memtrial\[models\]"):
        run(ask(Client(ModelSettings(model="m", base_url="http://127.0.0.1:9/v1"))))
