"""YAML as JSON values: no tags, and bounded in depth and size.

The events of the parser are put together here and not by its own loader, which a deep
document crashes and a small one full of aliases fills the memory with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcrib.core.errors import BadInput, TooLarge

MAX_DEPTH = 100
MAX_NODES = 500_000
_INT = re.compile(r"[-+]?\d{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.\d{1,40}|\d{1,40}(?:\.\d{0,40})?)(?:[eE][-+]?\d{1,3})?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)


def load_yaml(text: str) -> Any:
    """The first document of a YAML text.

    Raises:
        BadInput: it is no YAML, or an alias that leads nowhere or to itself.
        TooLarge: it is too deep, or too large once its aliases are followed.
    """
    import yaml  # type: ignore[import-untyped]

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return _Builder().build(yaml.parse(text, loader))
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput(f"It is not valid YAML: {said}.") from None


class _Open:
    """A collection that is not complete: its value, anchor, and how many nodes it has."""

    __slots__ = ("anchor", "key", "nodes", "value")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.nodes = 1


class _Builder:
    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._total = 0
        self._root: Any = None

    def build(self, events: Iterator[Any]) -> Any:
        for event in events:
            name = type(event).__name__
            if name == "ScalarEvent":
                self._add(_scalar(event), 1, event.anchor)
            elif name == "AliasEvent":
                self._alias(event.anchor)
            elif name in ("MappingStartEvent", "SequenceStartEvent"):
                if len(self._stack) >= MAX_DEPTH:
                    raise TooLarge(f"It is nested more than {MAX_DEPTH} levels deep.")
                self._stack.append(_Open({} if name[0] == "M" else [], event.anchor))
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                done = self._stack.pop()
                _merge(done.value)
                self._add(done.value, done.nodes, done.anchor, counted=True)
            elif name == "DocumentEndEvent":
                break
        return self._root

    def _alias(self, anchor: str) -> None:
        if anchor not in self._anchors:
            raise BadInput(f"It is not valid YAML: the alias '{anchor[:40]}' leads nowhere.")
        value, nodes = self._anchors[anchor]
        self._add(value, nodes, None)

    def _add(self, value: Any, nodes: int, anchor: str | None, *, counted: bool = False) -> None:
        self._total += 1 if counted else nodes
        if self._total > MAX_NODES:
            raise TooLarge(f"It has more than {MAX_NODES:,} values.")
        if anchor:
            self._anchors[anchor] = (value, nodes)
        if not self._stack:
            self._root = value
            return
        top = self._stack[-1]
        top.nodes += nodes
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            top.key = "" if isinstance(value, dict | list) else _name(value)
        else:
            top.value[top.key] = value
            top.key = None


def _merge(value: Any) -> None:
    """Carry out `<<`: its members count where the mapping has none of the name."""
    if not isinstance(value, dict) or "<<" not in value:
        return
    merged = value.pop("<<")
    for part in merged if isinstance(merged, list) else [merged]:
        for name, item in part.items() if isinstance(part, dict) else ():
            value.setdefault(name, item)


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:
        return text  # quoted
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
