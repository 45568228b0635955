"""The parser of a command, which says in words what is missing or not understood."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NoReturn

from toolcrib.surfaces.cli.commands import Command

MISSING = "arguments are required: "
"""How argparse begins to list them, those that may be left out too."""


class UsageParser(ArgumentParser):
    """A parser whose complaints name what to write instead."""

    def error(self, message: str) -> NoReturn:
        """Say it and end with 2, as argparse does."""
        names = message.partition(MISSING)[2].split(", ")
        wanted = [
            action
            for action in self._get_positional_actions()
            if (action.metavar or action.dest) in names and action.nargs not in ("?", "*")
        ]
        if not wanted:
            super().error(message)
        first = wanted[0]
        choices = f"one of {', '.join(first.choices)}" if first.choices else ""
        about = f": {first.help or choices}" if first.help or choices else ""
        self.refuse(f"{first.metavar or first.dest} is missing{about}.", self._example)

    def refuse(self, message: str, hint: str = "") -> NoReturn:
        """Say what is wrong and what to write, and end with 2."""
        text = f"{self.prog}: {message}\n{hint}".rstrip()
        self.exit(2, f"{text}\n{self.prog} --help says more.\n")

    @property
    def _example(self) -> str:
        """The first example of its help, as a sentence."""
        lines = (line.strip() for line in (self.epilog or "").splitlines())
        found = next((line for line in lines if line.startswith(f"{self.prog} ")), "")
        return f"For example: {found}" if found else ""


def refuse_unknown(
    parser: UsageParser, command: Command, unknown: Sequence[str], words: Sequence[str]
) -> NoReturn:
    """Say that some words are not understood, and what was probably meant.

    Args:
        parser: of the command.
        command: it.
        unknown: what nothing is known of.
        words: all that was written after the name of the command.
    """
    hint = ""
    if command.name == "call":
        from toolcrib.surfaces.cli.call import how_to_write

        hint = how_to_write(words)
    parser.refuse(f"'{' '.join(unknown)[:80]}' is not understood here.", hint)
