"""Editing text: where an edit belongs, and what stands there afterwards. Text in, text out."""

from toolcrib.kit.editing.edits import Edit, Outcome, edited

__all__ = ["Edit", "Outcome", "edited"]
