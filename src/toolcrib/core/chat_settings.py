"""The branches `guard` and `stages` of the configuration: what is done to a prompt."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from toolcrib.core.settings import Names, Section


class GuardConfig(Section):
    """The context guard, which keeps a conversation within the model's window."""

    enabled: Annotated[bool, Field(description="Whether it acts where its surface has it.")] = True
    limit: Annotated[
        int,
        Field(ge=1_000, le=200_000, description="Tokens of a window that no server told of."),
    ] = 80_000
    trigger: Annotated[
        float, Field(ge=0.3, le=0.95, description="Share of the window at which it acts.")
    ] = 0.9
    target: Annotated[
        float, Field(ge=0.1, le=0.9, description="Share of the window that it aims at then.")
    ] = 0.5
    keep_messages: Annotated[
        int, Field(ge=1, le=200, description="The last messages, which are not summed up.")
    ] = 10
    keep_results: Annotated[
        int, Field(ge=1, le=50, description="The last results of tools, which stay.")
    ] = 3
    summary: Annotated[
        Literal["model", "extract"],
        Field(description="Who sums up: a model, or by rules, without one."),
    ] = "model"
    summary_model: Annotated[
        str, Field(description="The model that sums up; empty: that of the conversation.")
    ] = ""
    summary_tokens: Annotated[
        int, Field(ge=100, le=8_000, description="Tokens of what the model writes.")
    ] = 1_024
    summary_seconds: Annotated[
        PositiveFloat, Field(description="Seconds that it has; then it is done by rules.")
    ] = 120.0
    offload: Annotated[
        bool,
        Field(
            description="Take large old results out from a quarter of the window on, before "
            "the trigger."
        ),
    ] = False
    offload_bytes: Annotated[
        int, Field(ge=1_024, le=1_048_576, description="From what size a result is large.")
    ] = 16_384
    report: Annotated[
        Literal["status", "answer", "off"],
        Field(description="Where the person sees what was done: a status line, the answer."),
    ] = "status"
    keep_days: Annotated[
        PositiveFloat, Field(description="Days for which what was done to a chat is known.")
    ] = 30.0
    keep_bytes: Annotated[
        PositiveInt, Field(description="Bytes of that for one token; the oldest go first.")
    ] = 16_000_000


class StagesConfig(Section):
    """What else is done to the prompts of chats."""

    use: Annotated[
        Names, Field(description="Stages that are on besides those of the surface, by name.")
    ] = []
    skip: Annotated[Names, Field(description="Stages that are off.")] = []
    clock: Annotated[
        Literal["standard", "today", "iso"],
        Field(description="How the time is written: a stamp, a sentence, or ISO 8601."),
    ] = "standard"
    language: Annotated[
        Literal["", "en", "de", "es", "zh-CN", "zh-TW"],
        Field(description="Language of notes and questions; empty: that of the conversation."),
    ] = ""
    document_share: Annotated[
        float,
        Field(ge=0, le=1, description="Share of the free window that whole documents may take."),
    ] = 0.7
    memory_tokens: Annotated[
        int, Field(ge=50, le=8_000, description="Tokens of memories that a message gets.")
    ] = 800
    dossier_chars: Annotated[
        int, Field(ge=200, le=50_000, description="Characters of what earlier sessions left.")
    ] = 4_000
    tools_text: Annotated[
        Literal["off", "lite", "full"],
        Field(description="Tools in words at the start of a conversation."),
    ] = "off"
    start_files: Annotated[
        Names, Field(description="Files of the workspace that a conversation starts with.")
    ] = ["startup.md", ".toolbox/startup.md", "instructions/startup.md"]
    delegation: Annotated[
        Literal["always", "when_useful", "hard_tasks", "never"],
        Field(description="How often a model is told that it can delegate."),
    ] = "when_useful"
    capture_messages: Annotated[
        int, Field(ge=1, le=20, description="After how many messages facts are looked for.")
    ] = 5
    attachment_days: Annotated[
        PositiveFloat, Field(description="Days for which attached files are kept.")
    ] = 30.0
