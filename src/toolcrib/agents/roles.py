"""Roles: what an agent is told that it is, and which tools it may have at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolcrib.core.agent_settings import RoleConfig
from toolcrib.core.errors import BadInput
from toolcrib.core.names import nearest, plain
from toolcrib.core.tool import Right

ALL = ("*",)


@dataclass(frozen=True, slots=True)
class Role:
    """`tools` are groups, tools or globs on their names; `rights` what they may do."""

    name: str
    persona: str
    tools: tuple[str, ...] = ALL
    rights: Right = Right.READ
    model: str = ""


def _all_rights() -> Right:
    rights = Right.NONE
    for right in Right:
        rights |= right
    return rights


_R, _W, _N, _X = Right.READ, Right.WRITE, Right.NET, Right.EXEC
_FILES = ("files", "documents", "workspace", "code")

BUILT_IN = (
    Role("general", "You do what the task asks, with the tools that fit it.", ALL, _all_rights()),
    Role(
        "coder",
        "You are a programmer. Read before you change, make small changes, check that they work.",
        (*_FILES, "run", "git", "jobs"),
        _R | _W | _X,
    ),
    Role(
        "reviewer",
        "You review work. Name each fault with its place, say how grave it is and how to mend it.",
        (*_FILES, "git"),
        _R,
    ),
    Role(
        "researcher",
        "You research. Use several sources, name each with its address, and say what is not sure.",
        ("web", "http", "documents", "files", "memory"),
        _R | _N,
    ),
    Role(
        "debugger",
        "You find the cause of a fault. Reproduce it, narrow it down, mend the cause and check it.",
        (*_FILES, "run", "git", "jobs"),
        _R | _W | _X,
    ),
    Role(
        "tester",
        "You test. Write tests that can fail, run them, and report what fails and why.",
        (*_FILES, "run", "jobs"),
        _R | _W | _X,
    ),
    Role(
        "documenter",
        "You write documentation: short, exact, checked against the code.",
        (*_FILES, "web", "git"),
        _R | _W | _N,
    ),
    Role(
        "planner",
        "You plan. Look at what there is, then give ordered steps, each with its risk and check.",
        (*_FILES, "web", "git", "memory"),
        _R | _N,
    ),
    Role(
        "data_analyst",
        "You analyse data. Look at its shape first, compute with tools, and give figures.",
        (*_FILES, "data", "run", "jobs"),
        _R | _W | _X,
    ),
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
    near = nearest(name, names, count=1, least=0.6)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    raise BadInput(f"There is no role '{name[:40]}'.", hint=f"{guess}Roles: {', '.join(names)}.")


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
