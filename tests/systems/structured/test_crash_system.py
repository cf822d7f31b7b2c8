"""The whole system, killed at random moments while it takes a log in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("crash_system.py")


@pytest.mark.parametrize(
    ("messages", "kills"), [(120, 6), pytest.param(1_000, 50, marks=pytest.mark.slow)], ids=["6 kills", "50 kills"]
)
def test_killed_at_any_moment_it_answers_like_an_undisturbed_one(tmp_path: Path, messages: int, kills: int) -> None:
    """SQL and both indexes agree, with the nodes, histories and graph of an undisturbed system, and so do its answers."""
    said = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "system"), str(messages), str(kills), "3"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result = json.loads(said)
    assert result["wrong"] == []
    # Kills that came too late to hit anything prove nothing, and so do those that all came before anything was written.
    assert result["ends"]["killed"] > kills // 2
    assert len(set(result["written"])) > kills // 6
    left, plain = result["left"], result["plain"]
    assert (left["waiting"], left["words_agree"], left["vectors_agree"]) == (0, True, True)
    assert len(left["nodes"]) > messages // 4
    assert len(left["answers"]) >= 10
    assert left == plain
