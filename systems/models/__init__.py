"""Embedders, readers and token counting: everything that stands in for a model."""
