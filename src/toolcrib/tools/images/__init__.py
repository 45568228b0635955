"""Tools for pictures."""
