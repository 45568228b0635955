"""Folders that hold what programs made or fetched, not what a person wrote."""

from __future__ import annotations

BULK = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "node_modules",
        "bower_components",
        "vendor",
        "dist",
        "build",
        "target",
        ".next",
        ".nuxt",
        ".svelte-kit",
        ".turbo",
        ".parcel-cache",
        ".cache",
        ".gradle",
        ".terraform",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "site-packages",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        "coverage",
        "htmlcov",
    ]
)
"""Their names. A tree is shown and searched for guesses without them, unless asked for."""
