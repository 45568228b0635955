"""Tools for git repositories of the workspace."""
