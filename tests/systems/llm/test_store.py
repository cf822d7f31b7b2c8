from __future__ import annotations

import asyncio
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore, StoredCall, call_key

ASK = [{"role": "user", "content": "same"}]
BAD = (
    "refused", "filtered", "truncated", "empty", "tool_call", "invalid", "rate_limited", "quota", "timeout", "connection",
    "server_error", "bad_reply", "auth", "bad_request",
)  # fmt: skip


def key_of(messages: Any = ASK, schema: Any = None, repeat: int = 0, **changes: Any) -> str:
    return call_key(ModelSettings(**{"model": "model-a", **changes}).identity(), messages, schema, repeat)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


# -- keys ----------------------------------------------------------------------------------------------------------


def test_everything_that_decides_a_reply_is_in_the_key() -> None:
    keys = [
        key_of(),
        key_of(model="model-b"),
        key_of(base_url="http://127.0.0.1:1/v1"),
        key_of(base_url="http://127.0.0.1:1/v1?api-version=2"),
        key_of(temperature=0.7),
        key_of(seed=1),
        key_of(seed=None),
        key_of(max_tokens=10),
        key_of([{"role": "system", "content": "same"}]),
        key_of([*ASK, {"role": "user", "content": ""}]),
        key_of(schema={"type": "object"}),
        key_of(schema={}),
    ]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)


def test_order_of_names_number_types_and_credentials_are_not_in_the_key() -> None:
    one = call_key({"model": "m", "temperature": 0, "base_url": "https://u:secret@Host/v1/"}, ASK, {"a": 1, "b": 2}, 0)
    two = call_key({"base_url": "https://host/v1", "temperature": 0.0, "model": "m"}, ASK, {"b": 2.0, "a": 1}, 0)
    assert one == two
    assert call_key({"model": "m", "flag": True}, ASK, None, 0) != call_key({"model": "m", "flag": 1}, ASK, None, 0)


def test_repeats_share_at_temperature_0_only() -> None:
    assert key_of(repeat=0) == key_of(repeat=3)
    assert key_of(repeat=0, temperature=0.1) != key_of(repeat=3, temperature=0.1)
    assert call_key({"model": "m"}, ASK, None, 0) != call_key({"model": "m"}, ASK, None, 1)


def test_lone_surrogates_make_a_key() -> None:
    assert key_of([{"role": "user", "content": "\ud800"}]) != key_of([{"role": "user", "content": "?"}])


def test_a_second_model_never_gets_the_first_ones_replies(path: Path) -> None:
    store = CallStore(path)
    store.put(key_of(model="model-a"), StoredCall("ok", "from a"))
    assert store.get(key_of(model="model-b")) is None
    assert store.get(CallStore.key(ModelSettings(model="model-a").identity(), ASK, None, 0)) is not None


# -- one store -----------------------------------------------------------------------------------------------------

CALLS = st.builds(
    StoredCall,
    status=st.just("ok"),
    text=st.text(),
    finish_reason=st.sampled_from(["", "stop"]),
    usage=st.none() | st.builds(Usage, *[st.integers(0, 10**9)] * 4, st.booleans()),
    service_ms=st.none() | st.floats(0, 1e9),
    wall_ms=st.floats(0, 1e9),
    attempts=st.integers(0, 9),
    flags=st.lists(st.text(min_size=1), max_size=3).map(tuple),
    model=st.text(),
    echoed=st.text(),
    role=st.text(),
    detail=st.text(),
)


@settings(deadline=None)
@given(calls=st.lists(CALLS, min_size=1, max_size=5))
def test_what_was_put_is_what_is_got(tmp_path_factory: pytest.TempPathFactory, calls: list[StoredCall]) -> None:
    path = tmp_path_factory.mktemp("store") / "calls.jsonl"
    store = CallStore(path)
    put = [store.put(f"k{i}", call) for i, call in enumerate(calls)]
    for reader in (store, CallStore(path)):
        assert [reader.get(f"k{i}") for i in range(len(calls))] == put
        assert list(reader.calls()) == put
        reader.close()  # hundreds of examples would hold hundreds of files
    for before, after in zip(calls, put, strict=True):
        assert (before.text, before.usage, before.flags) == (after.text, after.usage, after.flags)
        assert after.at.endswith("+00:00") and after.wall_ms == pytest.approx(before.wall_ms, abs=1e-3)


def test_surrogates_in_a_reply_are_replaced_rather_than_lost(path: Path) -> None:
    store = CallStore(path)
    put = store.put("k", StoredCall("ok", "a\ud800b", flags=("\udfff",)))
    assert put.text == "a?b" and CallStore(path).get("k") == put


@pytest.mark.parametrize("status", BAD)
def test_only_good_replies_are_served(path: Path, status: str) -> None:
    store = CallStore(path)
    store.put("k", StoredCall(status, "sorry", usage=Usage(10, 0, 2), detail="why"))
    for one in (store, CallStore(path)):
        assert one.get("k") is None
        kept = one.outcome("k")
        assert kept is not None and (kept.status, kept.text, kept.detail) == (status, "sorry", "why")
        assert len(one) == 1 and next(one.calls()).usage == Usage(10, 0, 2)
    store.put("k", StoredCall("ok", "fine"))
    good = store.get("k")
    assert good is not None and good == store.outcome("k") and good.text == "fine"
    store.put("k", StoredCall(status, "sorry again"))
    assert store.get("k") == good == CallStore(path).outcome("k")


def test_the_first_good_reply_stands(path: Path) -> None:
    store = CallStore(path)
    first = store.put("k", StoredCall("ok", "first", usage=Usage(1)))
    assert store.put("k", StoredCall("ok", "second", usage=Usage(2))) == first
    assert CallStore(path).get("k") == first
    assert [(c.status, c.text, c.usage) for c in store.calls()] == [
        ("ok", "first", Usage(1)),
        ("duplicate", "", Usage(2)),
    ]


@pytest.mark.parametrize("status", ["budget", "not_recorded"])
def test_what_was_never_sent_is_not_stored(path: Path, status: str) -> None:
    CallStore(path).put("k", StoredCall(status))
    assert not path.exists()


def test_keys_and_credentials_never_reach_the_file(path: Path) -> None:
    secret = "sk-live-0123456789abcdef"
    store = CallStore(path, secrets=[secret, "EMPTY"])
    url = f"https://user:{secret}@host:8000/v1?api-key={secret}#{secret}"
    put = store.put("k", StoredCall("auth", f"Bad key {secret}", base_url=url, detail=f"{secret}!", flags=(secret,)))
    store.put("j", StoredCall("ok", "the box is EMPTY"))
    assert put.base_url == "https://host:8000/v1" and put.detail == "[key]!"
    assert secret.encode() not in path.read_bytes() and b"EMPTY" in path.read_bytes()
    store.put("i", StoredCall("ok", base_url="http://[broken:secret@"))
    assert b"broken" not in path.read_bytes()


def test_a_missing_recording_is_told_in_one_sentence(path: Path) -> None:
    said = CallStore(path).missing("read", "gpt-x")
    assert "'gpt-x'" in said and "'read'" in said and str(path) in said and "\n" not in said


def test_a_store_is_read_from_a_folder_that_cannot_be_written(path: Path) -> None:
    CallStore(path).put("k", StoredCall("ok", "kept"))
    path.chmod(stat.S_IRUSR)
    store = CallStore(path)
    assert store.get("k") is not None and store._writable is False


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot"):
        CallStore(tmp_path).put("k", StoredCall("ok"))


def test_a_closed_store_opens_again_by_itself(path: Path) -> None:
    store = CallStore(path)
    store.put("k", StoredCall("ok", "kept"))
    store.close()
    store.close()
    assert store.get("k") is not None
    store.put("j", StoredCall("ok", "more"))
    assert len(store) == 2


def test_a_full_disk_leaves_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = CallStore(path)
    store.put("k", StoredCall("ok", "kept"))
    real = os.write

    def short(fd: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return real(fd, data[: len(data) - 10])

    monkeypatch.setattr("memtrial.systems.models.llm.store.os.write", short)
    with pytest.raises(UserError, match="No space left"):
        store.put("j", StoredCall("ok", "lost"))
    monkeypatch.undo()
    assert path.read_bytes().endswith(b"\n") and store.get("j") is None
    store.put("j", StoredCall("ok", "kept too"))
    assert len(CallStore(path)) == 2


# -- torn and broken files -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(cut=st.integers(0, 10_000), texts=st.lists(st.text(), min_size=1, max_size=6))
def test_cut_at_any_byte(tmp_path_factory: pytest.TempPathFactory, cut: int, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("store") / "calls.jsonl"
    store, ends = CallStore(path), []
    for i, text in enumerate(texts):
        store.put(f"k{i}", StoredCall("ok", text))
        ends.append(path.stat().st_size)
    cut %= ends[-1] + 1
    os.truncate(path, cut)
    whole = sum(end <= cut for end in ends)
    again, reader, fresh = CallStore(path), CallStore(path), CallStore(path)
    assert [again.get(f"k{i}") is not None for i in range(len(texts))] == [i < whole for i in range(len(texts))]
    assert (len(again), again.corrupt) == (whole, 0)
    put = again.put("new", StoredCall("ok", "after"))
    assert again.get("new") == reader.get("new") == fresh.get("new") == put
    for opened in (store, again, reader, fresh):
        opened.close()
    assert path.read_bytes().count(b"\n") == whole + 1


def test_lines_that_cannot_be_read_are_passed_over(path: Path) -> None:
    store = CallStore(path)
    store.put("a", StoredCall("ok", "one"))
    good = path.read_bytes()
    odd = [b"\x00\xff", b"[]", b"{}", b'{"key":1,"status":"ok"}', b'{"key":"k","status":"ok","later":1}', b"", b"null"]
    path.write_bytes(b"\n".join([*odd, good]) + good.replace(b'"a"', b'"b"'))
    again = CallStore(path)
    assert (len(again), again.corrupt) == (2, 6)
    assert again.get("a") is not None and again.get("b") is not None


def test_a_file_emptied_under_an_open_store_is_read_anew(path: Path) -> None:
    store = CallStore(path)
    for key in ("k", "j"):
        store.put(key, StoredCall("ok", "before"))
    os.truncate(path, 0)
    assert store.get("k") is None
    put = store.put("j", StoredCall("ok", "after"))
    assert store.get("j") == put and store.get("k") is None and len(store) == 1


def test_lines_longer_than_a_block(path: Path) -> None:
    store = CallStore(path)
    put = [store.put(f"k{i}", StoredCall("ok", f"{i}" * 1_500_000)) for i in range(3)]
    again = CallStore(path)
    assert [again.get(f"k{i}") for i in range(3)] == put


# -- several at once -----------------------------------------------------------------------------------------------


def test_what_another_store_appended_is_found_on_a_miss(path: Path) -> None:
    one, two = CallStore(path), CallStore(path)
    assert one.get("k") is two.get("k") is None
    put = two.put("k", StoredCall("ok", "theirs"))
    assert one.get("k") == put
    assert one.put("k", StoredCall("ok", "mine")) == put


def _write(path: Path, who: int, inherited: CallStore) -> None:
    own = CallStore(path)
    for i in range(100):
        store = own if i % 2 else inherited
        store.put(f"own-{who}-{i}", StoredCall("ok", f"{who} {i} " * 50))
        store.put(f"shared-{i}", StoredCall("ok", f"by {who}"))


def test_several_processes_write_one_file(path: Path) -> None:
    parent = CallStore(path)
    parent.put("first", StoredCall("ok", "parent"))
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write, args=(path, who, parent)) for who in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    fresh = CallStore(path)
    assert (len(parent), parent.corrupt, len(fresh)) == (601, 0, 601)
    statuses = [call.status for call in fresh.calls()]
    assert (statuses.count("ok"), statuses.count("duplicate")) == (401, 200)
    for who in range(3):
        for i in range(100):
            call = parent.get(f"own-{who}-{i}")
            assert call is not None and call.text == f"{who} {i} " * 50
            assert parent.get(f"shared-{i}") == fresh.get(f"shared-{i}")


def test_the_same_question_asked_at_the_same_time_is_paid_once(path: Path) -> None:
    async def go() -> None:
        store, asked = CallStore(path), 0

        async def ask() -> StoredCall:
            nonlocal asked
            asked += 1
            await asyncio.sleep(0)
            return StoredCall("ok", "once")

        found = await asyncio.gather(*[store.once("k", ask) for _ in range(20)])
        assert asked == 1 and [free for _, free in found].count(False) == 1
        assert len({call for call, _ in found}) == 1
        assert (await store.once("k", ask))[1] is True and asked == 1
        assert len(store) == 1

    asyncio.run(go())


def test_a_failure_is_shared_by_those_who_waited_and_asked_again_by_the_next(path: Path) -> None:
    async def go() -> None:
        store, asked = CallStore(path), 0

        async def ask() -> StoredCall:
            nonlocal asked
            asked += 1
            await asyncio.sleep(0)
            return StoredCall("timeout" if asked == 1 else "ok")

        found = await asyncio.gather(store.once("k", ask), store.once("k", ask))
        assert [call.status for call, _ in found] == ["timeout", "timeout"] and asked == 1
        assert (await store.once("k", ask))[0].status == "ok" and asked == 2

    asyncio.run(go())


@pytest.mark.parametrize("how", ["cancelled", "raised"])
def test_when_the_one_who_asks_drops_out_another_asks(path: Path, how: str) -> None:
    async def go() -> None:
        store, asked = CallStore(path), 0

        async def ask() -> StoredCall:
            nonlocal asked
            asked += 1
            if asked == 1:
                await asyncio.sleep(0.01 if how == "raised" else 60)
                raise RuntimeError("broken")
            return StoredCall("ok", "second")

        first, second, third = (asyncio.create_task(store.once("k", ask)) for _ in range(3))
        await asyncio.sleep(0)
        if how == "cancelled":
            first.cancel()
        done = await asyncio.gather(first, second, third, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError if how == "cancelled" else RuntimeError)
        assert [call.text for call, _ in done[1:]] == ["second", "second"] and asked == 2

    asyncio.run(go())


def test_one_who_waits_can_be_cancelled_alone(path: Path) -> None:
    async def go() -> None:
        store, gate = CallStore(path), asyncio.Event()

        async def ask() -> StoredCall:
            await gate.wait()
            return StoredCall("ok", "kept")

        first, second = asyncio.create_task(store.once("k", ask)), asyncio.create_task(store.once("k", ask))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.set()
        assert (await first)[0].text == "kept"

    asyncio.run(go())


def test_without_locks_a_torn_tail_costs_its_own_line_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(fd: int, how: int) -> None:
        raise OSError(37, "No locks available")

    CallStore(path).put("a", StoredCall("ok", "one"))
    with path.open("ab") as file:
        file.write(b'{"key":"torn","stat')
    monkeypatch.setattr("memtrial.systems.models.llm.store.fcntl.flock", no_locks)
    put = CallStore(path).put("b", StoredCall("ok", "two"))
    again = CallStore(path)
    assert again.get("a") is not None and again.get("b") == put
    assert (len(again), again.corrupt) == (2, 1)
