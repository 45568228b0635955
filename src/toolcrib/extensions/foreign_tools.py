"""Tools of other MCP servers as tools here: what is shown of them, and what a call of one does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.extension_settings import McpServerConfig
from toolcrib.core.result import Result
from toolcrib.core.tool import ERASE, NET, SEND, Tool
from toolcrib.extensions.definitions import ServerFacts, ToolDefinition, listed_names, wanted
from toolcrib.extensions.schemas import WHOLE, flattened, one_line
from toolcrib.extensions.servers import ForeignServers

DESCRIPTION_CHARS = 300
GUIDANCE_CHARS = 4_000
SCHEMA_CHARS = 12_000


class ForeignTool(Tool):
    """A tool of another MCP server.

    It may send and use the network, so that it asks, and is taken to destroy; what its server
    says of it can only add to that.

    Args:
        server: the name of the server.
        name: its name here.
        definition: as the server defines it.
        settings: those of the server.
    """

    def __init__(
        self, server: str, name: str, definition: ToolDefinition, settings: McpServerConfig
    ) -> None:
        content = definition.content
        hints = content.get("annotations")
        hints = hints if isinstance(hints, Mapping) else {}
        arguments = flattened(content.get("inputSchema"))
        text = str(content.get("description") or content.get("title") or "")
        first = one_line(text.strip().split("\n\n")[0], DESCRIPTION_CHARS)
        described = f"{first or one_line(definition.name, 80)} (tool of {server})"
        rights = SEND | NET
        if hints.get("destructiveHint") is True:
            rights |= ERASE

        async def call(*, ctx: Ctx, **given: Any) -> Result:
            sent = arguments.sent(given)
            return await ctx.use(ForeignServers).call(server, definition.name, sent, ctx)

        vars(self).update(
            function=call,
            name=name,
            group=server,
            rights=rights,
            keywords=(),
            aliases=(),
            argument_aliases={real: name for name, real in arguments.real_names.items()},
            profiles=(),
            destructive=True,
            idempotent=False,
            seconds=settings.call_seconds,
            concurrency=None,
            effective_rights=None,
            policy_check=None,
            argument_adapter=None,
            parameters=arguments.parameters,
            parameter_of_others=WHOLE if arguments.whole else "",
            schema=arguments.schema,
            parameter_texts=tuple((p.name, p.meta.description) for p in arguments.parameters),
            paragraphs=[described],
            _definition=definition,
        )

    @property
    def module(self) -> str:
        """Where it comes from."""
        return f"the MCP server {self.group}"

    @property
    def source(self) -> str:
        """Whose words its texts are."""
        return f"mcp:{self.group}"

    @property
    def original(self) -> str:
        """All that its server says of it, as text: its description, and the whole schema."""
        content = vars(self)["_definition"].content
        schema = json.dumps(content.get("inputSchema", {}), ensure_ascii=False)
        text = str(content.get("description", ""))[:GUIDANCE_CHARS]
        return f"{text}\n\nSchema of its arguments: {schema[:SCHEMA_CHARS]}".strip()

    @property
    def all_aliases(self) -> tuple[str, ...]:
        """None: names of other systems are not for it."""
        return ()

    @property
    def all_argument_aliases(self) -> Mapping[str, str]:
        """None, likewise."""
        return {}


def foreign_tools(
    servers: Mapping[str, McpServerConfig], facts: Mapping[str, ServerFacts], others: Sequence[Tool]
) -> list[Tool]:
    """The tools of all servers, as they were accepted.

    Args:
        servers: their settings by name.
        facts: what is known of them.
        others: the tools that there are already, whose names are taken.
    """
    taken = {name for tool in others for name in (tool.name, *tool.aliases)}
    found: list[Tool] = []
    for server, settings in servers.items():
        definitions = wanted(settings, facts[server].accepted.values())
        names = listed_names(server, (d.name for d in definitions), taken)
        taken.update(names.values())
        found += [
            ForeignTool(server, names[d.name], d, settings) for d in definitions if d.name in names
        ]
    return found
