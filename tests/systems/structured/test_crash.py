from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memtrial.systems.models.analyze import terms
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import Extraction

SCRIPT = Path(__file__).with_name("crash_ingest.py")


def driver() -> ModuleType:
    spec = importlib.util.spec_from_file_location("crash_ingest", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_of(records: MemoryRecords) -> list[Any]:
    nodes = {id: records.nodes(tenant, ids)[id] for tenant, ids in records.ids() for id in ids}
    edges = sorted(records.edges(), key=repr)
    return [nodes, sorted(records.entities(), key=repr), edges, records.tenants()]


@pytest.mark.parametrize(
    ("portions", "kills"), [(24, 8), pytest.param(150, 50, marks=pytest.mark.slow)], ids=["8 kills", "50 kills"]
)
def test_killed_at_any_point_nothing_is_lost_or_doubled(tmp_path: Path, url: str, portions: int, kills: int) -> None:
    """Real SQL engine, real Qdrant Edge, real Tantivy; what is left is what an undisturbed ingest leaves."""
    folder = tmp_path / "system"
    told = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), url, str(portions), str(kills), "4"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result = json.loads(told)
    assert result["wrong"] == []
    assert result["ends"]["killed"] > kills // 2  # kills that came too late to hit anything prove nothing
    assert len(set(result["written"])) > kills // 4  # ... and so do those that all came before anything was written

    made = driver()
    undisturbed = MemoryRecords(tmp_path / "undisturbed")
    for number in range(portions):
        undisturbed.write(*made.portion(number))
    stores = made.Stores(folder, url)
    assert stores.disagreement() == ""
    assert all_of(stores.records) == all_of(undisturbed)
    assert stores.records.count() == portions * made.EACH
    for number in range(0, portions * made.EACH, 7):
        query = [(term, 1.0) for term in terms(f"number{number}")]
        assert len(stores.words.store.search(query, f"t{number % 2}", 5)) == 1
    assert stores.records.write(Extraction(), [f"m{n}" for n in range(portions * made.EACH)]) == []
    stores.close()
    stores.records.drop()
