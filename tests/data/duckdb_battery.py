"""The battery in a child that has DuckDB loaded. A worker's child runs it."""

from __future__ import annotations

from tests.data.battery import run
from toolcrib.data import duckdb_child

__all__ = ["prepare", "run"]


def prepare() -> None:
    duckdb_child.prepare()
