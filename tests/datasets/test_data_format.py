"""docs/data_format.md: its example loads without a fault or a note, and its tables name what the loader reads."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from memtrial.datasets.check import check_dataset
from memtrial.datasets.loaders import messages, questions
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import ANSWER_TYPES, LURE_KINDS, Conversation, Dataset, Lure, Participant

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "data_format.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^`(my_\w+\.jsonl?)`:\n\n```jsonl?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def example(tmp_path: Path) -> Dataset:
    for name, text in BLOCKS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    spec = {"name": "json", "path": str(tmp_path / "my_log.json"), "questions": str(tmp_path / "my_questions.jsonl")}
    return load_dataset(spec)


def test_the_example_loads_and_has_no_fault(example: Dataset) -> None:
    checked = check_dataset(example)
    assert checked.ok and not checked.findings
    assert {note.kind for note in example.notes} == {"session_derived"}
    asked = {q.id: q for _, q in example.questions()}
    assert [q.answerable for q in asked.values()] == [True, False, True, True]
    assert [q.conversation_id for q in asked.values()] == ["travel", "travel", "warehouse", "travel"]
    assert [q.language for q in asked.values()] == ["en", "en", "zh", "en"]
    assert asked["q1"].lures == (Lure("stale", ("m2",), ("14A",)),)
    assert asked["q3"].tenant_id == "beichen" and not asked["q4"].needs_memory


def rows(head: str) -> dict[str, list[str]]:
    """Return the rows of the first table after a line, by the name in their first cell."""
    table = re.search(rf"^{re.escape(head)}.*?\n(\|.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE)
    assert table is not None, head
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()[2:]]
    return {row[0].strip("`"): row for row in cells}


@pytest.mark.parametrize(
    ("head", "known", "aliases"),
    [
        ("A message:", messages._KNOWN, messages._ALIASES),
        ("A list, JSONL, or", questions._KNOWN, questions._ALIASES),
        ("A lure:", questions._KNOWN_LURE, {}),
    ],
)
def test_tables_name_every_field_and_every_other_name(
    head: str, known: frozenset[str], aliases: dict[str, str]
) -> None:
    told = rows(head)
    assert told.keys() == set(known)
    for alias, name in aliases.items():
        assert f"`{alias}`" in told[name][1]


def test_kinds_types_and_heads_are_named() -> None:
    assert list(rows("| `why`")) == list(LURE_KINDS)
    assert all(f"`{name}`" in rows("A list, JSONL, or")["answer_type"][3] for name in ANSWER_TYPES)
    sentence = re.search(r"^A conversation: .*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    assert sentence is not None
    assert all(f"`{f.name}`" in sentence[0] for f in (*fields(Conversation), *fields(Participant)))
