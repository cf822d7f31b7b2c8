from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from memtrial.datasets.check import check_dataset
from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.handwritten import shipped_folder
from memtrial.datasets.registry import load_dataset


def test_ships_eight_logs_that_form_pairs_of_tenants() -> None:
    dataset = load_dataset({"name": "handwritten"})
    assert [c.id for c in dataset.corpora] == ["en01+en02", "en03+en04", "zh01+zh02", "zh03+zh04"]
    assert [len(c.tenants) for c in dataset.corpora] == [2, 2, 2, 2]
    assert [len(c.questions) for c in dataset.corpora] == [36, 36, 36, 36]
    assert len({q.cluster_id for _, q in dataset.questions()}) == 8
    assert check_dataset(dataset).ok


@pytest.mark.parametrize("language", ["zh", "en"])
def test_one_language(language: str) -> None:
    dataset = load_dataset({"name": "handwritten", "language": language})
    assert {q.language for _, q in dataset.questions()} == {language}
    assert len(list(dataset.questions())) == 72


def test_labels_survive_loading() -> None:
    raw = json.loads((shipped_folder() / "en01.json").read_text(encoding="utf-8"))
    loaded = {q.id: q for _, q in load_dataset({"name": "handwritten"}).questions()}
    for row in raw["questions"]:
        question = loaded[row["id"]]
        assert list(question.answers) == row["answers"]
        assert list(question.evidence) == row["evidence"]
        assert [(lure.kind, list(lure.message_ids), list(lure.values)) for lure in question.lures] == [
            (lure["kind"], lure["message_ids"], lure["values"]) for lure in row["lures"]
        ]
        assert [turn.text for turn in question.history] == [turn["content"] for turn in row["history"]]


def test_names_and_roles_stand_beside_the_ids() -> None:
    first = load_dataset({"name": "handwritten", "language": "en"}).corpora[0].messages()[0]
    assert (first.sender, first.sender_name) == ("nora", "Nora Lindqvist")
    assert first.extra["recipient_name"] == "Juno"
    assert first.extra["sender_role"] == "user"


def test_no_annotator_file_ships() -> None:
    assert Counter(p.suffix for p in shipped_folder().iterdir()) == {".json": 8}


def test_other_pairs_follow_their_numbers_and_a_lone_half_drops_its_neighbour(tmp_path: Path) -> None:
    for number, source in (("05", "en01"), ("06", "en02")):
        text = (shipped_folder() / f"{source}.json").read_text(encoding="utf-8").replace(source, f"en{number}")
        (tmp_path / f"en{number}.json").write_text(
            text.replace("en01", "en05").replace("en02", "en06"), encoding="utf-8"
        )
    assert [c.id for c in load_dataset({"name": "handwritten", "path": str(tmp_path)}).corpora] == ["en05+en06"]
    (tmp_path / "en06.json").unlink()
    alone = load_dataset({"name": "handwritten", "path": str(tmp_path)})
    assert [c.id for c in alone.corpora] == ["en05"]
    assert {n.kind for n in alone.notes} == {"lure_outside"}
    assert check_dataset(alone).ok


def test_the_same_conversation_in_two_files_names_both(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes((shipped_folder() / "en01.json").read_bytes())
    with pytest.raises(UserError, match=r"b\.json: conversation 'en01' is already in .*a\.json"):
        load_dataset({"name": "handwritten", "path": str(tmp_path)})


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \*\.json file"):
        load_dataset({"name": "handwritten", "path": str(tmp_path)})
