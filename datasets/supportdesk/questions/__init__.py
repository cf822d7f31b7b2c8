"""Questions over a finished desk, with every label of METRICS.md."""
