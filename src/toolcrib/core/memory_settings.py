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
