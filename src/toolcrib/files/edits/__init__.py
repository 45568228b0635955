"""Editing text: where an edit belongs, and what stands there afterwards. Text in, text out."""
