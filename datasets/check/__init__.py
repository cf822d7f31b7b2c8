"""Checking a data set's ids, times and labels before anything is run on it."""

from memtrial.datasets.check.lint import check_dataset
from memtrial.datasets.check.report import CheckReport, Finding, render_check

__all__ = ["CheckReport", "Finding", "check_dataset", "render_check"]
