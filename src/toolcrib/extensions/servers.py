"""The other MCP servers of a toolbox: started at their first use, called through the pipeline."""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from toolcrib.core.context import Ctx, Form, Question, Services
from toolcrib.core.errors import Denied, StorageFailure, TimedOut, ToolError, Unavailable
from toolcrib.core.extension_settings import McpServerConfig
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.core.result import ErrorInfo, Image, Result
from toolcrib.extensions.connection import ServerConnection
from toolcrib.extensions.definitions import DefinitionChanges, ServerFacts
from toolcrib.extensions.own_tools import Skipped
from toolcrib.extensions.schemas import one_line
from toolcrib.files.paths import chosen_roots
from toolcrib.net.egress.guard_proxy import GuardProxy
from toolcrib.state.redaction import names_secret
from toolcrib.system.processes import Processes
from toolcrib.text.display import counted, visible

if TYPE_CHECKING:
    import mcp_types as types

REST_SECONDS = 60.0
"""How long a server that died twice in a row is left alone."""
MAX_DEATHS = 2
PROGRESS_GAP = 0.25
MESSAGE_CHARS = 500
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_IMAGES = 8
MAX_IMAGE_CHARS = 8_000_000
MAX_FIELDS = 20
MAX_FORM_CHARS = 20_000
FIELD_KEYS = ("type", "enum", "enumNames", "default", "minimum", "maximum", "format")
UNKNOWN_OUTCOME = "Whether it was done is not known: look before you send it again."

CURRENT: ContextVar[Ctx | None] = ContextVar("the call that a server is asked for", default=None)


class KnownServers:
    """A service: the settings of the servers that are switched on, and what is known of each."""

    def __init__(self, settings: Mapping[str, McpServerConfig]) -> None:
        self.settings = {name: server for name, server in settings.items() if server.enabled}
        self.facts = {name: ServerFacts.load(name, s) for name, s in self.settings.items()}
        self.tried: set[str] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """As configured; only small files are read."""
        return cls(services.config.mcp.servers)

    def leave_out_named(self, registry: Registry) -> list[Skipped]:
        """Leave out the servers that are named like a profile or a tool of others; which, and why.

        Rules and profiles for those would be theirs as well.
        """
        taken = {plain(n): n for n in (*registry.profiles(), *(tool.name for tool in registry))}
        found = []
        for name in [name for name in self.settings if plain(name) in taken]:
            reason = f"'{taken[plain(name)]}' is a profile or a tool: give it another name"
            found.append(Skipped(f"mcp.servers.{name}", reason))
            del self.settings[name], self.facts[name]
        return found

    def owns(self, name: str) -> bool:
        """Whether a name could be that of a tool of a server of which nothing is known."""
        return any(plain(name).startswith(plain(server)) for server in self.unmet)

    def reload(self) -> bool:
        """Read what another process has written of them, such as what was accepted."""
        return sum(facts.reload() for facts in self.facts.values()) > 0

    @property
    def unmet(self) -> list[str]:
        """Those of which nothing is known yet, and that were not tried since the start."""
        return [n for n, facts in self.facts.items() if not facts.is_met and n not in self.tried]


@dataclass(slots=True)
class _Server:
    """What runs of one server. `deaths` are those since its last answer."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: ServerConnection | None = None
    deaths: int = 0
    died: float = 0.0
    last_words: str = ""
    calls: list[Ctx] = field(default_factory=list)
    questions: int = 0
    """How often it has asked a model since it had nothing to do."""


class ForeignServers:
    """A service: starts servers, sends them calls, and answers what they ask in between.

    Attributes:
        warnings: what the user should know, a line each.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known = services.use(KnownServers)
        # Opened before these, so that they are closed after them: ends are still to be told.
        services.use(GuardProxy)
        services.use(Processes)
        self._servers: dict[str, _Server] = {}
        self.warnings: list[str] = []

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing runs before the first call."""
        return cls(services)

    async def close(self) -> None:
        """End all that runs."""
        running = [s.connection for s in self._servers.values() if s.connection is not None]
        await asyncio.gather(*(connection.close() for connection in running))

    async def meet(self, names: Sequence[str]) -> None:
        """Ask servers of which nothing is known what tools they have; failures are warnings."""
        self._known.tried.update(names)
        found = await asyncio.gather(*map(self.look, names), return_exceptions=True)
        for name, result in zip(names, found, strict=True):
            if isinstance(result, ToolError):
                self.warnings.append(f"The MCP server {name} is left out. {result.message}")
            elif isinstance(result, BaseException):
                raise result

    async def look(self, name: str) -> DefinitionChanges:
        """Start a server if it does not run, and note what it has.

        Raises:
            Unavailable, TimedOut: it cannot be started.
        """
        server = self._server(name)
        async with server.lock:
            await self._running(name, server)
        return self._known.facts[name].changes

    async def call(self, name: str, tool: str, arguments: Mapping[str, Any], ctx: Ctx) -> Result:
        """Send one call to a server.

        Args:
            name: of the server.
            tool: its name there.
            arguments: as they are sent.
            ctx: the call here.

        Raises:
            Unavailable, TimedOut: the server is not there, or died meanwhile.
            Denied: the definition of the tool has changed since it was accepted.
        """
        server, facts = self._server(name), self._known.facts[name]
        async with server.lock:
            connection = await self._running(name, server)
        reason = facts.held_back(tool)
        if reason:
            raise Denied(
                f"{tool} of the MCP server {name} is held back: {reason}.",
                hint=f"The user looks at it and accepts it: toolcrib mcp accept {name}",
            )
        with _noted(server, ctx):
            result = await self._sent(connection, name, tool, arguments, ctx)
        server.deaths = 0
        return result

    async def _sent(
        self,
        connection: ServerConnection,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        ctx: Ctx,
    ) -> Result:
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        settings = self._known.settings[name]
        connection.begin_call()
        try:
            answer = await connection.client.call_tool(
                tool,
                dict(arguments),
                read_timeout_seconds=ctx.remaining(settings.call_seconds),
                progress_callback=_progress(ctx),
            )
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or not connection.is_alive:
                raise await self._died(name, connection) from None
            if error.code == REQUEST_TIMEOUT:
                raise TimedOut(
                    f"The MCP server {name} did not answer.", hint=UNKNOWN_OUTCOME
                ) from None
            return _failed(name, settings, one_line(error, MESSAGE_CHARS))
        except ToolError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an answer makes of the client
            if not connection.is_alive:
                raise await self._died(name, connection) from None
            # What does not keep to the protocol or to the schema that it names for its results.
            why = one_line(error, MESSAGE_CHARS)
            return _failed(name, settings, f"Its answer is not what MCP expects: {why}")
        return _result(name, settings, answer)

    async def _running(self, name: str, server: _Server) -> ServerConnection:
        """The connection to a server; one that died since is started anew."""
        connection = server.connection
        if connection is not None and connection.is_alive:
            if connection.tools_changed:
                self._note(name, await connection.list_tools())
            return connection
        if connection is not None:
            await connection.close()
            self._count_death(name, connection)
        waited = time.monotonic() - server.died
        if server.deaths >= MAX_DEATHS and waited < REST_SECONDS:
            raise Unavailable(
                f"The MCP server {name} died {server.deaths} times in a row. {server.last_words}",
                hint=f"It is started again in {REST_SECONDS - waited:.0f} s at the earliest; the "
                f"user looks at it with `toolcrib mcp check {name}`.",
            )
        connection = ServerConnection(
            name,
            self._known.settings[name],
            self._services,
            self._asks(name),
            self._tells_roots() if self._known.settings[name].roots else None,
            self._samples(name) if self._known.settings[name].sampling else None,
        )
        try:
            tools = await connection.start()
        except ToolError:
            server.connection = None
            self._count_death(name, connection)
            raise
        server.connection = connection
        self._note(name, tools)
        return connection

    async def _died(self, name: str, connection: ServerConnection) -> ToolError:
        await connection.close()  # what it wrote last is read by then
        return Unavailable(
            f"The MCP server {name} ended during the call. {connection.last_words}".strip(),
            hint=UNKNOWN_OUTCOME,
        )

    def _count_death(self, name: str, connection: ServerConnection) -> None:
        server = self._server(name)
        server.connection = None
        server.deaths += 1
        server.died = time.monotonic()
        server.last_words = connection.last_words

    def _note(self, name: str, tools: Sequence[Any]) -> None:
        facts = self._known.facts[name]
        was_met = facts.is_met
        try:
            changes = facts.note(tools)
        except StorageFailure as error:
            self.warnings.append(error.message)
            return
        if not was_met:
            count = len(facts.accepted)
            self.warnings.append(
                f"The MCP server {name} is new here, with {counted(count, 'tool')}."
            )
        elif changes:
            text = f"The MCP server {name} has changed its tools ({one_line(changes, 300)})."
            held = (
                f"What changed is held back until the user accepts it: toolcrib mcp accept {name}"
            )
            if f"{text} {held}" not in self.warnings:
                self.warnings.append(f"{text} {held}")

    def _server(self, name: str) -> _Server:
        if name not in self._known.settings:
            raise Unavailable(
                f"There is no MCP server {name} in the configuration.",
                hint="toolcrib mcp list shows those that there are.",
            )
        return self._servers.setdefault(name, _Server())

    def _tells_roots(self) -> Any:
        async def roots(context: Any) -> Any:
            del context
            import mcp_types as types
            from pydantic import FileUrl

            paths = chosen_roots(self._services.config)
            listed = [types.Root(uri=FileUrl(Path(path).as_uri())) for path in paths]
            return types.ListRootsResult(roots=listed)

        return roots

    def _samples(self, name: str) -> Any:
        """What answers when a server wants a model to be asked."""

        async def sample(context: Any, params: types.CreateMessageRequestParams) -> Any:
            del context
            from toolcrib.extensions.model_requests import answer_sampling

            server = self._server(name)
            server.questions += 1
            return await answer_sampling(name, params, self._asker(name), server.questions)

        return sample

    def _asks(self, name: str) -> Any:
        """What answers a form that a server wants to be filled in by the person."""

        async def answer_form(
            context: Any, params: types.ElicitRequestParams
        ) -> types.ElicitResult:
            del context
            import mcp_types as types

            ctx = CURRENT.get() or self._asker(name)
            message = one_line(params.message, MESSAGE_CHARS)
            if isinstance(params, types.ElicitRequestURLParams) or ctx is None:
                if ctx is not None:
                    ctx.warn(f"{name} wanted an address to be opened; that is not done: {message}")
                return types.ElicitResult(action="decline")
            answer = await _filled(name, message, params.requested_schema, ctx)
            if answer is None:
                return types.ElicitResult(action="decline")
            return types.ElicitResult(action="accept", content=dict(answer))

        return answer_form

    def _asker(self, name: str) -> Ctx | None:
        """The call for which a server asks; None where it could be one of several people's."""
        calls = self._server(name).calls
        callers = {(ctx.session.id, id(ctx.caller.ask)) for ctx in calls}
        return calls[-1] if len(callers) == 1 else None


@contextmanager
def _noted(server: _Server, ctx: Ctx) -> Iterator[None]:
    server.questions = 0 if not server.calls else server.questions
    server.calls.append(ctx)
    token = CURRENT.set(ctx)
    try:
        yield
    finally:
        CURRENT.reset(token)
        server.calls.remove(ctx)


def _progress(ctx: Ctx) -> Any:
    last = 0.0

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_GAP:
            last = now
            await ctx.progress(one_line(message or "working", 200), progress, total)

    return tell


async def _filled(
    name: str, message: str, schema: Mapping[str, Any], ctx: Ctx
) -> Mapping[str, Any] | None:
    """What the person fills in; None where they do not, or cannot be asked, which is noted."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    listed = schema.get("required")
    required = [key for key in listed if key in properties] if isinstance(listed, list) else []
    why = _why_refused(message, properties) or _why_unreachable(ctx, has_fields=bool(required))
    if why:
        ctx.warn(f"{name} wanted to ask the user, who was not asked: {why}. {message}")
        return None
    whole = f"The MCP server {name} asks: {message}"
    if ctx.caller.fill is not None:
        fields = {str(key)[:64]: _field(node) for key, node in properties.items()}
        form = {"type": "object", "properties": fields, "required": required}
        answer = await ctx.caller.fill(Form(whole, form))
    else:
        assert ctx.caller.ask is not None
        question = Question(f"mcp:{name}", name, whole, message)
        answer = {} if await ctx.caller.ask(question) else None
    if answer is None:
        ctx.warn(f"{name} asked, and got no answer from the user: {message}")
    return answer


def _why_refused(message: str, properties: Mapping[str, Any]) -> str:
    """Why nobody is to see a form; empty where that may be."""
    texts = [message, *(text for key, node in properties.items() for text in _labels(key, node))]
    too_much = len(properties) > MAX_FIELDS or len(str(properties)) > MAX_FORM_CHARS
    if too_much or (properties and any(map(names_secret, texts))):
        return "it is about a secret, or too much"
    if not all(map(_is_plain, properties.items())):
        return "it has characters that cannot be shown"
    return ""


def _why_unreachable(ctx: Ctx, *, has_fields: bool) -> str:
    """Why the person cannot be asked; empty where they can."""
    if ctx.caller.fill is None and ctx.caller.ask is None:
        return "nobody can be asked here"
    if not ctx.caller.asks_midway:
        return "this host cannot be asked in the middle of a call"
    return "only yes or no can be asked here" if ctx.caller.fill is None and has_fields else ""


def _labels(key: str, node: Any) -> list[str]:
    """What a person reads of a field."""
    found = node if isinstance(node, Mapping) else {}
    labels = (key, found.get("title"), found.get("description"))
    return [one_line(label, 200) for label in labels if isinstance(label, str)]


def _is_plain(field: tuple[str, Any]) -> bool:
    """Whether all that goes to the host as it stands has no control characters in it."""
    key, node = field
    found = node if isinstance(node, Mapping) else {}
    values = [key, *(found.get(name) for name in FIELD_KEYS)]
    values = [each for value in values for each in (value if isinstance(value, list) else [value])]
    texts = [value for value in values if isinstance(value, str)]
    return all(visible(text) == text and "\n" not in text for text in texts)


def _field(node: Any) -> dict[str, Any]:
    """One field of a form, with cleaned texts and nothing that a form does not know."""
    node = node if isinstance(node, Mapping) else {}
    found = {key: node[key] for key in FIELD_KEYS if key in node}
    found["type"] = node.get("type") if isinstance(node.get("type"), str) else "string"
    for key in ("title", "description"):
        if isinstance(node.get(key), str):
            found[key] = one_line(node[key], 200)
    return found


def _failed(name: str, settings: McpServerConfig, text: str) -> Result:
    """The result of a call that the server answered with a failure, in its own words."""
    error = ToolError(
        f"The MCP server {name} says that the call failed.",
        hint="Its words are above. Correct the arguments, or do without it.",
        code="tool_failed",
    )
    return Result(
        text=text, error=ErrorInfo.of(error), source=f"mcp:{name}", private=settings.private
    )


def _result(name: str, settings: McpServerConfig, answer: types.CallToolResult) -> Result:
    """An answer as a result: its texts, pictures, and in words what else there is."""
    import json

    import mcp_types as types

    texts: list[str] = []
    images: list[Image] = []
    for block in answer.content:
        if isinstance(block, types.TextContent):
            texts.append(block.text)
        elif isinstance(block, types.ImageContent):
            texts += _taken(block, images)
        elif isinstance(block, types.ResourceLink):
            texts.append(f"[resource {one_line(block.name, 100)}: {one_line(block.uri, 300)}]")
        elif isinstance(block, types.EmbeddedResource):
            inner = getattr(block.resource, "text", None)
            texts.append(inner or f"[resource {one_line(block.resource.uri, 300)}, not shown]")
        else:
            texts.append(f"[{one_line(getattr(block, 'type', 'content'), 40)}, not shown]")
    data = answer.structured_content
    if not any(text.strip() for text in texts) and data is not None:
        texts = [json.dumps(data, ensure_ascii=False)]
    text = "\n\n".join(texts)
    if answer.is_error:
        return _failed(name, settings, text)
    return Result(
        text=text,
        data=data,
        images=tuple(images),
        source=f"mcp:{name}",
        private=settings.private,
    )


def _taken(block: types.ImageContent, images: list[Image]) -> list[str]:
    """Take a picture over; in words, where that cannot be done."""
    kind = one_line(block.mime_type, 60)
    if kind in IMAGE_TYPES and len(images) < MAX_IMAGES and len(block.data) <= MAX_IMAGE_CHARS:
        with suppress(ValueError):
            images.append(Image(b64decode(block.data, validate=True), kind))
            return []
    return [f"[picture, {kind}, not shown]"]
