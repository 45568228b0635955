"""Where a conversation is, as the stores of this room know it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.memory.activity import Activity
from toolcrib.memory.memory_records import USER, Origin, project_scope, session_scope
from toolcrib.memory.projects import ProjectInfo, Projects
from toolcrib.state.secret_finder import secret_kind

ScopeName = Literal["user", "project", "session"]
OUTSIDE = "text from outside"
"""The source of what a conversation says that has read some, where it is not known which."""


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """A conversation and its project."""

    project: ProjectInfo
    session: str

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes whose memories it sees, the widest first."""
        return USER, project_scope(self.project.id), session_scope(self.session)

    def scope(self, name: ScopeName) -> str:
        """One of them by its name."""
        names: dict[ScopeName, int] = {"user": 0, "project": 1, "session": 2}
        return self.scopes[names[name]]


async def project_of(ctx: Ctx) -> ProjectInfo:
    """The project of the conversation that makes a call."""
    return await ctx.use(Projects).current(ctx.session.directory)


async def place_of(ctx: Ctx) -> ConversationPlace:
    """Where the conversation is that makes a call."""
    return ConversationPlace(await project_of(ctx), ctx.session.id)


def origin_of(ctx: Ctx, source: str = "") -> Origin:
    """Where a memory comes from that a call saves.

    What a conversation says that has read text from outside may be that text's, so it is
    marked; what a person typed is not.
    """
    outside = ctx.session.untrusted and not ctx.caller.typed_by_user
    if outside and not source:
        source = ctx.use(Activity).last_source(ctx.session.id) or OUTSIDE
    caller = " ".join(filter(None, (ctx.caller.surface, ctx.caller.name)))
    return Origin(ctx.session.id, caller, source, outside, ctx.session.private)


def refuse_secrets(*texts: str) -> None:
    """Let nothing be remembered that seems to hold a secret.

    Raises:
        BadInput: it names the kind.
    """
    for kind in _kinds(texts):
        raise BadInput(
            f"This seems to hold a secret ({kind}), and secrets are not remembered.",
            hint="Leave it out; say where it is, such as the name of a variable or of a safe.",
            kind=kind,
        )


def _kinds(texts: tuple[str, ...]) -> Iterator[str]:
    return (kind for text in texts if (kind := secret_kind(text)))
