from __future__ import annotations

import pytest

from memtrial.experiments.redact import redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("401 for key sk-proj-abcDEF123456789", "401 for key [hidden]"),
        ("Authorization: Bearer abc.def.ghi-jkl", "[hidden]"),
        ("api_key=12345678, retry", "[hidden], retry"),
        ("{'password': 'hunter2hunter2'}", "{'[hidden]'}"),
        ("postgres://joe:s3cret@db/x", "postgres://[hidden]@db/x"),
        ("no index named 'token_counts' in 12 files", "no index named 'token_counts' in 12 files"),
    ],
)
def test_shapes_of_secrets(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_values_of_secret_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "plainlookingvalue")
    monkeypatch.setenv("HOME_TOWN", "plainlooking")
    assert redact("refused: plainlookingvalue, plainlooking") == "refused: [hidden], plainlooking"


def test_long_texts_are_cut() -> None:
    assert redact("x" * 1000) == "x" * 299 + "…"
