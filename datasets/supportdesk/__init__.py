"""Seeded generator of bilingual customer-service logs with labelled questions.

A world comes first (tenants, customers with near-identical names, orders, products, policies, what is said and what is
true), then the messages it leaves, then questions whose labels follow from the world. No question is written from the
messages, so a label never depends on how well a text was understood.
"""

from __future__ import annotations

from typing import Literal

from memtrial.datasets.schema import Dataset
from memtrial.datasets.supportdesk.desk import Desk, generate_world
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
    desks = generate_world(messages, seed, language, split)
    total = question_count(messages)
    corpora = tuple(
        assemble(desk, total // len(desks) + (part < total % len(desks)), seed, split)
        for part, desk in enumerate(desks)
    )
    return Dataset(
        name="supportdesk",
        corpora=corpora,
        licence="Apache-2.0 (generated)",
        description=f"generated customer-service logs: {messages} messages, seed {seed}, {language}, {split} split",
    )
