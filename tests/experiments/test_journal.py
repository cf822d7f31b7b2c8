from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.datasets.errors import UserError
from memtrial.experiments.journal import Journal, JournalState, Measure, read_journal

RESULT = {"unit": "u", "dataset": "d", "corpus_id": "c", "question_id": "问", "text": "答案是十二"}


def everything(_: str) -> bool:
    return True


def read(path: Path) -> JournalState:
    return read_journal(path, everything)


def write(path: Path, count: int) -> list[bytes]:
    journal = Journal(path)
    journal.append("segment", {"at": "2026-01-01T00:00:00+00:00"}, 0.0)
    for i in range(count):
        journal.append("result", {"key": f"k{i}", **RESULT}, i + 0.5)
    journal.append("measure", Measure(unit="u", repeat=0, corpus_id="c", upto=9, ingest_s=1.0).model_dump(), count)
    journal.close()
    return path.read_bytes().splitlines(keepends=True)


def test_round_trip(tmp_path: Path) -> None:
    write(tmp_path / "j", 3)
    state = read(tmp_path / "j")
    assert list(state.results) == ["k0", "k1", "k2"]
    assert state.results["k1"].text == "答案是十二"
    assert state.measures["u", 0, "c"].ingest_s == 1.0
    assert (state.wall_s, state.corrupt, state.torn, state.duplicates) == (3.0, [], False, 0)


def test_a_missing_journal_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path / "nothing") == JournalState()


def test_wall_time_is_the_sum_of_segments(tmp_path: Path) -> None:
    write(tmp_path / "j", 3)
    write(tmp_path / "j", 5)
    state = read(tmp_path / "j")
    assert state.wall_s == 3.0 + 5.0
    assert len(state.segments) == 2


def test_the_first_result_of_a_key_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append("result", {"key": "k", **RESULT, "text": "first"}, 0)
    journal.append("result", {"key": "k", **RESULT, "text": "second"}, 0)
    journal.close()
    state = read(tmp_path / "j")
    assert (state.results["k"].text, state.duplicates) == ("first", 1)


def test_results_outside_the_plan_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path / "j", 3)
    state = read_journal(tmp_path / "j", {"k1"}.__contains__)
    assert (list(state.results), state.foreign) == (["k1"], 2)


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"not json\n",
        b"[]\n",
        b"null\n",
        b'"result"\n',
        b"{}\n",
        b'{"type":"result"}\n',
        b'{"type":"result","key":1,"unit":"u"}\n',
        b'{"type":"result","key":{"a":1},"unit":"u"}\n',
        b'{"type":"result","key":"k1","unit":"u","dataset":"d","corpus_id":"c","question_id":"q","surprise":1}\n',
        b'{"type":"measure","unit":"u"}\n',
        b'{"type":"segment"}\n',
        b'{"type":"future","s":1}\n',
        b'{"type":"result","s":"soon","key":"k1"}\n',
        b"\x00\xff\xfe\n",
        b'{"type":"result","key":"k1"' + b"[" * 2000 + b"\n",
    ],
)
def test_a_corrupt_line_is_counted_and_the_rest_is_read(tmp_path: Path, bad: bytes) -> None:
    lines = write(tmp_path / "j", 3)
    (tmp_path / "j").write_bytes(b"".join([*lines[:2], bad, *lines[2:]]))
    state = read(tmp_path / "j")
    assert state.corrupt == [3]
    assert list(state.results) == ["k0", "k1", "k2"]


def test_a_bad_line_does_not_shadow_a_good_one_of_the_same_key(tmp_path: Path) -> None:
    lines = write(tmp_path / "j", 1)
    row = orjson.loads(lines[1])
    row["latency_ms"] = "slow"
    (tmp_path / "j").write_bytes(lines[0] + orjson.dumps(row) + b"\n" + lines[1])
    state = read(tmp_path / "j")
    assert (list(state.results), state.corrupt, state.duplicates) == (["k0"], [2], 0)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_anywhere_only_the_cut_line_is_lost_and_appending_goes_on(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / f"j{data.draw(st.integers(0, 10**9))}"
    path.unlink(missing_ok=True)
    content = b"".join(write(path, 4))
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    whole = content[:cut].count(b"\n")
    state = read(path)
    expected = [f"k{i}" for i in range(min(4, max(0, whole - 1)))]
    assert (list(state.results), state.corrupt) == (expected, [])
    assert state.torn == (cut > 0 and content[cut - 1 : cut] != b"\n")
    journal = Journal(path)
    journal.append("result", {"key": "after", **RESULT}, 0)
    journal.close()
    again = read(path)
    assert (list(again.results), again.corrupt, again.torn) == ([*expected, "after"], [], False)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=200))
def test_any_bytes_can_be_read(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "j").write_bytes(junk)
    state = read(tmp_path / "j")
    assert len(state.corrupt) == junk.count(b"\n") and not state.results


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this platform")
def test_a_full_disk_is_one_sentence() -> None:
    journal = Journal(Path("/dev/full"))
    with pytest.raises(UserError, match="cannot write /dev/full: No space left on device; make room and run the same"):
        journal.append("result", {"key": "k", **RESULT}, 0)
    journal.close()


def test_unwritable(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write .*: Is a directory"):
        Journal(tmp_path)
    with pytest.raises(UserError, match="is not a regular file"):
        read(tmp_path)


def test_one_line_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "j")
    written: list[bytes] = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: written.append(bytes(data)) or real(fd, data))
    journal.append("result", {"key": "k", **RESULT, "text": "x" * 100_000}, 0)
    assert len(written) == 1 and written[0].endswith(b"\n")
