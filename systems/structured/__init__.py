"""Structured memory: facts taken from the log, versioned, gated, trusted by evidence, and shown with what they are worth."""
