"""Judges that are models or other people's verdicts, and how far each can be believed: docs/judges.md."""
