"""Storylines: each writes messages into a log and the facts that they establish."""
