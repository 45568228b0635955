"""`Toolbox`: all tools of one configuration, called by name through one pipeline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4

from toolcrib.core.catalogue import CataloguedTool, catalogued
from toolcrib.core.compat import systems_of
from toolcrib.core.config import Config
from toolcrib.core.context import Call, Caller, Ctx, Invoke, Scope, Service, Services, fold
from toolcrib.core.errors import BadInput, ToolDisabled, ToolError
from toolcrib.core.live_settings import LiveSettings
from toolcrib.core.named_tool import going_on
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry, discover
from toolcrib.core.result import Result, well_formed
from toolcrib.core.tool import Tool, decide, without_denied
from toolcrib.core.tool import tool as declare
from toolcrib.execution.jobs import Jobs
from toolcrib.execution.sandbox.readable_folders import ReadableFolders
from toolcrib.extensions.own_tools import OwnTool, OwnTools, own_tools
from toolcrib.middleware import PIPELINE, UNRESOLVED
from toolcrib.state.sessions import Sessions
from toolcrib.system.child import run_shielded
from toolcrib.system.installation import drop_beneath

if TYPE_CHECKING:
    from toolcrib.extensions.servers import KnownServers

S = TypeVar("S", bound=Service)
T = TypeVar("T")
PYTHON = Caller("python")
LOOKS_FOR_TOOLS = frozenset({"searchtools", "toolhelp", "calltool"})
"""Calls that may be about tools of which nothing is known yet, by their plain names."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """What `Toolbox.tools()` says of a tool; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]
    group: str
    rights: tuple[str, ...]


class Toolbox:
    """Tools, configuration and state, ready to be called.

    ::

        async with Toolbox(workspace="~/notes") as box:
            result = await box.call("read_file", {"path": "todo.md"})
            print(result.text)

    Args:
        config: the typed tree, a dict of the same shape, or the path of a TOML file;
            None reads the user's own.
        profile: which tools may be called: profiles, groups and tools, by commas. The
            setting `profile` is for the servers and is not looked at here.
        workspace: the folder for the file tools, over `workspace.roots`.
        tools: the tools to hold, instead of all that are installed.
        extra: tools to hold and show besides, as your own functions with `@tool`.

    Raises:
        ConfigError: the configuration is wrong.
        BadInput: the profile names nothing, or an argument is of another kind.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | Path | str | None = None,
        profile: str = "all",
        workspace: Path | str | None = None,
        *,
        tools: Sequence[Tool] | None = None,
        extra: Sequence[Tool] = (),
    ) -> None:
        _check_kinds(config, profile, workspace, (*(tools or ()), *extra))
        self.config = _config(config, workspace)
        self.profile = profile
        self._services = Services(self.config)
        self._services.use(ReadableFolders)
        own = own_tools(self.config, (*installed(), *extra)) if tools is None else OwnTools()
        self.skipped = own.skipped
        self._tools = [*(installed() if tools is None else tools), *own.tools, *extra]
        self._extra = [tool.name for tool in extra]
        self._servers = self._known_servers()
        self._choose()
        self._services.notes += [f"Settings: {problem}." for problem in self.config.problems]
        self._live = LiveSettings(self.config)
        self._handler = fold(PIPELINE)
        self._session_id = ""
        self._thread: _LoopThread | None = None
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _choose(self) -> None:
        """Make the registry of the tools, and what of it the profile shows."""
        tools, servers = self._tools, self._servers
        if servers is not None:
            from toolcrib.extensions.foreign_tools import foreign_tools

            tools = [*tools, *foreign_tools(servers.settings, servers.facts, tools)]
        self.registry = Registry(
            tools,
            self.config.tools.disabled,
            systems_of(self.profile),
            self.config.switched_off,
            servers.settings if servers is not None else (),
        )
        profile = ",".join((self.profile, *self._extra))
        self._listed = {t.name: t for t in self.registry.select(profile)}
        self._faces = self.registry.listed(profile)

    def _known_servers(self) -> KnownServers | None:
        """What is known of other MCP servers; None where none is configured."""
        if not self.config.mcp.servers:
            return None
        from toolcrib.extensions.servers import KnownServers

        known = self._services.use(KnownServers)
        self.skipped += tuple(known.leave_out_named(Registry(self._tools)))
        return known

    async def _meet_servers(self, name: str) -> None:
        """Ask servers of which nothing is known, where this call could be about one of them."""
        known = self._servers
        if known is None:
            return
        fresh = known.reload()
        unmet = known.unmet
        if unmet and (plain(name) in LOOKS_FOR_TOOLS or known.owns(name)):
            from toolcrib.extensions.servers import ForeignServers

            await self.use(ForeignServers).meet(unmet)
            fresh = True
        if fresh:
            self._choose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        thread = self._thread
        if thread is not None:
            thread.run(self.close())
            thread.stop()
            self._thread = None

    async def close(self) -> None:
        """Stop this toolbox's jobs and processes, and close the store and the network."""
        await self._services.close()
        self._loop = None

    def end_soon(self) -> None:
        """End what runs in the background at once; `close` must follow."""
        self._services.end_soon()

    @property
    def ending(self) -> bool:
        """Whether what `end_soon` ended is still being written down; from any thread."""
        return self._services.ending

    @property
    def services(self) -> Services:
        """What tools share, for the stages of prompts."""
        return self._services

    def use(self, kind: type[S]) -> S:
        """A shared service of this toolbox, for surfaces and tests."""
        return self._services.use(kind)

    def use_roots(self, roots: Sequence[str], notes: Iterable[str] = ()) -> None:
        """Make these folders the workspace, before the first call has looked at files.

        Args:
            roots: absolute folders; without any nothing changes.
            notes: what the next result should say of it.
        """
        if roots:
            self.config = self._services.config = self.config.with_roots(roots)
            drop_beneath(roots)
            self._leave_out_within(roots)
        for note in notes:
            self.add_note(note)

    def _leave_out_within(self, roots: Sequence[str]) -> None:
        """Leave out the user's own tools that lie where models may write from now on."""
        inside = [t for t in self._tools if isinstance(t, OwnTool) and t.lies_in(roots)]
        if inside:
            self._tools = [tool for tool in self._tools if tool not in inside]
            self._choose()
            names = ", ".join(tool.name for tool in inside)
            self.add_note(f"Left out, for their files lie in the workspace: {names}.")

    def add_note(self, note: str) -> None:
        """Say this at the end of the next result."""
        self._services.notes.append(note)

    @property
    def listed(self) -> list[Tool]:
        """The tools of the profile, in the order in which hosts list them."""
        return without_denied(self.config.policy, self._faces)

    def tool(self, name: str, *, indirectly: bool = False) -> Tool | None:
        """The tool of this name, where a call of it would not be refused from the start.

        Args:
            name: its own, not an alias.
            indirectly: also where only `call_tool` reaches it.
        """
        found = self._listed.get(name)
        if found is None and indirectly and self._reaches_all:
            found = next((t for t in self.registry if t.name == name), None)
        denied = found is None or decide(self.config.policy, found, ()).action == "deny"
        return None if denied else found

    def listed_name(self, name: str) -> str:
        """The name under which hosts are shown a tool; its own where they are shown none."""
        names = {self.registry.resolve(tool.name).name: tool.name for tool in self._faces}
        return names.get(name, name)

    def conversation(self, session: str | None = None) -> str:
        """The id under which a conversation is kept; None is this toolbox's own."""
        if not session:
            session = self._session_id = self._session_id or self.use(Sessions).new_id()
        return session

    def tools(self) -> list[ToolInfo]:
        """The tools of the profile, with what a program needs to offer them to a model."""
        return [
            ToolInfo(t.name, t.description, t.schema, t.group, tuple(t.rights.names))
            for t in self.listed
        ]

    def as_openai_tools(self) -> list[dict[str, Any]]:
        """The tools of the profile in the form of the OpenAI chat API."""
        return openai_tools(self.listed)

    def as_anthropic_tools(self) -> list[dict[str, Any]]:
        """The tools of the profile in the form of the Anthropic messages API."""
        return [
            {"name": t.name, "description": t.description, "input_schema": t.schema}
            for t in self.listed
        ]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        session: str | None = None,
        caller: Caller = PYTHON,
        max_tokens: int = 0,
    ) -> Result:
        """Send one call through the pipeline. Never raises for what the call does wrong.

        Args:
            name: the tool, also by an alias.
            arguments: an object, or the same as JSON text.
            session: the conversation; None is this toolbox's own.
            caller: who calls, for surfaces.
            max_tokens: that the answer may have at most; 0 is what is configured.
        """
        self._keep_to_one_loop()
        self._refresh()
        await self._meet_servers(name)
        sessions = self.use(Sessions)
        state = await sessions.load(self.conversation(session))
        state.single = caller.single
        jobs = self.use(Jobs)
        with jobs.noted() as begun:
            try:
                try:
                    budget = (lambda _: max_tokens) if max_tokens else None
                    scope = Scope(self.registry, state, caller, budget=budget)
                    return await self._send(name, arguments, scope)
                finally:
                    if state.changed:
                        await asyncio.shield(sessions.save(state))
            except asyncio.CancelledError:
                await run_shielded(jobs.withdraw(begun))
                raise

    def _refresh(self) -> None:
        """Take over what the user has changed in their file since the last call."""
        fresh = self._live.refreshed(self.config)
        if fresh is not None:
            self.config = self._services.config = fresh[0]
            self._services.notes += fresh[1]

    def _keep_to_one_loop(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise RuntimeError(
                "A Toolbox belongs to the event loop of its first call: use either "
                "`await call()` in one loop, or `call_sync()`, and a Toolbox for each."
            )

    def call_sync(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        session: str | None = None,
    ) -> Result:
        """The same for scripts, from any thread, from many at once.

        Jobs go on between calls. Close with `with Toolbox(...)`.
        """
        with self._starting:
            thread = self._thread = self._thread or _LoopThread()
        return thread.run(self.call(name, arguments, session=session))

    async def _send(
        self, name: str, arguments: Any, scope: Scope, *, nested: bool = False
    ) -> Result:
        # Handing over to a job is the outermost call's business alone.
        seconds = None if nested else scope.caller.answer_within
        ctx = Ctx(
            call_id=uuid4().hex,
            caller=scope.caller,
            session=scope.session,
            services=self._services,
            registry=scope.registry,
            invoke=self._within(scope),
            deadline=scope.deadline,
            answer_by=None if seconds is None else time.monotonic() + seconds,
            within=self._within,
            offered=self._offered(scope),
        )
        try:
            found = scope.registry.resolve(name, None if nested else self._faces)
            if not nested and found.name not in self._listed:
                raise self._disabled(found)
            if isinstance(found, CataloguedTool):  # other calls go on while it is imported
                found = found.loaded if found.is_loaded else await asyncio.to_thread(found.load)
        except ToolError as error:
            return await _refuse(name, arguments, ctx, error)
        if scope.budget is not None:
            ctx = replace(ctx, max_tokens=scope.budget(found))
        naming = scope.registry.naming(name)
        result = await self._handler(Call(found, arguments, ctx, naming))
        if naming is None or result.next is None or not scope.registry.systems:
            return result
        return replace(result, next=going_on(result.next, found.name, naming))

    def _disabled(self, found: Tool | CataloguedTool) -> ToolDisabled:
        command = "kill JOB" if found.name == "stop_job" else "a command"
        instead = found.group in ("files", "git") or found.name == "stop_job"
        instead = instead and "run_command" in self._listed
        return ToolDisabled(
            f"{found.name} is not in the profile '{self.profile}'.",
            hint=(f"run_command can do it with {command}. " if instead else "")
            + f"The user can add it: --profile {self.profile},{found.name}",
        )

    def _within(self, scope: Scope) -> Invoke:
        async def invoke(name: str, arguments: Any) -> Result:
            return await self._send(name, arguments, scope, nested=True)

        return invoke

    def keep_schedule(self) -> None:
        """Run what the tool `schedule` has planned, as long as this is open. For servers."""
        from toolcrib.files.paths import Workspace
        from toolcrib.state.schedules import Schedules

        def holds(folder: str) -> bool:  # which folders there are may be told after the start
            return self.use(Workspace).holds(folder)

        with suppress(ToolError):  # the first call says what is wrong with the store
            self.use(Schedules).start(self.registry, self._within, holds)

    def _offered(self, scope: Scope) -> tuple[Tool, ...]:
        """What a caller can reach: the tools of the profile, and all where call_tool is allowed."""
        if scope.registry is self.registry and not self._reaches_all:
            reachable: Iterable[Tool] = self._listed.values()
        else:
            reachable = scope.registry
        return tuple(without_denied(self.config.policy, reachable))

    @property
    def _reaches_all(self) -> bool:
        """Whether `call_tool` is there, and allowed."""
        tool = self._listed.get("call_tool")
        return tool is not None and decide(self.config.policy, tool, ()).action == "allow"


def openai_tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Tools in the form of the OpenAI chat API, which is how hosts send them to a model."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.schema},
        }
        for t in tools
    ]


@cache
def installed() -> tuple[Tool, ...]:
    """Every tool of toolcrib itself."""
    own = import_module("toolcrib.tools")
    found = catalogued(own)
    return tuple(discover(own) if found is None else found)


def available(config: Config, *, retry: bool = False) -> OwnTools:
    """Those, the user's own, those of packages and the known ones of other MCP servers.

    With what is left out, and the reason.

    Args:
        config: says where the user's own are not loaded from, and which servers there are.
        retry: whether to look again at what could not be used before.
    """
    own = own_tools(config, installed(), retry=retry)
    tools: tuple[Tool, ...] = (*installed(), *own.tools)
    if not config.mcp.servers:
        return OwnTools(tools, own.skipped)
    from toolcrib.extensions.foreign_tools import foreign_tools
    from toolcrib.extensions.servers import KnownServers

    known = KnownServers(config.mcp.servers)
    left_out = known.leave_out_named(Registry(tools))
    tools += tuple(foreign_tools(known.settings, known.facts, tools))
    return OwnTools(tools, (*own.skipped, *left_out))


def _check_kinds(
    config: object, profile: object, workspace: object, tools: Sequence[object]
) -> None:
    """Refuse arguments of another kind in words, where Python would fail somewhere inside.

    Raises:
        BadInput: naming the argument.
    """
    if config is not None and not isinstance(config, Config | Mapping | Path | str):
        raise BadInput(
            f"config is a dict of settings or the path of a TOML file, not {_kind(config)}.",
            hint='For example Toolbox({"web": {"search": {"limit": 5}}}).',
        )
    if not isinstance(profile, str):
        raise BadInput(
            f"profile is one text, not {_kind(profile)}.",
            hint='Several by commas: Toolbox(profile="default,git"); "all" is every tool.',
        )
    if workspace is not None and not isinstance(workspace, Path | str):
        raise BadInput(
            f"workspace is one folder, a text or a Path, not {_kind(workspace)}.",
            hint='Several folders are a setting: Toolbox({"workspace": {"roots": ["a", "b"]}}).',
        )
    for each in tools:
        if not isinstance(each, Tool):
            name = getattr(each, "__name__", None) or repr(each)[:80]
            raise BadInput(
                f"{name} is no tool, but of the type {_kind(each)}.",
                hint="Declare a function with @tool, from toolcrib import tool; tools that come "
                "with toolcrib are chosen by profile='read_file,git'.",
            )


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _config(
    config: Config | Mapping[str, Any] | Path | str | None, workspace: Path | str | None
) -> Config:
    if isinstance(config, Config):
        tree = config
    elif isinstance(config, Mapping):
        tree = Config.load(config)
    else:
        tree = Config.load(path=config)
    if workspace is None:
        return tree
    return tree.with_roots([str(Path(workspace).expanduser().absolute())])


async def _refuse(name: str, arguments: Any, ctx: Ctx, error: ToolError) -> Result:
    """Record a call whose tool is unknown or not to be had, and say so."""

    async def refuse(call: Call) -> Result:
        del call
        raise error

    stand_in = replace(declare(group="none")(_unknown), name=well_formed(str(name)[:80]))
    return await fold(UNRESOLVED, refuse)(Call(stand_in, arguments, ctx))


async def _unknown() -> Result:
    """Stand for a tool that does not exist."""
    return Result()


class _LoopThread:
    """An event loop in a thread of its own, so that jobs go on between sync calls."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolcrib", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
