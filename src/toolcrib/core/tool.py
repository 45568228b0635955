"""`@tool`: one async function is a tool; all else is derived from it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolcrib.core.call import Result
from toolcrib.core.params import Parameter, parameters_of, schema_of

if TYPE_CHECKING:
    from toolcrib.core.context import Ctx
    from toolcrib.core.policy import Decision


class Right(Flag):
    """What a tool may do to the world; `ERASE`: delete what then cannot be brought back."""

    NONE = 0
    READ = auto()
    WRITE = auto()
    NET = auto()
    EXEC = auto()
    SEND = auto()
    MACHINE = auto()
    ERASE = auto()

    @property
    def names(self) -> list[str]:
        """The rights one by one, in lower case."""
        return [r.name.lower() for r in Right if r in self and r.name]


NONE, READ, WRITE, NET, EXEC, SEND, MACHINE, ERASE = (
    Right.NONE,
    Right.READ,
    Right.WRITE,
    Right.NET,
    Right.EXEC,
    Right.SEND,
    Right.MACHINE,
    Right.ERASE,
)

CHANGING = WRITE | EXEC | SEND | MACHINE | ERASE

Function = Callable[..., Awaitable[Result]]
Narrowing = Callable[[Mapping[str, Any]], Right]
"""Which rights a call with these arguments can use."""
Verdict = Callable[[Mapping[str, Any], "Ctx"], Awaitable["Decision | None"]]
"""What a tool's own rules say of a call with these checked arguments; None is nothing."""
Dialect = Callable[[dict[str, Any]], None]
"""Turns unchecked arguments of like tools elsewhere into those of a tool, in place.

The names come without case, dashes and underscores. What has no counterpart and changes
nothing is taken out; what asks for something else raises BadInput with what to do instead.
"""


@dataclass(frozen=True, eq=False)
class Tool:
    """A declared tool.

    `aliases` are other names of the tool, `argument_aliases` other names of its
    parameters, each with the right one. `seconds` bounds the work itself, also after
    it went on as a job.
    """

    function: Function
    name: str
    group: str
    rights: Right
    keywords: tuple[str, ...]
    aliases: tuple[str, ...]
    argument_aliases: Mapping[str, str]
    profiles: tuple[str, ...]
    destructive: bool
    idempotent: bool
    seconds: float | None
    concurrency: int | None
    narrowing: Narrowing | None = None
    verdict: Verdict | None = None
    dialect: Dialect | None = None

    def rights_for(self, arguments: Mapping[str, Any]) -> Right:
        """What a call with these checked arguments may do: the rights, or fewer."""
        return self.rights & self.narrowing(arguments) if self.narrowing else self.rights

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a caller may give, in order."""
        return parameters_of(self.function)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return schema_of(self.parameters)

    @cached_property
    def _doc(self) -> list[str]:
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\n")

    @property
    def description(self) -> str:
        """The first line of the docstring: what a model reads."""
        return self._doc[0].strip()

    @property
    def guidance(self) -> str:
        """The rest of the docstring: when to use the tool and when not."""
        return "\n\n".join(self._doc[1:]).strip()

    @property
    def read_only(self) -> bool:
        """Whether nothing changes anywhere."""
        return not self.destructive and not self.rights & CHANGING

    @property
    def open_world(self) -> bool:
        """Whether the tool deals with things outside the machine."""
        return bool(self.rights & (NET | SEND))


def tool(
    *,
    group: str,
    rights: Right = NONE,
    keywords: Sequence[str] = (),
    aliases: Sequence[str] = (),
    argument_aliases: Mapping[str, str] | None = None,
    profiles: Sequence[str] = (),
    destructive: bool = False,
    idempotent: bool = False,
    seconds: float | None = None,
    concurrency: int | None = None,
    narrowing: Narrowing | None = None,
    verdict: Verdict | None = None,
    dialect: Dialect | None = None,
) -> Callable[[Function], Tool]:
    """Declare an async function as a tool.

    Args:
        group: the group it belongs to, which is also a profile.
        rights: what it may do; policy and annotations follow from it.
        keywords: words people use for it that are not in its text.
        aliases: other names under which it is found.
        argument_aliases: other spellings of its parameters, each to the right one.
        profiles: profiles that show it, beside its group and `all`.
        destructive: whether it may destroy what was there.
        idempotent: whether a second equal call changes nothing more.
        seconds: the longest the work may take; None is the configured limit of a job.
        concurrency: how many calls of it may run at once; None is no limit of its own.
        narrowing: tells from checked arguments which of the rights a call uses.
        verdict: judges a call where rights do not tell; policy takes it beside its own.
        dialect: understands arguments that another name cannot, such as `view_range=[1, 9]`.

    Raises:
        TypeError: the function is not async or has no docstring.
    """

    def declare(function: Function) -> Tool:
        if not inspect.iscoroutinefunction(function) or not function.__doc__:
            raise TypeError(f"{function.__name__}: a tool is an async function with a docstring")
        return Tool(
            function=function,
            name=function.__name__,
            group=group,
            rights=rights,
            keywords=tuple(keywords),
            aliases=tuple(aliases),
            argument_aliases=dict(argument_aliases or {}),
            profiles=tuple(profiles),
            destructive=destructive,
            idempotent=idempotent or not rights & CHANGING,
            seconds=seconds,
            concurrency=concurrency,
            narrowing=narrowing,
            verdict=verdict,
            dialect=dialect,
        )

    return declare
