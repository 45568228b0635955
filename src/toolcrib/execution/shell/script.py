"""The records of a shell text: its commands, their words, and what is in doubt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    Attributes:
        text: as it is written.
        value: what the shell makes of it; None where that is not written there.
        plain: it is written bare or in one pair of quotes, without tricks.
        glob: it may stand for the names of files.
    """

    text: str
    value: str | None
    plain: bool = True
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command and its words, the name first.

    Attributes:
        words: never empty.
        nested: it stands in the words of another command, as far as one can tell.
    """

    words: tuple[Word, ...]
    nested: bool = False

    @property
    def values(self) -> tuple[str | None, ...]:
        """The words as the shell makes them."""
        return tuple(word.value for word in self.words)

    @property
    def name(self) -> str:
        """The name without its folder; empty where it is not known."""
        return (self.words[0].value or "").rpartition("/")[2]

    def __str__(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Script:
    """What a text would run.

    Attributes:
        commands: each command, also those inside of substitutions and other commands.
        unknown: why some command of it cannot be known; empty where all are.
        doubts: what it does beside running its commands, such as writing to a file.
        reads: files that are read by redirection.
    """

    commands: tuple[Command, ...]
    unknown: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    reads: tuple[Word, ...] = ()
