"""Structured memory for questions of a known pattern, search in the raw log for the rest, each helping the other out."""
