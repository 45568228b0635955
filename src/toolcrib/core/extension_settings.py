"""The branches `mcp` and `ui` of the configuration."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from toolcrib.core.settings import Names, Section

SERVER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UiConfig(Section):
    """Pages that a host shows by itself."""

    apps: Annotated[
        Literal["auto", "off"],
        Field(description="Offer the page of show to hosts that have MCP Apps; off: to none."),
    ] = "auto"


class McpServerConfig(Section):
    """One other MCP server: a program (`command`), or an address (`url`)."""

    command: Annotated[str, Field(description="The program; it talks over stdin and stdout.")] = ""
    args: Annotated[list[str], Field(description="Its arguments.")] = []
    cwd: Annotated[str, Field(description="Folder that it starts in; empty: the home folder.")] = ""
    env: Annotated[
        dict[str, str], Field(description="Variables that it sees; secrets stand in env_from.")
    ] = {}
    env_from: Annotated[
        dict[str, str],
        Field(description="More of them, each with the name of the variable that holds it here."),
    ] = {}
    url: Annotated[
        str, Field(description="Address of a server that speaks Streamable HTTP; it is opened.")
    ] = ""
    headers: Annotated[dict[str, str], Field(description="Headers of each request to it.")] = {}
    headers_from: Annotated[
        dict[str, str],
        Field(description="More of them, each with the name of the variable that holds it here."),
    ] = {}
    enabled: Annotated[bool, Field(description="Whether its tools are there.")] = True
    tools: Annotated[Names, Field(description="Those of its tools that are there, as globs.")] = [
        "*"
    ]
    private: Annotated[
        bool, Field(description="Its results may be the user's own, and count as read like files.")
    ] = True
    roots: Annotated[bool, Field(description="Tell it the folders of the workspace.")] = False
    sampling: Annotated[
        bool, Field(description="Let it ask the model of agent.base_url, in a call of its tools.")
    ] = False
    start_seconds: Annotated[
        PositiveFloat, Field(description="Seconds in which it is started and says what it has.")
    ] = 30.0
    call_seconds: Annotated[
        PositiveFloat, Field(description="Seconds that one call of it may take.")
    ] = 300.0

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command or a url")
        for variable in (*self.env_from.values(), *self.headers_from.values()):
            if not VARIABLE.fullmatch(variable):
                raise ValueError("env_from and headers_from name variables, never the secret")
        return self


class McpConfig(Section):
    """Other MCP servers, whose tools are offered as NAME_tool."""

    servers: Annotated[dict[str, McpServerConfig], Field(description="The servers by name.")] = {}

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        for name in self.servers:
            if not SERVER_NAME.fullmatch(name):
                raise ValueError(
                    f"'{name[:40]}' is no name of a server: letters, digits and dashes, 32 at most"
                )
        return self
