"""SQL for a server as a text: one statement that reads, and the functions that it calls.

The server's own parser has the last word. This keeps from it what is no single SELECT, and finds
the names of all functions, in quotes or not, so that each can be asked for in a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from toolcrib.core.errors import BadInput, Denied

Dialect = Literal["postgresql", "mariadb"]
HINT = "Send one SELECT."
LISTING_HINT = "describe_database shows the tables and their columns."
_FIRST = frozenset({"select", "with", "values", "table"})
_LISTING = frozenset({"show", "describe", "desc", "\\"})
"""What begins the commands of servers and their shells, as `\\d item`, that list what there is."""
_WORD = re.compile(r"[^\W\d][\w$]*", re.UNICODE)
_MARIADB_WORD = re.compile(r"[\w$]+", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_DOLLAR = re.compile(r"\$(?:[^\W\d]\w*)?\$")
_NEVER = frozenset({"into", "outfile", "dumpfile", "procedure"})
"""Words of MariaDB that make a SELECT write or run something."""


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A piece of a statement: a word, a name in quotes, a text, or a sign."""

    kind: Literal["word", "name", "text", "sign"]
    text: str
    end: int


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """One SELECT: its text without the semicolon, and what it may call.

    Attributes:
        calls: names before a bracket; words of the language among them.
        members: names after a dot, which PostgreSQL also takes for functions of a row.
    """

    text: str
    calls: frozenset[str]
    members: frozenset[str]


def read_statement(sql: str, dialect: Dialect) -> ReadStatement:
    """A statement, if it is one that reads.

    Raises:
        Denied: it is another, or more than one.
        BadInput: a quote or a comment has no end.
    """
    tokens = list(_tokens(sql, dialect))
    while tokens and tokens[-1].text == ";" and tokens[-1].kind == "sign":
        tokens.pop()
    if any(token.kind == "sign" and token.text == ";" for token in tokens):
        raise Denied("There is more than one statement.", hint=HINT)
    first = next((token for token in tokens if token.text != "("), None)
    if first is None:
        raise BadInput("There is no SQL.", hint=HINT)
    if first.kind not in ("word", "sign") or first.text.lower() not in _FIRST:
        hint = LISTING_HINT if first.text.lower() in _LISTING else HINT
        raise Denied("Only statements that read are run here.", hint=hint)
    if dialect == "mariadb":
        _check_words(tokens)
    calls, members = set(), set()
    for before, token in zip([None, *tokens], [*tokens, None], strict=True):
        if before is None or before.kind not in ("word", "name"):
            if before is not None and before.text == "." and token is not None:
                members.add(_folded(token, dialect))
            continue
        if token is not None and token.kind == "sign" and token.text == "(":
            calls.add(_folded(before, dialect))
    return ReadStatement(sql[: tokens[-1].end], frozenset(calls), frozenset(members))


def _folded(token: SqlToken, dialect: Dialect) -> str:
    """A name as the server compares it."""
    return token.text if token.kind == "name" and dialect == "postgresql" else token.text.lower()


def _check_words(tokens: list[SqlToken]) -> None:
    """Refuse what MariaDB does besides reading in the middle of a SELECT."""
    words = [token.text.lower() if token.kind in ("word", "sign") else "" for token in tokens]
    for number, word in enumerate(words):
        if number and words[number - 1] == ".":
            continue
        pair = (word, words[number + 1] if number + 1 < len(words) else "")
        if word in _NEVER or pair in (
            ("for", "update"),
            ("for", "share"),
            ("lock", "in"),
            ("value", "for"),
            (":", "="),
        ):
            raise Denied(f"'{' '.join(filter(None, pair))}' does more than read.", hint=HINT)


def _tokens(sql: str, dialect: Dialect) -> Iterator[SqlToken]:
    if "\0" in sql:
        raise BadInput("There is a NUL in the SQL.", hint=HINT)
    at = 0
    while at < len(sql):
        sign = sql[at]
        if sign.isspace():
            at += 1
            continue
        end = _comment_end(sql, at, dialect)
        if end:
            at = end
            continue
        token = _token(sql, at, dialect)
        yield token
        at = token.end


def _token(sql: str, at: int, dialect: Dialect) -> SqlToken:
    quoted = _quoted_token(sql, at, dialect)
    if quoted:
        return quoted
    found = (_WORD if dialect == "postgresql" else _MARIADB_WORD).match(sql, at)
    if found:
        return SqlToken("word", found[0], found.end())
    number = _NUMBER.match(sql, at)
    end = number.end() if number else at + 1
    return SqlToken("sign", sql[at:end], end)


def _quoted_token(sql: str, at: int, dialect: Dialect) -> SqlToken | None:
    sign = sql[at]
    if dialect == "postgresql":
        if sql[at : at + 2] in ("e'", "E'"):
            return _quoted(sql, at + 1, "text", backslash=True)
        if sql[at : at + 3].lower() in ("u&'", 'u&"'):
            raise Denied("Texts and names by numbers of characters are not read.", hint=HINT)
        dollar = _DOLLAR.match(sql, at)
        if dollar:
            stop = sql.find(dollar[0], dollar.end())
            if stop < 0:
                raise _unclosed(dollar[0])
            end = stop + len(dollar[0])
            return SqlToken("text", sql[at:end], end)
        if sign == "'":
            return _quoted(sql, at, "text", backslash=False)
        if sign == '"':
            return _quoted(sql, at, "name", backslash=False)
    else:
        if sign in "'\"":
            return _quoted(sql, at, "text", backslash=True)
        if sign == "`":
            return _quoted(sql, at, "name", backslash=False)
    return None


def _quoted(sql: str, at: int, kind: Literal["text", "name"], *, backslash: bool) -> SqlToken:
    """What stands in quotes; a doubled quote is one of its characters."""
    quote, place = sql[at], at + 1
    inside: list[str] = []
    while place < len(sql):
        if backslash and sql[place] == "\\":
            place += 2
            continue
        if sql[place] == quote:
            if sql[place + 1 : place + 2] != quote:
                return SqlToken(kind, "".join(inside) if kind == "name" else "'", place + 1)
            place += 1
        inside.append(sql[place])
        place += 1
    raise _unclosed(quote)


def _comment_end(sql: str, at: int, dialect: Dialect) -> int:
    """Where a comment ends that begins here; 0 for none."""
    if sql.startswith("--", at) and (
        dialect == "postgresql" or at + 2 >= len(sql) or sql[at + 2] <= " "
    ):
        return _line_end(sql, at, dialect)
    if dialect == "mariadb" and sql[at] == "#":
        return _line_end(sql, at, dialect)
    if not sql.startswith("/*", at):
        return 0
    if dialect == "mariadb":
        if sql[at + 2 : at + 3] == "!" or sql[at + 2 : at + 4] == "M!":
            raise Denied("Comments that are run are not sent.", hint=HINT)
        end = sql.find("*/", at + 2)
        if end < 0:
            raise _unclosed("/*")
        return end + 2
    depth, place = 1, at + 2
    while depth:
        opened, closed = sql.find("/*", place), sql.find("*/", place)
        if closed < 0:
            raise _unclosed("/*")
        nested = 0 <= opened < closed
        depth += 1 if nested else -1
        place = (opened if nested else closed) + 2
    return place


def _line_end(sql: str, at: int, dialect: Dialect) -> int:
    ends = "\n\r" if dialect == "postgresql" else "\n"
    return next((n + 1 for n in range(at, len(sql)) if sql[n] in ends), len(sql))


def _unclosed(sign: str) -> BadInput:
    return BadInput(f"What {sign} opens is not closed.", hint=HINT)
