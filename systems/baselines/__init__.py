"""Plain baselines that every architecture has to beat."""
