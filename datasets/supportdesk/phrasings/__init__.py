"""Phrasing banks of the supportdesk generator, one module per split and language."""
