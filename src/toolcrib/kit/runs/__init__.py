"""Runs of programs whose changes of files are seen, held back and undone."""

from toolcrib.kit.runs.outcome import Changed, Commit, Outcome, Ran
from toolcrib.kit.runs.running import Running
from toolcrib.kit.runs.runs import Runs

__all__ = ["Changed", "Commit", "Outcome", "Ran", "Running", "Runs"]
