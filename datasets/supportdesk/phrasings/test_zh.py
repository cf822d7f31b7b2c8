"""Chinese phrasing bank of the test split."""

from __future__ import annotations

from memtrial.datasets.supportdesk.phrasings.test_zh_agent import AGENT
from memtrial.datasets.supportdesk.phrasings.test_zh_customer import CUSTOMER
from memtrial.datasets.supportdesk.phrasings.test_zh_everyday import EVERYDAY
from memtrial.datasets.supportdesk.phrasings.test_zh_questions import QUESTIONS
from memtrial.datasets.supportdesk.phrasings.test_zh_records import PUBLIC, RECORDS
from memtrial.datasets.supportdesk.phrasings.test_zh_values import PAIRS, VALUES

__all__ = ["PAIRS", "PHRASES", "VALUES"]

PHRASES: dict[str, list[str]] = CUSTOMER | AGENT | RECORDS | PUBLIC | QUESTIONS | EVERYDAY
