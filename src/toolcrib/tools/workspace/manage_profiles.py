"""`manage_profiles`: named places of the workspace."""

from __future__ import annotations

from typing import Annotated, Literal

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.paths import Workspace
from toolcrib.system.threads import in_thread
from toolcrib.tools.workspace.profiles import Profile, Profiles

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
    here = ctx.use(Workspace).start(ctx.session.directory)
    profile = Profile(name, here.absolute, notes, tuple(protect))
    await profiles.save(profile)
    ctx.use(Workspace).gate.protection.add(protect)
    return Result(f"Saved {name}: {here.absolute}", _as_json(profile))


async def _switched(profile: Profile, ctx: Ctx) -> Result:
    workspace = ctx.use(Workspace)
    place = workspace.resolve(profile.directory)
    # Opened first: a folder that is gone or no longer allowed changes nothing.
    await in_thread(lambda _: place.open().close(), ctx.deadline)
    workspace.gate.protection.add(profile.protect)
    ctx.session.directory, ctx.session.changed = place.absolute, True
    notes = f"\nNotes: {profile.notes}" if profile.notes else ""
    return Result(f"Now in {place.absolute}{notes}", _as_json(profile))


def _listed(known: list[Profile]) -> Result:
    lines = [f"{p.name}: {p.directory}{f' ({_first(p.notes)})' if p.notes else ''}" for p in known]
    text = "\n".join(lines) or "No profile is saved."
    return Result(text, {"profiles": [_as_json(profile) for profile in known]})


def _first(notes: str) -> str:
    line = " ".join(notes.split())
    return line if len(line) <= 80 else f"{line[:79]}…"


def _as_json(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "directory": profile.directory,
        "notes": profile.notes,
        "protect": list(profile.protect),
    }
