"""Expressions whose time is linear in the text: by RE2, or line by line where that is not there.

RE2 has no wheel for some systems (Alpine). There pydantic, whose patterns are those of Rust's
`regex`, says of each line whether it fits; where in the line, it does not say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

MAX_BYTES = 32 << 20
"""Memory that an expression may take in RE2."""
_ESCAPED = re.compile(r"\\([^\w\s]|[\x00-\x1f\x7f ])")
_ASCII_BOUNDARY = re.compile(r"\(\?-u:(\\[bB])\)")


class ExpressionError(ValueError):
    """It is no expression of the engine, or too large for it."""


def compiled_expression(
    expression: str,
    *,
    ignore_case: bool = False,
    many_lines: bool = False,
    never_newline: bool = False,
    for_rust: str = "",
) -> Any:
    """An expression over UTF-8 bytes, with `search(data, start)` alone.

    Args:
        expression: in the words of RE2.
        ignore_case: whether capitals are the same as small letters.
        many_lines: whether `^` and `$` are the ends of lines.
        never_newline: whether no match goes over a line.
        for_rust: the same for Rust, where its words are others.

    Raises:
        ExpressionError: it is none.
    """
    try:
        import re2  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        whole = not (many_lines or never_newline)
        return _LineExpression(_rust_fits(for_rust or expression, ignore_case), whole)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.never_nl = never_newline
    options.case_sensitive = not ignore_case
    options.max_mem = MAX_BYTES
    try:
        return re2.compile(f"(?m){expression}" if many_lines else expression, options)
    except re2.error as error:
        raise ExpressionError(*error.args) from None


def _rust_fits(expression: str, ignore_case: bool) -> Any:
    from pydantic import Field, TypeAdapter
    from pydantic_core import SchemaError

    text = _ASCII_BOUNDARY.sub(r"\1", expression)
    # `\<` would be the start of a word, and what is no sign may not be escaped.
    text = _ESCAPED.sub(lambda m: m[1] if m[1] in "<>" or not m[1].isprintable() else m[0], text)
    pattern = f"(?i:{text})" if ignore_case else text
    try:
        adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=pattern)])
    except SchemaError as error:
        reason = str(error).rpartition("error:")[2] or str(error)
        raise ExpressionError(reason.strip()) from None
    return adapter.validator.isinstance_python


@dataclass(frozen=True, slots=True)
class _LineMatch:
    """A line that fits."""

    first: int
    behind: int

    def start(self) -> int:
        return self.first

    def end(self) -> int:
        return self.behind


@dataclass(frozen=True, slots=True)
class _LineExpression:
    """What RE2 gives, as far as it is asked here: each line is tried by itself.

    `whole`: the text is no lines, as the path of a file, and tried at once.
    """

    fits: Any
    whole: bool

    def search(self, data: bytes, start: int = 0) -> _LineMatch | None:
        size = len(data)
        while start <= size:
            end = -1 if self.whole else data.find(b"\n", start)
            behind = size if end < 0 else end
            if self.fits(data[start:behind].decode("utf-8", "replace")):
                return _LineMatch(start, behind)
            if end < 0:
                return None
            start = end + 1
        return None
