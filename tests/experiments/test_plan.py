from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from memtrial.datasets.again import asked_again
from memtrial.datasets.registry import load_dataset
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan, select


def test_a_limit_takes_every_category_in_its_share_and_grows_by_adding() -> None:
    dataset = load_dataset({"name": "handwritten", "language": "en"})
    corpus = dataset.corpora[0]
    kinds = ["common"] * 24 + ["rare"] * 8  # a file sorted by kind, as LoCoMo's are
    questions = tuple(replace(q, category=kind) for q, kind in zip(corpus.questions, kinds, strict=False))
    dataset = replace(dataset, corpora=(replace(corpus, questions=questions),))
    eight = select(dataset, 8)[corpus.id]
    assert Counter(q.category for q in eight) == {"common": 6, "rare": 2}
    sixteen = select(dataset, 16)[corpus.id]
    assert {q.id for q in eight} < {q.id for q in sixteen}
    assert len(select(dataset, None)[corpus.id]) == len(questions)


@pytest.mark.parametrize("data", [{"name": "handwritten", "language": "en"}, {"name": "supportdesk", "messages": 1000}])
def test_a_question_asked_again_comes_after_the_first_time(data: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "twice.yaml"
    content = {"name": "twice", "data": {"d": {**data, "again": True}}, "systems": {"no_memory": {}}}
    file.write_text(yaml.safe_dump(content))
    for corpus in make_plan(load_config(file)).units[0].data.corpora:
        asked = [question.id for question in corpus.questions]
        again = [id for id in asked if id.endswith("~again")]
        assert len(again) == len(asked) / 2
        assert all(asked.index(id.removesuffix("~again")) < asked.index(id) for id in again)


@pytest.mark.parametrize("limit", [6, 7])
def test_a_limit_keeps_both_times_of_a_question(limit: int) -> None:
    dataset = asked_again(load_dataset({"name": "handwritten"}))
    chosen = [q.id for questions in select(dataset, limit).values() for q in questions]
    assert len(chosen) == limit
    assert sum(f"{id}~again" in chosen for id in chosen) == 3
    larger = {q.id for questions in select(dataset, 20).values() for q in questions}
    assert set(chosen) < larger
