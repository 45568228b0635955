"""The branch of the configuration for running code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from toolcrib.core.settings import Action, Names, Section

# Prefixes of commands: what a rule means, and the check of its examples.

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


class CommandRule(Section):
    """A rule for commands that begin with these words; of several that match, the strictest."""

    pattern: Annotated[
        list[str | list[str]],
        Field(min_length=1, description="The first words; a list in it is any of its words."),
    ]
    action: Annotated[Action, Field(description="allow, ask or deny.")]
    match: Annotated[
        list[str], Field(description="Commands that it must match, checked when it is read.")
    ] = []
    not_match: Annotated[list[str], Field(description="Commands that it must not match.")] = []

    @model_validator(mode="after")
    def _is_as_its_examples_say(self) -> Self:
        wrong = wrong_example(self.pattern, self.match, self.not_match)
        if wrong is not None:
            raise ValueError(f"the example '{wrong[0]}' {wrong[1]}")
        return self


class RunLimits(Section):
    """What one run may use; megabytes are of 1,000,000 bytes."""

    memory_mb: Annotated[
        PositiveInt, Field(description="Memory of all processes of a run together.")
    ] = 2_000
    cpu_seconds: Annotated[
        PositiveFloat, Field(description="CPU time of one process of a run.")
    ] = 3_600.0
    processes: Annotated[PositiveInt, Field(description="Processes and threads of a run.")] = 512
    file_mb: Annotated[PositiveInt, Field(description="Size of one file that a run writes.")] = (
        1_000
    )
    disk_mb: Annotated[PositiveInt, Field(description="All that a run writes to disk.")] = 2_000
    output_mb: Annotated[
        PositiveInt, Field(description="Output after which a run in the foreground is stopped.")
    ] = 100
    open_files: Annotated[PositiveInt, Field(description="Open files of one process.")] = 4_096


class RunConfig(Section):
    """How code runs, and behind which boundary."""

    level: Annotated[
        Literal["auto", "strong", "kernel", "none"],
        Field(description="auto: the strongest that works; none: no boundary at all."),
    ] = "auto"
    commit: Annotated[
        Literal["auto", "ask", "never"],
        Field(
            description="What happens to changed files; a call can only be stricter. ask: held "
            "until the user makes them, never: dropped."
        ),
    ] = "auto"
    python: Annotated[
        str, Field(description="Interpreter of run_python; else the workspace's .venv, else ours.")
    ] = ""
    javascript: Annotated[
        Literal["auto", "deno", "node", "quickjs"],
        Field(description="Engine of run_javascript; auto: deno, else node, else quickjs."),
    ] = "auto"
    network: Annotated[
        Names, Field(description="Hosts that runs may reach, through the guard: host or *.suffix.")
    ] = []
    readable: Annotated[
        Names, Field(description="More folders that runs may read, such as toolchains.")
    ] = []
    environment: Annotated[
        Names, Field(description="Names of variables that runs may see, beside PATH, LANG and TZ.")
    ] = []
    rules: Annotated[
        list[CommandRule],
        Field(
            description="Commands allowed, asked about or denied: advice beside the boundary, for "
            "a program can start others."
        ),
    ] = []
    pending_hours: Annotated[
        PositiveFloat, Field(description="Hours for which held changes of a run are kept.")
    ] = 24.0
    pending_mb: Annotated[
        PositiveInt, Field(description="Megabytes of all held changes; the oldest go first.")
    ] = 4_000
    limits: RunLimits = RunLimits()
