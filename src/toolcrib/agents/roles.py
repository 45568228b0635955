"""Roles of agents, and the tools that a child gets: never more than its parent has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from toolcrib.core.context import AGENT_MARK, Caller, Ctx, Scope, Session
from toolcrib.core.errors import BadInput
from toolcrib.core.names import nearest, plain
from toolcrib.core.package_data import package_table
from toolcrib.core.registry import Registry
from toolcrib.core.settings import AgentConfig, RoleConfig
from toolcrib.core.tool import NET, NONE, READ, Right, Tool

ALL = ("*",)


@dataclass(frozen=True, slots=True)
class Role:
    """`tools` are groups, tools or globs on their names; `rights` what they may do."""

    name: str
    persona: str
    tools: tuple[str, ...] = ALL
    rights: Right = Right.READ
    model: str = ""


def _own(name: str, config: RoleConfig) -> Role:
    rights = Right.NONE
    known = {right.name.lower(): right for right in Right if right.name}
    for word in config.rights:
        if word.lower() not in known:
            raise BadInput(
                f"The role {name} has an unknown right '{word[:40]}'.",
                hint=f"Write some of {', '.join(known)} in agent.roles.{name}.rights.",
            )
        rights |= known[word.lower()]
    return Role(name, config.persona, tuple(config.tools) or ALL, rights, config.model)


BUILT_IN = tuple(
    _own(name, RoleConfig(**role)) for name, role in package_table("agents/roles.toml").items()
)


def find_role(name: str, own: Mapping[str, RoleConfig]) -> Role:
    """The role of this name, one's own before a built-in one; `general` if none is named.

    Raises:
        BadInput: there is none of that name.
    """
    wanted = plain(name or "general").removesuffix("agent")
    for known, config in own.items():
        if plain(known) == wanted:
            return _own(known, config)
    for role in BUILT_IN:
        if plain(role.name) == wanted:
            return role
    names = [*own, *(role.name for role in BUILT_IN)]
    near = nearest(name, names, count=1, min_ratio=0.6)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    raise BadInput(f"There is no role '{name[:40]}'.", hint=f"{guess}Roles: {', '.join(names)}.")


# What a child may call: never more than its parent, and never another child.
#
# The tools of a child are those that its parent can call, that the call asks for, and that
# its role may have. Each of its calls then passes the same policy as any other; where that
# would ask, it is denied, unless the person at the surface can be asked meanwhile.

GROUP = "agent"
"""The group of the tools that start agents: none of them is ever granted."""
FINDING = ("search_tools", "tool_help", "call_tool")
NO_TOOLS = ("none", "no", "nothing", "false")
READING = READ | NET


def granted(
    offered: Iterable[Tool], role: Role, requested: Sequence[str] = (), *, readonly: bool = False
) -> list[Tool]:
    """The tools of a child.

    Args:
        offered: what its parent can call.
        role: what it may have at most.
        requested: tools, groups, profiles or globs; empty asks for all, `none` for none.
        readonly: only what reads.

    Raises:
        BadInput: something requested fits no tool that the parent has.
    """
    has = [tool for tool in offered if tool.group != GROUP]
    if any(plain(word) in NO_TOOLS for word in requested):
        return []
    _check(requested, has)
    rights = role.rights & READING if readonly else role.rights
    return [
        tool
        for tool in has
        if _may(tool, rights)
        and (_is_plumbing(tool) or _fits(tool, role.tools))
        and (not requested or "*" in tool.profiles or _fits(tool, requested))
    ]


def _may(tool: Tool, rights: Right) -> bool:
    """Whether a tool does no more than these rights; reading on needs none."""
    return tool.rights | rights == rights and (not tool.destructive or rights & ~READING != NONE)


def _is_plumbing(tool: Tool) -> bool:
    """Whether a tool only finds tools or reads on in what another gave."""
    return "*" in tool.profiles or tool.name in FINDING


def _fits(tool: Tool, words: Iterable[str]) -> bool:
    names = {tool.name, tool.group, *tool.profiles, *tool.all_aliases, "all"} - {"*"}
    plains = {plain(name) for name in names}
    return any(
        plain(word) in plains or fnmatchcase(tool.name, word) or fnmatchcase(tool.group, word)
        for word in words
    )


def _check(requested: Sequence[str], has: Sequence[Tool]) -> None:
    for word in requested:
        if not any(_fits(tool, [word]) for tool in has):
            groups = sorted({t.group for t in has})
            near = nearest(word, [*groups, *(t.name for t in has)])
            guess = f"Nearest: {', '.join(near)}. " if near else ""
            raise BadInput(
                f"'{word[:60]}' is no tool or group that can be handed on.",
                hint=f"{guess}Groups: {', '.join(groups)}."
                if groups
                else "There are no tools to hand on.",
            )


def listed(tools: Sequence[Tool], max_tools: int) -> list[Tool]:
    """What the model is shown of its tools: all, or the usual ones and the way to the rest."""
    if len(tools) <= max_tools:
        return [tool for tool in tools if tool.name not in FINDING]
    finding = [tool for tool in tools if tool.name in FINDING]
    usual = [t for t in tools if t not in finding and {"default", "*"} & set(t.profiles)]
    others = [t for t in tools if t not in finding and t not in usual]
    if len(finding) < len(FINDING):  # without the way, as many as there is room for
        return [*usual, *others][: max(max_tools, len(usual))]
    return [*usual[: max_tools - len(finding)], *finding]


def by_fit(tools: Sequence[Tool], task: str) -> tuple[list[Tool], Tool | None]:
    """The tools in the order in which they fit a task, and the one that surely does, if any.

    A small model takes one of the first that it is shown, whatever it is asked: those that change
    files come last, but for the one that surely fits.
    """
    from toolcrib.retrieval.tool_index.index import Finder  # large, and seldom needed

    finder = Finder(tools)
    best = finder.find(task, len(tools))
    best_fit = best[0] if best and finder.fits(task) else None
    ordered = [*best, *(tool for tool in tools if tool not in best)]
    ordered.sort(key=lambda tool: (tool is not best_fit, bool(tool.rights & Right.WRITE)))
    return ordered, best_fit


def child_scope(
    ctx: Ctx,
    tools: Sequence[Tool],
    session: Session,
    name: str,
    deadline: float | None,
    *,
    attended: bool,
) -> Scope:
    """What a child's calls may use: these tools, its own session, its deadline.

    Args:
        ctx: the call that starts it.
        tools: as `granted` gives them.
        session: the child's own.
        name: what its calls are recorded under.
        deadline: when the last of them must end, as `time.monotonic()`.
        attended: whether the person behind the call can still be asked.
    """
    reachable = attended and ctx.caller.asks_midway
    caller = Caller(
        surface=GROUP,
        name=name,
        ask=ctx.caller.ask if reachable else None,
        fill=ctx.caller.fill if reachable else None,
        notify=ctx.caller.notify,
        unattended=True,
    )
    agent = ctx.config.agent
    return Scope(Registry(tools), session, caller, deadline, lambda tool: _budget(tool, agent))


def _budget(tool: Tool, agent: AgentConfig) -> int:
    return agent.web_tokens if tool.rights & NET else agent.result_tokens


def child_session(parent: Session, name: str, task: str) -> Session:
    """A session of its own that knows its task, what its parent has read, and where it is."""
    session = replace(
        Session(f"{parent.id}{AGENT_MARK}{name}"),
        directory=parent.directory,
        untrusted=parent.untrusted,
        private=parent.private,
        links=dict(parent.links),
        written=dict(parent.written),
        began=parent.began,
        changed=True,
    )
    session.begin_turn(task)
    return session
