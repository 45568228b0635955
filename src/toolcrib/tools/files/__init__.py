"""Tools for files of the workspace."""
