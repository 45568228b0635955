"""The source as the rules of this folder see it: each file parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import toolcrib

SOURCE = Path(toolcrib.__file__).parent


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, where it stands below `toolcrib`, and its tree."""

    name: str
    where: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.where.split("/")[0].removesuffix(".py")

    @cached_property
    def imports(self) -> list[tuple[str, int]]:
        """Each import it makes, wherever that stands, with its line."""
        return list(_imports(self.tree, set(modules())))

    @property
    def stem(self) -> str:
        return self.where.rsplit("/", 1)[-1].removesuffix(".py")


@cache
def modules() -> dict[str, Module]:
    """All modules by dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(SOURCE).as_posix()
        found[name] = Module(name, where, text, ast.parse(text))
    return found


def _imports(tree: ast.AST, known: set[str]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in known else node.module), node.lineno
