from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.supportdesk.phrasings import bank as bank_module
from memtrial.datasets.supportdesk.phrasings.bank import check_bank, load_bank
from memtrial.datasets.supportdesk.phrasings.make_spec import spec_tables
from memtrial.datasets.supportdesk.pools import POOLS


def _tables(language: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    train = load_bank("train", language)
    return dict(train.phrases), dict(train.values), dict(train.pairs)


def test_spec_md_lists_what_the_checker_asks_for() -> None:
    text = (Path(bank_module.__file__).parent / "SPEC.md").read_text(encoding="utf-8")
    assert text.endswith(spec_tables())


@pytest.mark.parametrize(
    ("key", "variants", "says"),
    [
        ("c.nudge", None, "missing c.nudge"),
        ("c.nudge", ["one"], "1 entries, at least 8"),
        ("c.visit_fix", ["{date}"] * 8, "stands there twice"),
        ("c.visit_fix", ["no slot"] + [f"{i} {{date}}" for i in range(8)], "lacks the slot {date}"),
        ("c.visit_fix", ["{date} {day}"] + [f"{i} {{date}}" for i in range(8)], "unknown slot {day}"),
        ("c.visit_fix", ["{date} }"] + [f"{i} {{date}}" for i in range(8)], "unbalanced braces"),
        ("c.visit_fix", [" "] + [f"{i} {{date}}" for i in range(8)], "empty or not a text"),
    ],
)
def test_a_faulty_bank_is_refused_with_the_key_named(key: str, variants: list[str] | None, says: str) -> None:
    phrases, values, pairs = _tables("en")
    if variants is None:
        del phrases[key]
    else:
        phrases[key] = variants
    with pytest.raises(UserError, match=key) as caught:
        check_bank("mine", "train", "en", phrases, values, pairs)
    assert says in str(caught.value)


def test_a_bank_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(UserError, match="phrasing bank train_fr does not exist"):
        load_bank("train", "fr")


def test_unknown_key_gets_its_near_miss() -> None:
    phrases, values, pairs = _tables("zh")
    phrases["c.nugde"] = ["x"]
    with pytest.raises(UserError, match=r"did you mean 'c\.nudge'"):
        check_bank("mine", "train", "zh", phrases, values, pairs)


def test_pairs_need_answers() -> None:
    phrases, values, pairs = _tables("en")
    pairs["n.writing"] = [*pairs["n.writing"], ("How?", ())]
    with pytest.raises(UserError, match=r"n\.writing"):
        check_bank("mine", "train", "en", phrases, values, pairs)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_splits_share_no_phrase_and_no_value(language: str) -> None:
    train, test = load_bank("train", language), load_bank("test", language)
    said = {text.casefold(): key for key, texts in train.phrases.items() for text in texts}
    for key, texts in test.phrases.items():
        for text in texts:
            assert text.casefold() not in said, (key, text)
    for key in train.values:
        assert not {row[0].casefold() for row in train.values[key]} & {row[0].casefold() for row in test.values[key]}, (
            key
        )
    for key in train.pairs:
        assert not {row[0] for row in train.pairs[key]} & {row[0] for row in test.pairs[key]}, key


@pytest.mark.parametrize(("split", "language"), sorted(POOLS))
def test_no_value_can_be_mistaken_for_another(split: str, language: str) -> None:
    for key, rows in load_bank(split, language).values.items():
        for one, other in itertools.permutations(rows, 2):
            for form, longer in itertools.product(one, other):
                assert form.casefold() not in longer.casefold(), (key, form, longer)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_splits_share_no_name(language: str) -> None:
    def people(split: str) -> set[str]:
        pool = POOLS[split, language]
        return {stem + name for stem in pool.stems for pair in pool.pairs for name in pair} | set(pool.staff)

    def things(split: str) -> set[str]:
        pool = POOLS[split, language]
        return {*pool.families, *pool.brands[0], *pool.brands[1], *pool.plans, *pool.carriers, *pool.towns, pool.handle}

    assert not people("train") & people("test")
    assert not things("train") & things("test")
