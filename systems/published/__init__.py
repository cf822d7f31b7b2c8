"""Answers and verdicts that others published, read from their result files and put into a run as a system."""

from memtrial.systems.published.files import LOCOMO_CONVERSATIONS, PublishedAnswer, PublishedRun, read_published

__all__ = ["LOCOMO_CONVERSATIONS", "PublishedAnswer", "PublishedRun", "read_published"]
