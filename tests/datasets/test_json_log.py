from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.datasets.check import check_dataset
from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.fields import parse_time
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Dataset, Message

SEED = {
    "message_id": "123",
    "timestamp": "2024-05-15T14:30:00Z",
    "sender": "用户A",
    "receiver": "用户B",
    "content": "关于Q3的预算，我觉得营销部分可以再增加10%",
    "conversation_id": "conv_456",
}


def message(ident: str, time: Any = "2024-01-01T10:00:00Z", **more: Any) -> dict[str, Any]:
    return {"message_id": ident, "timestamp": time, "sender": "a", "receiver": "b", "content": f"text {ident}", **more}


def load(path: Path, **options: Any) -> Dataset:
    return load_dataset({"name": "json", "path": str(path), **options})


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def messages_of(dataset: Dataset) -> list[Message]:
    return [m for corpus in dataset.corpora for m in corpus.messages()]


def test_bare_message_list_of_the_seed_loads_as_it_is(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "chat_logs.json", [SEED]))
    (found,) = messages_of(dataset)
    assert found == Message(
        id="123",
        conversation_id="conv_456",
        session_id="conv_456#s1",
        tenant_id="default",
        sender="用户A",
        recipient="用户B",
        timestamp=datetime(2024, 5, 15, 14, 30, tzinfo=UTC),
        content=SEED["content"],
    )


def test_sessions_are_cut_at_four_hours_of_silence(tmp_path: Path) -> None:
    times = ["2024-01-01T08:00:00Z", "2024-01-01T11:59:59Z", "2024-01-01T15:59:59Z"]
    dataset = load(write(tmp_path / "log.json", [message(str(i), t) for i, t in enumerate(times)]))
    assert [m.session_id for m in messages_of(dataset)] == ["log#s1", "log#s1", "log#s2"]


def test_bom_crlf_blank_lines_and_a_separator_inside_a_string(tmp_path: Path) -> None:
    lines = [json.dumps(message("m1", content="a\u2028b"), ensure_ascii=False), "", json.dumps(message("m2"))]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert [(m.id, m.content) for m in messages_of(load(path))] == [("m1", "a\u2028b"), ("m2", "text m2")]


def test_json_lines_are_recognised_without_their_suffix(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text("\n".join(json.dumps(message(str(i))) for i in range(3)), encoding="utf-8")
    assert len(messages_of(load(path))) == 3


def test_lone_surrogates_are_replaced_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    row = json.dumps(message("m1", content="@")).replace("@", r"look \ud83d, ok \ud83d\ude00")
    path.write_text(f"[{row}]", encoding="utf-8")
    dataset = load(path)
    assert messages_of(dataset)[0].content == "look \ufffd, ok \U0001f600"
    assert [n.detail for n in dataset.notes if n.kind == "lone_surrogate"] == ["1 lone surrogates replaced by U+FFFD"]
    assert len(dataset.fingerprint()) == 64


def test_naive_times_are_utc_and_noted_and_zoned_ones_converted(tmp_path: Path) -> None:
    rows = [message("1", "2024-01-01 10:00"), message("2", "2024-01-01T20:00:00+08:00"), message("3", 1704117600)]
    dataset = load(write(tmp_path / "log.json", rows))
    assert [m.timestamp.hour for m in messages_of(dataset)] == [10, 12, 14]
    assert [n.detail[:2] for n in dataset.notes if n.kind == "naive_time"] == ["1 "]


def test_source_order_beats_zoneless_clocks_that_disagree(tmp_path: Path) -> None:
    stamps = ["2024-01-01 22:40", "2024-01-01 19:41", "2024-01-01 22:43", "2024-01-01 19:44"]
    dataset = load(write(tmp_path / "log.json", [message(str(i), t) for i, t in enumerate(stamps)]))
    found = messages_of(dataset)
    assert [m.id for m in found] == ["0", "1", "2", "3"]
    assert found[1].extra["stated_time"] == "2024-01-01T19:41:00+00:00"
    assert [n.detail[:2] for n in dataset.notes if n.kind == "clock_ran_back"] == ["2 "]


def test_zoned_times_are_sorted_and_equal_ones_keep_source_order(tmp_path: Path) -> None:
    stamps = [("c", 12), ("b", 10), ("a", 10), ("d", 13)]
    rows = [message(ident, f"2024-01-01T{hour}:00:00Z") for ident, hour in stamps]
    assert [m.id for m in messages_of(load(write(tmp_path / "log.json", rows)))] == ["b", "a", "c", "d"]


def test_a_log_written_newest_first_is_turned_round(tmp_path: Path) -> None:
    stamps = ["2024-01-01 12:00", "2024-01-01 11:00", "2024-01-01 11:00", "2024-01-01 10:00"]
    dataset = load(write(tmp_path / "log.json", [message(str(i), t) for i, t in enumerate(stamps)]))
    assert [m.id for m in messages_of(dataset)] == ["3", "2", "1", "0"]


def test_questions_in_a_second_file(tmp_path: Path) -> None:
    log = write(tmp_path / "log.json", [message("m1"), message("m2", "2024-01-02T10:00:00Z")])
    questions = [
        {"id": "q1", "question": "How many?", "answer": 9, "evidence": ["m1"], "asked_at": "2024-01-03T00:00:00Z"},
        {"id": "q2", "question": "Who?", "answerable": False},
    ]
    dataset = load(log, questions=str(write(tmp_path / "qa.json", questions)), language="de")
    first, second = dataset.corpora[0].questions
    assert (first.answers, first.answer_type, first.conversation_id, first.language) == (("9",), "number", "log", "de")
    assert (second.answerable, second.answers) == (False, ())
    assert second.asked_at == datetime(2024, 1, 2, 10, 1, tzinfo=UTC)


def test_a_folder_is_one_memory_unless_files_name_their_corpus(tmp_path: Path) -> None:
    for name in ("a", "b"):
        talk = {"id": name, "tenant_id": f"t-{name}", "messages": [message(f"{name}1")]}
        write(tmp_path / f"{name}.json", {"conversation": talk, "questions": []})
    assert [c.tenants for c in load(tmp_path).corpora] == [("t-a", "t-b")]
    talk = {"id": "c", "messages": [message("c1")]}
    write(tmp_path / "c.json", {"corpus": "other", "conversation": talk})
    assert [len(c.conversations) for c in load(tmp_path).corpora] == [2, 1]


def test_display_names_come_from_participants(tmp_path: Path) -> None:
    people = [{"id": "a", "name": "Ann", "role": "user"}, {"id": "b", "name": "Bo"}]
    talk = {"id": "c", "participants": people, "messages": [message("m1")]}
    (found,) = messages_of(load(write(tmp_path / "c.json", {"conversation": talk})))
    assert dict(found.extra) == {"sender_name": "Ann", "sender_role": "user", "recipient_name": "Bo"}


def test_an_unknown_field_is_left_out_and_noted(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "log.json", [message("m1", has_answer=True)]))
    assert dict(messages_of(dataset)[0].extra) == {}
    assert any("has_answer" in note.detail for note in dataset.notes)


QUESTION = {"id": "q1", "text": "Where?", "answers": ["Rome"], "evidence": ["m1"], "asked_at": "2024-02-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("log", "sentence_parts"),
    [
        ([message("m1", "2022/07/O5 (Tue) 09:20")], ["log.json, [0]", "timestamp", "2022/07/O5", "2024-05-15T14:30:00Z"]),
        ([message("m1"), message("m1")], ["log.json, [1]", "'m1' is used twice", "log.json, [0]"]),
        ([{"message_id": "m1", "timestamp": 0, "content": "x"}], ["[0]", "'sender' is missing"]),
        ([message("m1", content=None)], ["'content' is None", "a string"]),
        ([message("m1", content=["x"])], ["'content' is ['x']", "a string"]),
        ([message("")], ["'message_id' is ''", "non-empty string or an integer"]),
        ([message("m1", "9999-12-31T23:59:59-12:00")], ["timestamp", "9999-12-31T23:59:59-12:00"]),
        ([message("m1", True)], ["'timestamp' is True"]),
        ([message("m1", extra=3)], ["'extra' is 3", "a JSON object"]),
        ([message("m1", sesion_id="s")], ["unknown field 'sesion_id'", "did you mean 'session_id'?"]),
        (["hello"], ["log.json, [0]", "found 'hello'", "JSON object"]),
        ([], ["log.json", "no message found"]),
        ({"conversation": {"id": "c", "messages": {}}}, ["conversation", "'messages' is {}", "list of messages"]),
        ({"conversation": {"id": "c", "messages": [message("1")]}, "questons": []}, ["'questons'", "did you mean 'questions'"]),
        (
            [message("1", conversation_id="c", tenant_id="x"), message("2", conversation_id="c", tenant_id="y")],
            ["tenant_id", "'y'", "'x'", "one tenant"],
        ),
    ],
)  # fmt: skip
def test_wrong_logs_get_a_sentence(tmp_path: Path, log: Any, sentence_parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(write(tmp_path / "log.json", log))
    for part in sentence_parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence_parts"),
    [
        ({"evidence": None, "evidnce": ["m1"]}, None),
        ({"lures": [{"kind": "stail", "values": ["x"]}]}, ["lures[0]", "'kind' is 'stail'", "did you mean 'stale'?"]),
        ({"lures": [{"kind": "stale", "value": "x"}]}, ["unknown field 'value'", "values"]),
        ({"answer_type": "bool"}, ["'answer_type' is 'bool'", "boolean"]),
        ({"answerable": "yes"}, ["'answerable' is 'yes'", "true or false"]),
        ({"asked_at": "soon"}, ["'asked_at' is 'soon'"]),
        ({"asked_at": None, "category": "temporal"}, ["'asked_at' is None", "anchor"]),
        ({"conversation_id": "nowhere"}, ["'conversation_id' is 'nowhere'", "'log'"]),
        ({"answers": {"a": 1}}, ["'answers' is {'a': 1}"]),
        ({"evidence": [["m1"]]}, ["'evidence' is [['m1']]", "list of ids"]),
        ({"history": ["hi"]}, ["history[0]", "found 'hi'"]),
        ({"text": None}, ["'text' is None"]),
        ({"anwser_type": "span"}, ["unknown field 'anwser_type'", "did you mean 'answer_type'?"]),
    ],
)
def test_wrong_questions_get_a_sentence(
    tmp_path: Path, change: dict[str, Any], sentence_parts: list[str] | None
) -> None:
    log = write(tmp_path / "log.json", [message("m1")])
    questions = write(tmp_path / "qa.json", [{**QUESTION, **change}])
    if sentence_parts is None:
        # The proper name is there too, so the other one cannot be a slip of it.
        assert any("evidnce" in n.detail for n in load(log, questions=str(questions)).notes)
        return
    with pytest.raises(UserError) as caught:
        load(log, questions=str(questions))
    for part in ["qa.json, [0]", *sentence_parts]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("data", "sentence_parts"),
    [
        (b"", ["the file is empty"]),
        (b"[1,\n {]", ["line 2", "not valid JSON"]),
        (b'[{"a": NaN}]', ["NaN is not JSON"]),
        (b'["ok",\n "caf\xe9"]', ["line 2", "0xe9", "UTF-8"]),
        (b"[" * 100_000, ["nested too deeply"]),
        (b'{"message_id": "1"}\n{"message_id": oops}\n', ["line 2", "not valid JSON"]),
    ],
)
def test_unreadable_files_get_file_and_line(tmp_path: Path, data: bytes, sentence_parts: list[str]) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        load(path)
    for part in ["log.json", *sentence_parts]:
        assert part in str(caught.value)


def test_a_conversation_in_two_corpora_is_refused(tmp_path: Path) -> None:
    for i in "12":
        talk = {"id": "same", "messages": [message(i)]}
        write(tmp_path / f"{i}.json", {"corpus": f"corpus {i}", "conversation": talk})
    with pytest.raises(UserError, match=r"'same' is in corpus 'corpus 2' but also in corpus 'corpus 1'"):
        load(tmp_path)


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(5000, 1, 1), timezones=st.just(UTC)))
def test_times_survive_their_common_spellings(when: datetime) -> None:
    when = when.replace(microsecond=0)
    seconds = int(when.timestamp())
    spellings: list[Any] = [when.isoformat(), when.isoformat().replace("+00:00", "Z"), seconds]
    if seconds * 1000 >= 100_000_000_000:
        spellings.append(seconds * 1000)
    for spelling in spellings:
        parsed = parse_time(spelling)
        assert parsed is not None
        assert parsed - when == timedelta(0)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers())))
def test_no_value_makes_the_time_parser_raise(value: Any) -> None:
    parsed = parse_time(value)
    assert parsed is None or isinstance(parsed, datetime)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
message_fields = st.sampled_from([*message("x"), "session_id", "tenant_id", "source", "reply_to", "extra"])
question_fields = st.sampled_from(
    [*QUESTION, "lures", "history", "answer_type", "score_points", "options", "cluster_id"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    messages=st.lists(st.dictionaries(message_fields, json_values, max_size=3), min_size=1, max_size=2),
    questions=st.lists(st.dictionaries(question_fields, json_values, max_size=3), max_size=2),
)
def test_no_field_value_ends_in_a_traceback(tmp_path: Path, messages: list[Any], questions: list[Any]) -> None:
    log = [{**message(str(i)), **changes} for i, changes in enumerate(messages)]
    asked = [{**QUESTION, "id": f"q{i}", **changes} for i, changes in enumerate(questions)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    (tmp_path / "qa.json").write_text(json.dumps(asked), encoding="utf-8")
    try:
        dataset = load(path, questions=str(tmp_path / "qa.json"))
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert len(messages_of(dataset)) == len(log)
        assert check_dataset(dataset).totals["questions"] == len(asked)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_end_in_a_traceback(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"log\.json"):
        load(path)


def test_a_key_that_stands_twice_is_noted_with_its_place(tmp_path: Path) -> None:
    good = json.dumps(message("m1"))
    twice = good[:-1] + ', "content": "later", "sender": "b", "sender": "c"}'
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(message('m0'))}\n{twice}\n")
    dataset = load(tmp_path / "log.jsonl")
    assert messages_of(dataset)[1].content == "later"
    noted = [n for n in dataset.notes if n.kind == "duplicate_key"]
    assert [n.where for n in noted] == [f"{tmp_path / 'log.jsonl'}, line 2"] * 2
    assert "the key 'sender' stands 3 times; its last value counts" in [n.detail for n in noted]
    inside = twice.replace('"m1"', '"m2"').replace("}", ', "x": {"a": 1, "a": 2}}')
    (tmp_path / "log.json").write_text(f'{{"conversations": [{{"id": "c", "messages": [{good}, {inside}]}}]}}')
    places = [n.where for n in load(tmp_path / "log.json").notes if n.kind == "duplicate_key"]
    assert f"{tmp_path / 'log.json'}, conversations[0].messages[1]" in places
    assert f"{tmp_path / 'log.json'}, conversations[0].messages[1].x" in places
    (tmp_path / "plain.json").write_text(f"[{good}]")
    assert not [n for n in load(tmp_path / "plain.json").notes if n.kind == "duplicate_key"]
