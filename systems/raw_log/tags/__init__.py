"""Light tags of messages, for what a plan says of topic and mood."""

from memtrial.systems.raw_log.tags.params import TagParams

__all__ = ["TagParams"]
