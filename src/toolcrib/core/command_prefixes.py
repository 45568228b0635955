"""Prefixes of commands: what a rule means, and the check of its examples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Pattern: TypeAlias = Sequence[str | Sequence[str]]
"""The first words of a command; a list stands for any of its words."""

BETWEEN = frozenset(";&|()\n")
"""What stands between commands, as shlex gives it."""


def covers(pattern: Pattern, words: Sequence[str | None]) -> bool | None:
    """Whether a command starts as a pattern says.

    Args:
        pattern: what the words must be.
        words: the words of a command; None for one that only the shell knows.

    Returns:
        None where it depends on words that are not known.
    """
    if len(words) < len(pattern):
        return False
    sure = True
    for wanted, word in zip(pattern, words, strict=False):
        if word is None:
            sure = False
        elif word not in ((wanted,) if isinstance(wanted, str) else wanted):
            return False
    return True if sure else None


def example_commands(text: str) -> Iterator[list[str]]:
    """The commands of an example, as plain words.

    Raises:
        ValueError: a quote is not closed.
    """
    splitter = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    splitter.whitespace = " \t\r"
    splitter.whitespace_split = True
    splitter.commenters = ""
    words: list[str] = []
    for word in splitter:
        if word and set(word) <= BETWEEN:
            if words:
                yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words


def wrong_example(
    pattern: Pattern, match: Sequence[str], not_match: Sequence[str]
) -> tuple[str, str] | None:
    """The first example that a pattern contradicts, and what is wrong with it; else None."""
    for examples, wanted in ((match, True), (not_match, False)):
        for example in examples:
            try:
                found = any(covers(pattern, words) for words in example_commands(example))
            except ValueError as error:
                return example, f"cannot be read: {error}"
            if found is not wanted:
                return example, "is not matched by it" if wanted else "is matched by it"
    return None
