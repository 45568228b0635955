"""Changes of files: planned, applied whole or not at all, and one step of one undo log."""
