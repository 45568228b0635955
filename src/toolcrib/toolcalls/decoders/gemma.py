"""Gemma's own grammar: `call:NAME{key:value,...}`, strings between marks, bare keys."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.decoders.decoder import Answer, Item, Reading, unclosed
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.values import DECIMAL, NULLS, TRUTHS, NotJson, RawCall, decode, typed_value

QUOTES = ('<|"|>', "<escape>")
MARK = re.compile(r'<\|"\|>|<escape>|(?<=[:\[,{ ])"|[{}\[\]]')
STOP = re.compile(r"[,\]}]")
KEY_END = re.compile(r"[:,{}\[\]]")
MAX_DEPTH = 100


class NotGemma(ValueError):
    """The text does not follow the grammar."""


def gemma_item(reading: Reading, at: int, name: str) -> Wait[Answer]:
    """The arguments of a call, from their brace on."""
    is_tired = reading.is_exhausted
    end = -1 if is_tired else (yield from _end(reading, at))
    if end < 0:
        return (yield from unclosed(reading, at, name, near=is_tired))
    span = reading.text.text[at:end]
    try:
        found = _Parser(span).whole()
    except (NotGemma, RecursionError):
        try:
            found = decode(span)
        except NotJson:
            return Item(end, [None])
    kinds, spelt = reading.schemas.kinds, reading.schemas.canonical_name(name)
    arguments = {key: _typed_value(value, kinds(spelt, key)) for key, value in found.items()}
    return Item(end, [RawCall(name, arguments)])


class Bare:
    """A value without marks around it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _typed_value(value: Any, kinds: frozenset[str]) -> Any:
    if isinstance(value, Bare) and kinds:
        return typed_value(value.text, kinds)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Bare):
        return natural(value.text)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def natural(bare: str) -> Any:
    """What a bare word is by itself."""
    if bare.lower() in NULLS:
        return None
    if bare.lower() in {"true", "false"}:
        return TRUTHS[bare.lower()]
    if DECIMAL.fullmatch(bare):
        return typed_value(
            bare, frozenset({"integer" if bare.lstrip("+-").isdigit() else "number"})
        )
    return bare


def _end(reading: Reading, at: int) -> Wait[int]:
    text, depth, start = reading.text, 0, at
    while True:
        found = MARK.search(text.text, at)
        if found is None or (found.end() == len(text.text) and not text.ended):
            if text.ended:
                text.wasted += len(text.text) - start
                return -1
            at = max(at, len(text.text) - len("<escape>")) if found is None else found.start()
            found = None
            yield
            continue
        mark, at, found = found[0], found.end(), None
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return at
        else:
            stop = yield from text.find(mark, at)
            if stop < 0:
                text.wasted += len(text.text) - start
                return -1
            at = stop + len(mark)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def whole(self) -> dict[str, Any]:
        return self._object(0)

    def _skip_separators(self) -> str:
        while self.text[self.at : self.at + 1] in (" ", "\n", "\t", "\r", ","):
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while self._skip_separators() != "}":
            key = self._key()
            if self._skip_separators() != ":":
                raise NotGemma
            self.at += 1
            found[key] = self._value(depth + 1)
        self.at += 1
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while self._skip_separators() != "]":
            found.append(self._value(depth + 1))
        self.at += 1
        return found

    def _key(self) -> str:
        quoted = self._quoted()
        if quoted is not None:
            return quoted
        end = KEY_END.search(self.text, self.at)
        if end is None or end[0] != ":":
            raise NotGemma
        key = self.text[self.at : end.start()].strip()
        self.at = end.start()
        return key

    def _value(self, depth: int) -> Any:
        first = self._skip_separators()
        if depth > MAX_DEPTH or not first or first in "}]":
            raise NotGemma
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        quoted = self._quoted()
        if quoted is not None:
            return quoted
        end = STOP.search(self.text, self.at)
        if end is None:
            raise NotGemma
        bare = self.text[self.at : end.start()].strip()
        self.at = end.start()
        return Bare(bare)

    def _quoted(self) -> str | None:
        for mark in QUOTES:
            if self.text.startswith(mark, self.at):
                end = self.text.find(mark, self.at + len(mark))
                if end < 0:
                    raise NotGemma
                found = self.text[self.at + len(mark) : end]
                self.at = end + len(mark)
                return found
        if self.text.startswith('"', self.at):
            end = self.text.find('"', self.at + 1)
            if end > 0:
                found = self.text[self.at + 1 : end]
                self.at = end + 1
                return found
        return None
