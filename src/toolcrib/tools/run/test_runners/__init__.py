"""Runners of tests: how each is found, started and understood."""
