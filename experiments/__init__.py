"""Configuration, plan, runner, journal: how a trial is run and survives."""
