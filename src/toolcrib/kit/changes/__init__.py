"""Changes of files: planned, applied whole or not at all, and one step of one undo log."""

from toolcrib.kit.changes.changes import Changes
from toolcrib.kit.changes.plan import ANYTHING, Applied, Plan, Source
from toolcrib.kit.changes.steps import Step

__all__ = ["ANYTHING", "Applied", "Changes", "Plan", "Source", "Step"]
