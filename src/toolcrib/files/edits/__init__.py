"""Edits of texts: where an edit belongs, what stands there afterwards, and the report of it."""
