"""What a page says of itself, by the rules that the reader modes of browsers follow.

`read_meta` reads a parsed page once and gives a `Meta`.
"""

from __future__ import annotations

from toolcrib.kit.reader.meta.reading import Meta, read_meta

__all__ = ["Meta", "read_meta"]
