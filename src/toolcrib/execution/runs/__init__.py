"""Runs of programs whose changes of files are seen, held back and undone."""
