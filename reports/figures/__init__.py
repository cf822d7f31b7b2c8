"""Figures of a report: matplotlib objects in, themeable SVG and plain PNG out."""
