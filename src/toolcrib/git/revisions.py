"""Names of branches, revisions, ranges and dates as a call writes them, checked before git."""

from __future__ import annotations

import re

from toolcrib.core.errors import BadInput

MAX_CHARS = 250
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_NAME = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\A[-/.]|[/.]\Z|\A@\Z|\AHEAD\Z"
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?: ?[+-]\d{2}:?\d{2}|Z)?)?\Z"
    r"|@?\d{6,12}\Z|\d{1,2}:\d{2}\Z"
    r"|(?:(?:\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten)[ .]"
    r"(?:second|minute|hour|day|week|month|year)s?[ .]?)+(?:ago)?\Z"
    r"|(?:today|yesterday|now|midnight|noon)\Z"
    r"|(?:last )?(?:second|minute|hour|day|week|month|year)\Z"
    r"|(?:last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\Z",
    re.IGNORECASE,
)


def branch_name(name: str, what: str = "branch") -> str:
    """A name that a branch or tag can have.

    Raises:
        BadInput: it cannot, or would be read as an option.
    """
    plain = name.strip().removeprefix("refs/heads/").removeprefix("refs/tags/")
    if not plain or len(plain) > MAX_CHARS or _NO_NAME.search(plain):
        raise BadInput(
            f"'{name[:100]}' cannot be the name of a {what}.",
            hint="Letters, digits and - _ . / only, with no - or / at its start.",
        )
    return plain


def remote_name(name: str) -> str:
    """The name of a configured remote, never an address.

    Raises:
        BadInput: it is none.
    """
    if not re.fullmatch(r"\w[\w./+-]{0,100}", name) or "://" in name:
        raise BadInput(
            f"'{name[:100]}' is not the name of a remote.", hint="Name one, such as origin."
        )
    return name


def revision(text: str) -> str:
    """A commit as git reads it: a branch, a tag, a hash, HEAD~2.

    Raises:
        BadInput: it would be read as an option, or has control characters.
    """
    plain = text.strip()
    if not plain or plain.startswith("-") or len(plain) > MAX_CHARS or _CONTROL.search(plain):
        raise BadInput(
            f"'{text[:100]}' is not a revision.",
            hint="Such as main, v1.2, HEAD~2, origin/main or a hash.",
        )
    return plain


def range_ends(text: str) -> tuple[str, str, str]:
    """The ends of `a..b`, `a...b` or `a b`, and what stands between; "" for both of one end alone.

    Raises:
        BadInput: an end is no revision.
    """
    parted = re.fullmatch(r"([^\s{}]+)\s+([^\s{}]+)", text.strip())
    text = f"{parted[1]}..{parted[2]}" if parted else text
    found = re.fullmatch(r"(.*?)(\.{2,3})(.*)", text.strip(), re.DOTALL)
    if not found:
        return revision(text), "", ""
    first, dots, second = found.groups()
    return revision(first or "HEAD"), dots, revision(second or "HEAD")


def date(text: str) -> str:
    """A date as git reads it; what git would take for now is refused.

    Raises:
        BadInput: it is none.
    """
    plain = text.strip()
    if not _DATE.match(plain):
        raise BadInput(
            f"'{text[:60]}' is not a date.", hint="Such as 2026-01-31, 2 weeks ago or yesterday."
        )
    return plain
