from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.fraction import first_fraction
from memtrial.datasets.registry import dataset_names, load_dataset, validate_spec
from memtrial.datasets.schema import Dataset


def test_every_data_set_is_described() -> None:
    infos = {info.name: info for info in dataset_names()}
    assert set(infos) == {"handwritten", "supportdesk", "json", "locomo", "lifebench", "longmemeval"}
    assert all(info.summary and info.licence and "fraction" in info.options for info in infos.values())
    assert infos["locomo"].options["path"].endswith("(required)")
    assert infos["handwritten"].options["language"] == "zh, en or both (default 'both')"


def test_validate_fills_in_defaults_and_reads_nothing() -> None:
    assert validate_spec({"name": "locomo", "path": "/nowhere.json"}) == {
        "name": "locomo", "path": "/nowhere.json", "pooled": False, "audit": None, "captions": True, "fraction": 1.0, "again": False,
        "categories": [1, 2, 3, 4, 5],
    }  # fmt: skip
    assert validate_spec({"name": "supportdesk", "language": "zh"})["messages"] == 3000


@pytest.mark.parametrize(
    ("spec", "sentence_parts"),
    [
        ({"name": "locom"}, ["'locom'", "handwritten", "did you mean 'locomo'?"]),
        ({}, ["option 'name' is None"]),
        ("locomo", ["'locomo'", "{name: handwritten}"]),
        ({"name": "locomo"}, ["'path' is missing", "LoCoMo's JSON file"]),
        ({"name": "locomo", "pth": "x"}, ["unknown option 'pth'", "(value 'x')", "did you mean 'path'?"]),
        ({"name": "locomo", "path": "x", "pooled": "yes"}, ["'pooled' is 'yes'", "one memory"]),
        ({"name": "locomo", "path": 3}, ["'path' is 3"]),
        (
            {"name": "lifebench", "path": "x", "language": "eng"},
            ["'language' is 'eng'", "zh, en", "did you mean 'en'?"],
        ),
        ({"name": "handwritten", "fraction": 0}, ["'fraction' is 0", "(0, 1]"]),
        ({"name": "handwritten", "fraction": 1.5}, ["'fraction' is 1.5"]),
        ({"name": "handwritten", "fraction": "half"}, ["'fraction' is 'half'"]),
        ({"name": "supportdesk", "messages": 10}, ["'messages' is 10", "1,000 to 1,000,000"]),
        ({"name": "supportdesk", "split": "dev"}, ["'split' is 'dev'", "test, train"]),
    ],
)
def test_wrong_options_get_a_sentence(spec: Any, sentence_parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        validate_spec(spec)
    for part in sentence_parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["json", "locomo", "lifebench", "handwritten", "longmemeval"])
def test_a_path_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"data set '{name}', option 'path': '.*gone' does not exist"):
        load_dataset({"name": name, "path": str(tmp_path / "gone")})


def test_fraction_keeps_the_first_messages_and_the_questions_they_answer() -> None:
    whole = load_dataset({"name": "handwritten", "language": "en"})
    half = load_dataset({"name": "handwritten", "language": "en", "fraction": 0.5})
    for before, after in zip(whole.corpora, half.corpora, strict=True):
        kept = [m.id for m in after.messages()]
        assert kept == [m.id for m in before.messages()][: (len(before.messages()) + 1) // 2]
        assert [q.id for q in after.questions] == [q.id for q in before.questions if set(q.evidence) <= set(kept)]
        assert 0 < len(after.questions) < len(before.questions)
        assert all(set(lure.message_ids) <= set(kept) for q in after.questions for lure in q.lures)
    assert half.notes[-1].detail.startswith("0.5: 143 of 286 messages")


def test_fraction_one_is_the_whole_set() -> None:
    whole = load_dataset({"name": "handwritten"})
    assert first_fraction(whole, 1.0).fingerprint() == whole.fingerprint()


def test_loading_twice_gives_the_same_fingerprint() -> None:
    first, second = (load_dataset({"name": "handwritten"}) for _ in range(2))
    assert first.fingerprint() == second.fingerprint()
    assert first.fingerprint() != load_dataset({"name": "handwritten", "fraction": 0.99}).fingerprint()


def test_no_question_is_asked_before_its_evidence() -> None:
    for corpus, question in load_dataset({"name": "handwritten"}).questions():
        times = {m.id: m.timestamp for m in corpus.messages()}
        assert all(times[ident] - question.asked_at <= timedelta(0) for ident in question.evidence)


def test_supportdesk_gets_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    made = load_dataset({"name": "handwritten"})

    def generate(**options: Any) -> Dataset:
        seen.update(options)
        return made

    monkeypatch.setattr("memtrial.datasets.supportdesk.generate", generate, raising=False)
    assert load_dataset({"name": "supportdesk", "messages": 1000, "seed": 7, "split": "train"}) is made
    assert seen == {"messages": 1000, "seed": 7, "language": "both", "split": "train"}


def test_fraction_leaves_out_questions_whose_session_is_cut() -> None:
    whole = load_dataset({"name": "handwritten", "language": "en"})
    corpus = whole.corpora[0]
    last_session = corpus.messages()[-1].session_id
    question = replace(corpus.questions[0], evidence=(), evidence_sessions=(last_session,))
    alone = replace(whole, corpora=(replace(corpus, questions=(question,)),))
    assert [len(c.questions) for c in first_fraction(alone, 0.99).corpora] == [0]
    assert [len(c.questions) for c in first_fraction(alone, 1.0).corpora] == [1]
