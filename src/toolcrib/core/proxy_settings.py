"""The branch of the configuration for the proxy in front of model servers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from toolcrib.core.settings import Names, Section


class UpstreamConfig(Section):
    """A model server behind the proxy."""

    base_url: Annotated[str, Field(description="Its address, as http://127.0.0.1:1234/v1.")]
    models: Annotated[
        Names, Field(description="Models that it gets, as globs; empty: those that it lists.")
    ] = []
    api_key_env: Annotated[
        str, Field(description="Name of the environment variable that holds its key.")
    ] = ""


class ProxyConfig(Section):
    """`toolcrib proxy`: model servers behind tools, memory and mended tool calls."""

    port: Annotated[
        int, Field(ge=0, le=65_535, description="Port of `toolcrib proxy`; 0 takes a free one.")
    ] = 8723
    serve: Annotated[
        bool, Field(description="Answer under `toolcrib serve` too, beside MCP and OpenAPI.")
    ] = False
    upstreams: Annotated[
        list[UpstreamConfig],
        Field(
            description="Model servers; a request goes to the one that has its model, else to the "
            "first. Empty: agent.base_url, else those of agent.servers that answer."
        ),
    ] = []
    mend: Annotated[
        bool,
        Field(
            description="Turn tool calls that came as text into tool calls, and repair their "
            "arguments, where a request offers tools."
        ),
    ] = True
    stages: Annotated[
        Names, Field(description="Stages that are on, such as memory and clock; see docs/proxy.md.")
    ] = []
    tools: Annotated[
        str,
        Field(
            description="Tools of toolcrib for clients that have none of their own: profiles, "
            "groups and tools, by commas. Empty: none."
        ),
    ] = ""
    rounds: Annotated[
        int, Field(ge=1, le=30, description="Answers of the model in which our tools are called.")
    ] = 8
    seconds: Annotated[
        PositiveFloat, Field(description="Seconds after which none of our tools is called.")
    ] = 120.0
    max_body_mb: Annotated[
        PositiveInt, Field(description="Megabytes of a request; pictures make it long.")
    ] = 512
    trace: Annotated[
        bool, Field(description="Show on stderr what was done to each request, without secrets.")
    ] = False
