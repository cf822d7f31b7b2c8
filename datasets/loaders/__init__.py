"""Loaders: one module for each shape of file; each returns a ``Dataset``."""
