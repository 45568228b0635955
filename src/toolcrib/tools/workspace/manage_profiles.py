"""`manage_profiles`: named places of the workspace."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.paths import Workspace
from toolcrib.memory.place import origin_of
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import in_thread
from toolcrib.text.display import with_ellipsis

# Named places of a workspace: where to work, what to remember, what to leave alone.

SCHEMA = Schema(
    "profiles",
    (
        """
        CREATE TABLE profile (
            workspace TEXT NOT NULL, name TEXT NOT NULL, directory TEXT NOT NULL,
            notes TEXT NOT NULL, protect TEXT NOT NULL, saved REAL NOT NULL,
            PRIMARY KEY (workspace, name)
        ) WITHOUT ROWID;
        """,
    ),
)
MAX_PROFILES = 100


@dataclass(frozen=True, slots=True)
class Profile:
    """One of them. `directory` is absolute, `protect` are names that are not touched in it."""

    name: str
    directory: str
    notes: str = ""
    protect: tuple[str, ...] = ()


class Profiles:
    """A service: the profiles of this workspace, kept in the user's store.

    A profile can protect names beside those of the configuration; none can lift one.
    """

    def __init__(self, rows: Area, workspace: str) -> None:
        self._rows = rows
        self._workspace = workspace

    @classmethod
    def open(cls, services: Services) -> Self:
        """Those of the roots of this toolbox."""
        roots = services.use(Workspace).roots
        return cls(services.use(Store).area(SCHEMA), "\n".join(root.real for root in roots))

    async def save(self, profile: Profile) -> None:
        """Keep one, in place of one of the same name.

        Raises:
            BadInput: there are too many.
        """
        row = (
            self._workspace,
            profile.name,
            profile.directory,
            profile.notes,
            json.dumps(profile.protect),
            time.time(),
        )

        def write(connection: sqlite3.Connection) -> bool:
            others = connection.execute(
                "SELECT count(*) FROM profile WHERE workspace = ? AND name != ?", row[:2]
            ).fetchone()[0]
            if others >= MAX_PROFILES:
                return False
            connection.execute("INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?)", row)
            return True

        if not await self._rows.write(write):
            raise BadInput(f"There are {MAX_PROFILES} profiles already.", hint="Delete one first.")

    async def all(self) -> list[Profile]:
        """All of them, the last saved first."""
        rows = await self._rows.fetch(
            "SELECT name, directory, notes, protect FROM profile WHERE workspace = ? "
            "ORDER BY saved DESC",
            (self._workspace,),
        )
        return [Profile(n, d, notes, tuple(json.loads(p))) for n, d, notes, p in rows]

    async def get(self, name: str) -> Profile:
        """One by its name.

        Raises:
            NotFound: there is none; the hint names those that there are.
        """
        known = await self.all()
        for profile in known:
            if profile.name == name:
                return profile
        names = ", ".join(profile.name for profile in known[:10])
        hint = f"There are: {names}." if names else "None is saved yet; action=save saves one."
        raise NotFound(f"There is no profile '{name}'.", hint=hint)

    async def at(self, directory: str) -> Profile | None:
        """The one of a folder that was saved last."""
        return next((p for p in await self.all() if p.directory == directory), None)

    async def delete(self, name: str) -> None:
        """Forget one.

        Raises:
            NotFound: there is none.
        """
        await self.get(name)
        await self._rows.execute(
            "DELETE FROM profile WHERE workspace = ? AND name = ?", (self._workspace, name)
        )


MAX_NAME = 60
MAX_NOTES = 4000
MAX_PROTECT = 50
Action = Literal["list", "save", "switch", "delete"]


@tool(
    group="workspace",
    rights=READ | WRITE,
    keywords=("workspace", "project", "bookmark", "notes", "switch"),
    aliases=("workspace_profiles",),
    argument_aliases={"profile": "name", "profile_name": "name", "protected": "protect"},
)
async def manage_profiles(
    action: Action = "list",
    name: Annotated[str, Param("Of the profile.")] = "",
    notes: Annotated[str, Param("For save: what to remember.")] = "",
    protect: Annotated[list[str], Param("For save: more names no tool may touch.")] = [],  # noqa: B006 - not changed
    *,
    ctx: Ctx,
) -> Result:
    """Save the current directory with notes under a name, or go back to it.

    A profile can protect more names; it never lifts a protection.
    """
    profiles = ctx.use(Profiles)
    if action == "list":
        return _listed(await profiles.all())
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput("name is missing or not usable.", hint=f"Up to {MAX_NAME} characters.")
    if action == "delete":
        await profiles.delete(name)
        return Result(f"Deleted {name}.", {"deleted": name})
    if action == "save":
        return await _saved(profiles, name, notes, protect, ctx)
    return await _switched(await profiles.get(name), ctx)


async def _saved(profiles: Profiles, name: str, notes: str, protect: list[str], ctx: Ctx) -> Result:
    if len(notes) > MAX_NOTES:
        raise BadInput(f"'notes' has at most {MAX_NOTES:,} characters, not {len(notes):,}.")
    if len(protect) > MAX_PROTECT or any(not 0 < len(p.strip()) <= 200 for p in protect):
        raise BadInput(f"'protect' has at most {MAX_PROTECT} names of at most 200 characters.")
    if notes and origin_of(ctx).outside:
        # They are shown without a fence in later conversations.
        ctx.warn("'notes' were left out: this conversation has read text from outside.")
        notes = ""
    here = ctx.use(Workspace).start(ctx.session.directory)
    profile = Profile(name, here.absolute, notes, tuple(protect))
    await profiles.save(profile)
    _protect(protect, ctx)
    return Result(f"Saved {name}: {here.absolute}", _as_json(profile))


async def _switched(profile: Profile, ctx: Ctx) -> Result:
    workspace = ctx.use(Workspace)
    place = workspace.resolve(profile.directory)
    # Opened first: a folder that is gone or no longer allowed changes nothing.
    await in_thread(lambda _: place.open().close(), ctx.deadline)
    ctx.session.directory, ctx.session.changed = place.absolute, True
    notes = put_in_force(profile, ctx)
    return Result(f"Now in {place.absolute}{notes}", _as_json(profile))


def put_in_force(profile: Profile, ctx: Ctx) -> str:
    """Protect the names of a profile from now on; its notes as lines to show."""
    _protect(profile.protect, ctx)
    return f"\nNotes: {profile.notes}" if profile.notes else ""


def _protect(names: Sequence[str], ctx: Ctx) -> None:
    """For all calls of this toolbox from now on, and in this conversation after a restart."""
    ctx.use(Workspace).gate.protection.add(names)
    ctx.session.protect(names)


def _listed(known: list[Profile]) -> Result:
    lines = [f"{p.name}: {p.directory}{f' ({_first(p.notes)})' if p.notes else ''}" for p in known]
    text = "\n".join(lines) or "No profile is saved."
    return Result(text, {"profiles": [_as_json(profile) for profile in known]})


def _first(notes: str) -> str:
    return with_ellipsis(" ".join(notes.split()), 80)


def _as_json(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "directory": profile.directory,
        "notes": profile.notes,
        "protect": list(profile.protect),
    }
