"""Tools for GitHub and servers with its API, by REST through the guard."""
