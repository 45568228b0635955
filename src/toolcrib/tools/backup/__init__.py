"""Tools for backups of the workspace."""
