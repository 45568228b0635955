"""Tools about tools."""
