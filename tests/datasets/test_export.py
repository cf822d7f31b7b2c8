from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.datasets import export
from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import (
    Conversation,
    Corpus,
    Dataset,
    Lure,
    Message,
    Participant,
    Question,
    ScorePoint,
    Turn,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
name = text.filter(bool)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    corpora = []
    for c in range(draw(st.integers(1, 3))):
        messages = tuple(
            Message(
                id=f"m{c}-{i}",
                conversation_id=f"c{c}",
                session_id=draw(name),
                tenant_id=f"t{c}",
                sender=draw(name),
                recipient=draw(text),
                timestamp=start + timedelta(seconds=i),
                content=draw(text),
                source=draw(text),
                reply_to=draw(st.none() | name),
                extra=MappingProxyType(draw(st.dictionaries(text, text | st.integers() | st.lists(text), max_size=2))),
            )
            for i in range(draw(st.integers(1, 3)))
        )
        talk = Conversation(
            f"c{c}", f"t{c}", messages, draw(text), draw(text), (Participant(messages[0].sender, "N", "R"),)
        )
        question = Question(
            id=f"q{c}",
            conversation_id=f"c{c}",
            tenant_id=f"t{c}",
            asker=draw(text),
            asked_at=start,
            text=draw(text),
            category=draw(text),
            answerable=draw(st.booleans()),
            needs_memory=draw(st.booleans()),
            answer_type=draw(st.sampled_from(["span", "list", "free"])),
            answers=tuple(draw(st.lists(text, max_size=2))),
            evidence=(messages[0].id,),
            cluster_id=draw(name),
            lures=(Lure("stale", (messages[-1].id,), (draw(text),), draw(text)),),
            history=(Turn(draw(text), draw(text)),),
            language=draw(text),
            options=tuple(draw(st.lists(text, max_size=2))),
            score_points=(ScorePoint(draw(text), draw(st.floats(0, 10))),),
            official_evidence=(messages[0].id,),
            evidence_sessions=(messages[0].session_id,),
            contested=draw(text),
        )
        corpora.append(Corpus(draw(name) + str(c), (talk,), (question,)))
    return Dataset(draw(name), tuple(corpora), clock_usable=draw(st.booleans()), licence=draw(text))


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(dataset=datasets())
def test_round_trip_of_any_data_set(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset) -> None:
    folder = export.export_dataset(dataset, tmp_path_factory.mktemp("x") / "out")
    assert load_dataset({"name": "json", "path": str(folder)}) == dataset


def test_round_trip_of_the_shipped_set(tmp_path: Path) -> None:
    dataset = load_dataset({"name": "handwritten"})
    folder = export.export_dataset(dataset, tmp_path / "out")
    again = load_dataset({"name": "json", "path": str(folder)})
    assert again.fingerprint() == dataset.fingerprint()
    assert again == dataset


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = load_dataset({"name": "handwritten"})
    written: list[Path] = []

    def fail_on_the_second(path: Path, value: dict[str, object]) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(path)
        path.write_text("{}", encoding="utf-8")

    monkeypatch.setattr(export, "_write", fail_on_the_second)
    with pytest.raises(UserError, match="No space left on device"):
        export.export_dataset(dataset, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(UserError, match="not an empty folder"):
        export.export_dataset(load_dataset({"name": "handwritten"}), tmp_path)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "keep"


def test_a_file_that_the_manifest_names_must_be_there(tmp_path: Path) -> None:
    dataset = replace(load_dataset({"name": "handwritten"}), corpora=())
    one = load_dataset({"name": "handwritten", "language": "en"})
    folder = export.export_dataset(replace(dataset, corpora=one.corpora), tmp_path / "out")
    next(folder.glob("0002-*")).unlink()
    with pytest.raises(UserError, match=r"0002-.*json' does not exist"):
        load_dataset({"name": "json", "path": str(folder)})
