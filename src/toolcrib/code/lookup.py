"""Definitions by name, over all files of a project. It blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.code.languages import language_of
from toolcrib.code.outline import Symbol, symbols
from toolcrib.code.project import Project
from toolcrib.core.errors import MissingExtra, ToolError

MOST_FILES = 3_000
"""Files that are parsed for one question."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol and its file, as the project names it. `rank`: 0 is exactly what was asked."""

    rank: int
    path: str
    symbol: Symbol


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: of `parseHTTPHeader` and `parse_http_header` alike."""
    return [word.lower() for word in _WORD.findall(name)]


def find_definitions(
    project: Project, name: str, kind: str = "", under: str = ""
) -> list[Definition]:
    """Symbols of a name: exactly; else in any case; else with all words of it.

    Args:
        project: the files.
        name: may start with what holds it: `Class.method`.
        kind: only such symbols.
        under: only files whose path starts so.

    Raises:
        MissingExtra: ast-grep is not installed.
    """
    holder, _, last = name.rpartition(".")
    if not last:
        holder, last = "", name
    asked = words_of(last) or [last.lower()]
    longest = max(asked, key=len)
    exact: list[Definition] = []
    loose: list[Definition] = []
    for path, text in _files(project, last, under):
        exact += _fitting(path, text, holder, last, kind)
    if exact:
        return _sorted(exact)
    for count, (path, text) in enumerate(_files(project, "", under)):
        if count >= MOST_FILES:
            break
        lower = text.lower()
        if longest in lower and all(word in lower for word in asked):
            loose += _like(path, text, holder, last, kind)
    return _sorted(loose)


def _files(project: Project, word: str, under: str) -> Iterator[tuple[str, str]]:
    for path in project.mentioning(word)[0] if word else project.paths:
        if not language_of(path) or not (path == under or path.startswith(under)):
            continue
        project.check()
        try:
            text = project.parsable(path)
        except MissingExtra:
            raise
        except ToolError:
            continue
        yield path, text


def _fitting(path: str, text: str, holder: str, last: str, kind: str) -> list[Definition]:
    found = symbols(text, language_of(path))
    return [
        Definition(0, path, s)
        for s in found
        if _own(s.name) in (last, f"#{last}") and _is_kind(s, kind) and _held(s, holder)
    ]


def _own(name: str) -> str:
    """The last part of a name like `ns::Class::method`, `a.b` or `Type[T]`."""
    return re.split(r"::|\.", name)[-1] if not name.startswith('"') else name


def _like(path: str, text: str, holder: str, last: str, kind: str) -> list[Definition]:
    asked, lower = words_of(last) or [last.lower()], last.lower()
    found: list[Definition] = []
    for s in symbols(text, language_of(path)):
        if not _is_kind(s, kind) or (holder and not _held(s, holder)):
            continue
        own = _own(s.name)
        if own.lower().lstrip("_#") == lower.lstrip("_#"):
            found.append(Definition(1, path, s))
        elif words_of(own) == asked:
            found.append(Definition(2, path, s))
        elif all(word in own.lower() for word in asked):
            found.append(Definition(3 + (lower not in own.lower()), path, s))
    return found


def _held(symbol: Symbol, holder: str) -> bool:
    own = symbol.holder
    for sign in ("::", "."):
        if sign in symbol.name:
            own = f"{own}.{symbol.name.rpartition(sign)[0].replace('::', '.')}".lstrip(".")
    wanted = holder.replace("::", ".")
    return not holder or own == wanted or own.endswith(f".{wanted}") or own.split("<")[0] == wanted


def _is_kind(symbol: Symbol, kind: str) -> bool:
    if not kind:
        return True
    if kind == "function":
        return symbol.kind in ("function", "method", "macro")
    if kind == "class":
        return symbol.kind in ("class", "struct", "trait", "impl", "interface", "enum")
    if kind == "type":
        return symbol.kind in ("type", "interface", "enum", "struct", "trait", "class")
    if kind == "variable":
        return symbol.kind in ("variable", "constant", "field")
    return symbol.kind == kind


def _sorted(found: list[Definition]) -> list[Definition]:
    if not found:
        return found
    best = min(d.rank for d in found)
    kept = [d for d in found if best > 2 or d.rank <= 2]
    return sorted(kept, key=lambda d: (d.rank, len(d.symbol.name), d.path, d.symbol.line))
