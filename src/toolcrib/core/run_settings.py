"""The branch of the configuration for running code."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from toolcrib.core.commands import wrong_example
from toolcrib.core.settings import Action, Names, Section


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
        Field(description="What happens to changed files if a call does not say it."),
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
        list[CommandRule], Field(description="Commands allowed, asked about or denied.")
    ] = []
    pending_hours: Annotated[
        PositiveFloat, Field(description="Hours for which held changes of a run are kept.")
    ] = 24.0
    held_mb: Annotated[
        PositiveInt, Field(description="Megabytes of all held changes; the oldest go first.")
    ] = 4_000
    limits: RunLimits = RunLimits()
