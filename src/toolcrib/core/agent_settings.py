"""The branch of the configuration for agents: the model server, and what a run may use."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from toolcrib.core.settings import Names, Section


class RoleConfig(Section):
    """A role of your own, or in place of a built-in one."""

    persona: Annotated[str, Field(description="What the model is told that it is.")] = ""
    tools: Annotated[
        Names, Field(description="Groups, tools or globs on their names; empty: all.")
    ] = []
    rights: Annotated[
        Names, Field(description="What its tools may do: read, write, net, exec and so on.")
    ] = ["read"]
    model: Annotated[str, Field(description="The model; empty: agent.model.")] = ""


class AgentConfig(Section):
    """Agents and `toolcrib chat`: loops that ask a model server of yours."""

    base_url: Annotated[
        str,
        Field(description="An OpenAI-compatible server, as http://127.0.0.1:1234/v1."),
    ] = ""
    servers: Annotated[
        Names, Field(description="Asked in turn where base_url is empty; the first that answers.")
    ] = [
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:8080/v1",
    ]
    model: Annotated[str, Field(description="The model; empty: the first of the server.")] = ""
    api_key_env: Annotated[
        str, Field(description="Name of the environment variable that holds the server's key.")
    ] = ""
    temperature: Annotated[
        float | None, Field(ge=0, le=2, description="Unset: the server's own.")
    ] = None
    answer_tokens: Annotated[
        int, Field(ge=0, description="Tokens of one answer of the model; 0: the server's own.")
    ] = 0
    extra: Annotated[
        dict[str, Any], Field(description="More fields of each request, such as top_p.")
    ] = {}
    tool_calls: Annotated[
        Literal["auto", "native", "text"],
        Field(description="How tools are offered; auto: native, and as text if refused."),
    ] = "auto"
    steps: Annotated[int, Field(ge=1, le=30, description="Answers of the model in a run.")] = 8
    seconds: Annotated[
        float,
        Field(
            ge=1,
            le=3600,
            description="Seconds of a run, if the call sets none, and of chat -p.",
        ),
    ] = 120.0
    max_calls: Annotated[PositiveInt, Field(description="Tool calls of a run.")] = 24
    max_tokens: Annotated[
        PositiveInt, Field(description="Tokens of a run: all that is read and written.")
    ] = 400_000
    repeats: Annotated[
        int, Field(ge=2, le=20, description="Equal calls, errors or bad forms that end a run.")
    ] = 3
    first_seconds: Annotated[
        PositiveFloat,
        Field(description="Silence before an answer that ends it; a model may load for minutes."),
    ] = 600.0
    stall_seconds: Annotated[
        PositiveFloat, Field(description="Silence in the middle of an answer that ends it.")
    ] = 60.0
    max_messages: Annotated[
        int, Field(ge=4, description="Messages kept beside the task; older ones are left out.")
    ] = 16
    result_tokens: Annotated[
        int, Field(ge=100, description="Tokens of a tool's result in a run.")
    ] = 4_000
    web_tokens: Annotated[
        int, Field(ge=100, description="Tokens of a result from the network in a run.")
    ] = 2_000
    max_listed_tools: Annotated[
        int,
        Field(ge=4, description="Tools that are listed to the model; the rest by search_tools."),
    ] = 24
    roles: Annotated[dict[str, RoleConfig], Field(description="Roles by name.")] = {}
    instructions: Annotated[
        str, Field(description="A file of the workspace that a run is shown; empty: none.")
    ] = "SUB_AGENT_INSTRUCTIONS.md"
    journal: Annotated[
        str, Field(description="A file of the workspace that gets a line a run; empty: none.")
    ] = ""
    review: Annotated[
        bool, Field(description="Let a reviewer check each answer; what it finds is added.")
    ] = False
    review_steps: Annotated[
        int, Field(ge=1, le=30, description="Answers of the model in a review.")
    ] = 5
    auto_save: Annotated[
        bool, Field(description="Save code blocks of an answer that name a file.")
    ] = False
    show_code: Annotated[bool, Field(description="Leave the saved code in the answer as well.")] = (
        False
    )
    show_log: Annotated[bool, Field(description="Add the steps of the run to the result.")] = False
    keep: Annotated[PositiveInt, Field(description="Runs whose trace is kept.")] = 200
