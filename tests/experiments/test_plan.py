from __future__ import annotations

from collections import Counter
from dataclasses import replace

from memtrial.datasets.registry import load_dataset
from memtrial.experiments.plan import select


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
