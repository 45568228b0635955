"""One pattern replaced wherever it stands, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.files.content.faithful import Splice
from toolcrib.files.search.pattern import reason_of

MAX_CHARS = 1000
MOST = 20_000
"""Places in one text."""
_REFERENCE = re.compile(r"\\(\d)|\\g<(\w+)>|\$(\d)|\$\{(\w+)\}|\\\\")
_CLASSES = {"w": r"\pL\pM\pN_", "d": r"\p{Nd}"}
_TOKEN = re.compile(r"\\(.)|\[|\]|.", re.DOTALL)


class Replacing:
    r"""A pattern and what takes its place.

    In an expression with groups, `\1`, `\\g<name>`, `$1` and `${name}` of the replacement
    stand for what they matched; everything else in it is literal, and all of it where the
    pattern has no groups or is plain text.

    Args:
        pattern: an RE2 expression, or plain text; `^` and `$` are the ends of lines.
        replacement: see above.
        literal: take the pattern as plain text.
        ignore_case: whether the case of letters does not matter.

    Raises:
        BadInput: the pattern is empty, too long, or no expression of RE2.
    """

    def __init__(
        self, pattern: str, replacement: str, *, literal: bool = False, ignore_case: bool = False
    ) -> None:
        if not pattern:
            raise BadInput("The pattern is empty.")
        if len(pattern) > MAX_CHARS:
            raise BadInput(f"The pattern has {len(pattern):,} characters, more than {MAX_CHARS:,}.")
        plain = pattern.replace("\r\n", "\n")
        self._replacement = replacement.replace("\r\n", "\n")
        self._engine = _compiled(plain, literal=literal, ignore_case=ignore_case)
        self._groups = 0 if literal else self._engine.groups
        self._names = frozenset(self._engine.groupindex) if self._groups else frozenset()

    def may_fit(self, raw: bytes | None) -> bool:
        """Whether a file needs a closer look, from its bytes; None is one that was not read.

        False is said only of plain ASCII text, which is searched as it stands.
        """
        if raw is None or not raw.isascii() or b"\r" in raw or b"\0" in raw:
            return True
        return self._engine.search(raw) is not None

    def splices(self, text: str) -> list[Splice]:
        """The changes of a text, in order; places where nothing would change are left out.

        Raises:
            TooLarge: there are more than MOST.
        """
        raw = text.encode("utf-8", "surrogatepass")
        found: list[Splice] = []
        at = chars = 0
        for match in self._engine.finditer(raw):
            start, end = match.span()
            chars += len(raw[at:start].decode("utf-8", "surrogatepass"))
            old = raw[start:end].decode("utf-8", "surrogatepass")
            new = self._expanded(match)
            if new != old:
                found.append(Splice(chars, chars + len(old), new))
            if len(found) > MOST:
                raise TooLarge(f"The pattern stands there more than {MOST:,} times.")
            chars += len(old)
            at = end
        return found

    def _expanded(self, match: Any) -> str:
        if not self._groups:
            return self._replacement
        return _REFERENCE.sub(lambda found: self._group(match, found), self._replacement)

    def _group(self, match: Any, found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3] or found[4]
        if name is None:
            return "\\"
        if not (int(name) <= self._groups if name.isdigit() else name in self._names):
            return found[0]
        value: bytes | None = match.group(int(name) if name.isdigit() else name)
        return (value or b"").decode("utf-8", "surrogatepass")


def _compiled(pattern: str, *, literal: bool, ignore_case: bool) -> Any:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    text = re2.escape(pattern) if literal else "".join(_unicode(pattern))
    try:
        return re2.compile(text if literal else f"(?m){text}", options)
    except re2.error as error:
        raise BadInput(
            f"The pattern is no expression: {reason_of(error)}.",
            hint="It is an RE2 expression, without look-around and back-references. "
            "literal=true takes it as plain text.",
        ) from None


def _unicode(pattern: str) -> Iterator[str]:
    """The expression with word characters and digits of every script."""
    inside = False
    for token in _TOKEN.finditer(pattern):
        text, escaped = token[0], token[1]
        if escaped in _CLASSES:
            text = _CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]"
        elif escaped == "W" and not inside:
            text = f"[^{_CLASSES['w']}]"
        elif text == "[":
            inside = True
        elif text == "]":
            inside = False
        yield text
