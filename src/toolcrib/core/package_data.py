"""Tables and texts that come with the package, beside the code that they are for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]


def package_text(place: str) -> str:
    """A file of the package, by its path there."""
    return (PACKAGE / place).read_text("utf-8")


def package_table(place: str) -> dict[str, Any]:
    """The table in a file of the package, as TOML."""
    return tomllib.loads(package_text(place))


def package_tables(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables in a folder of the package, with the names of their files."""
    for file in sorted((PACKAGE / folder).glob("*.toml")):
        yield file.name, package_table(f"{folder}/{file.name}")
