"""The branches of the configuration about what lasts beyond a conversation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from toolcrib.core.settings import Section


class PlanConfig(Section):
    """Plans of longer tasks."""

    hint: Annotated[
        Literal["always", "when_useful", "never"],
        Field(description="When agents and `toolcrib chat` are told to make one."),
    ] = "when_useful"


class MemoryConfig(Section):
    """What is remembered beyond a conversation."""

    verbs: Annotated[
        bool, Field(description="Offer the tool `memory`, which shows memories as files.")
    ] = False
    track: Annotated[
        bool,
        Field(
            description="Note what conversations do: files changed, commands that failed and then "
            "passed, settings, the last page. restore_session shows it."
        ),
    ] = True
    track_threshold: Annotated[
        int,
        Field(
            ge=10,
            le=100,
            description="At how many percent of `window` the person is asked once whether what was "
            "done is kept for the project; else it ends after 24 hours.",
        ),
    ] = 75
    window: Annotated[
        int, Field(ge=1000, description="Tokens of results that fill a conversation.")
    ] = 32_000
    summary_interval: Annotated[
        int, Field(ge=10, le=200, description="After how many events they are summed up in one.")
    ] = 50
    state_bytes: Annotated[
        int, Field(ge=1024, le=1_048_576, description="How large the state of the work may be.")
    ] = 262_144
