"""Seeded generator of bilingual customer-service logs with labelled questions.

A world comes first (tenants, customers with near-identical names, orders, products, policies, what is said and what is
true), then the messages it leaves, then questions whose labels follow from the world. No question is written from the
messages, so a label never depends on how well a text was understood.
"""

from __future__ import annotations

from typing import Literal

from memtrial.datasets.schema import Corpus, Dataset
from memtrial.datasets.supportdesk.desk import Desk, generate_world, iter_desks
from memtrial.datasets.supportdesk.questions.assemble import CATEGORIES, assemble, question_count

__all__ = ["CATEGORIES", "Desk", "generate", "generate_world", "question_count"]


def generate(
    messages: int,
    seed: int,
    language: Literal["zh", "en", "both"] = "both",
    split: Literal["test", "train"] = "test",
) -> Dataset:
    """Generate logs and questions.

    All tenants of a language share one corpus (one memory); ``cluster_id`` of a question is its tenant. There are at
    least 8 tenants per language, 12 where there is one language alone.

    Args:
        messages: exact number of messages over all languages, 1,000 to 1,000,000.
        seed: the same seed gives the same bytes on any machine.
        language: ``zh``, ``en`` or ``both`` (half of the messages each).
        split: ``train`` or ``test``; they share no user, no product and no phrasing.

    Raises:
        UserError: an option is out of range, or the split's phrasing bank is missing or faulty.
    """
    total = question_count(messages)
    corpora: list[Corpus] = []
    for desk in iter_desks(messages, seed, language, split):
        # "both" gives an odd question to the first of its two languages.
        count = total if language != "both" else (total + 1 - len(corpora)) // 2
        corpora.append(assemble(desk, count, seed, split))
    return Dataset(
        name="supportdesk",
        corpora=tuple(corpora),
        licence="Apache-2.0 (generated)",
        description=f"generated customer-service logs: {messages} messages, seed {seed}, {language}, {split} split",
    )
