"""A configuration as TOML, each value with the layer that it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Path = tuple[str, ...]
Origin = Callable[[Path], str]
BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(tree: Mapping[str, Any], origin: Origin) -> str:
    """The tree as TOML text; `origin` names the layer of a value, shown behind it."""
    return "\n".join(_table(tree, (), origin)).strip("\n") + "\n"


def _table(tree: Mapping[str, Any], path: Path, origin: Origin) -> Iterator[str]:
    values = {k: v for k, v in tree.items() if not _is_table(v) and not _is_table_list(v)}
    if path and values:
        yield f"\n[{'.'.join(map(_key, path))}]"
    for name, value in values.items():
        comment = f"  # {origin((*path, name))}"
        yield (
            f"# {name} is not set" if value is None else f"{_key(name)} = {inline(value)}{comment}"
        )
    for name, value in tree.items():
        if _is_table(value):
            yield from _table(value, (*path, name), origin)
        elif _is_table_list(value):
            yield from _table_list(value, (*path, name), origin)


def _table_list(items: Sequence[Mapping[str, Any]], path: Path, origin: Origin) -> Iterator[str]:
    for item in items:
        yield f"\n[[{'.'.join(map(_key, path))}]]  # {origin(path)}"
        for name, value in item.items():
            if value is not None:
                yield f"{_key(name)} = {inline(value)}"


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML escapes like JSON, and wants DEL escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(inline, value))}]"
    return repr(value)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else inline(name)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)
