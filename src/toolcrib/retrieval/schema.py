"""The tables of an index."""

from __future__ import annotations

from toolcrib.core.package_data import package_text
from toolcrib.state.store import Schema

SCHEMA = Schema("retrieval", tuple(package_text("retrieval/schema.sql").split("-- ====\n")))
