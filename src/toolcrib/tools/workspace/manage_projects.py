"""`manage_projects`: folders under a name, each with memories, plans and sessions of its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.memory.place import origin_of
from toolcrib.memory.projects import ProjectInfo, Projects
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.tools.workspace.manage_profiles import Profiles, put_in_force

Action = Literal[
    "list", "register", "update", "unregister", "info", "search", "switch", "clear_all"
]
MAX_NAME = 60
MAX_ABOUT = 500


@tool(
    group="workspace",
    rights=READ | WRITE,
    keywords=("project", "register", "folder", "switch", "context", "known projects"),
    argument_aliases=other_names(
        name=("project", "project_name", "query"),
        path=("directory", "project_path"),
        about=("description",),
    ),
)
async def manage_projects(
    action: Action = "list",
    name: Annotated[str, Param("Of the project; words, for search.")] = "",
    path: WorkspacePath | None = None,
    about: Annotated[str, Param("What it is.", plain=True)] = "",
    confirm: Annotated[bool, Param("For clear_all.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Give folders names, list them, and go to one by its name.

    Memories, plans and sessions belong to the project around the current directory. A name that
    is forgotten takes nothing of that with it. update with another folder moves a project.
    """
    projects, (name, about) = ctx.use(Projects), _checked(name, about, ctx)
    if action in ("list", "search"):
        known = await projects.all(name if action == "search" else "")
        return _listed([p for p in known if p.registered], "found" if name else "registered")
    if action == "register":
        place = path or ctx.use(Workspace).start(ctx.session.directory)
        made = await projects.register(await _folder(place, ctx), name, about)
        return Result(f"Registered {_line(made)}", _json(made))
    if action == "clear_all":
        if not confirm:
            raise BadInput("Nothing was cleared.", hint="Send confirm=true.")
        known = [p for p in await projects.all() if p.registered]
        await projects.unregister([p.id for p in known])
        return Result(f"Forgot {len(known)} names; what was kept for the folders stays.",
                      {"cleared": len(known)})  # fmt: skip
    project = await _meant(projects, name, path, ctx)
    if action == "unregister":
        if not project.registered:
            raise NotFound(f"{project.path or project.name} is not registered.",
                           hint="action=list shows those that are.")  # fmt: skip
        await projects.unregister([project.id])
        return Result(f"Forgot the name {project.name}; what was kept for it stays.",
                      {"unregistered": project.name})  # fmt: skip
    if action == "update":
        moved = await _folder(path, ctx) if path is not None and name else ""
        changed = await projects.update(project, path=moved, about=about)
        return Result(f"Updated {_line(changed)}", _json(changed))
    if action == "switch":
        return await go_to(project, ctx)
    return Result(_line(project), _json(project))


async def go_to(project: ProjectInfo, ctx: Ctx) -> Result:
    """Make the folder of a project the current one, with the profile that was saved there last.

    Raises:
        NotFound: it is gone; what was kept for it is still there.
        Denied: it is not in the workspace.
    """
    try:
        place = ctx.use(Workspace).resolve(project.path)
        await in_thread(lambda _: place.open().close(), ctx.deadline)
    except NotFound as error:
        raise NotFound(
            f"The folder of {project.name} is gone: {project.path}.",
            hint="If it was moved: manage_projects action=update with its name and new path.",
        ) from error
    ctx.session.directory, ctx.session.changed = place.absolute, True
    about = f"\n{project.about}" if project.about else ""
    profile = await ctx.use(Profiles).at(place.absolute)
    about += put_in_force(profile, ctx) if profile else ""
    return Result(f"Now in {project.name}: {place.absolute}{about}", _json(project))


def _checked(name: str, about: str, ctx: Ctx) -> tuple[str, str]:
    """Both in one line; what may be outside text is not kept, as no later list would fence it."""
    name, about = one_line(name).strip(), one_line(about).strip()
    if len(name) > MAX_NAME or len(about) > MAX_ABOUT:
        raise BadInput(f"A name has up to {MAX_NAME} characters, 'about' up to {MAX_ABOUT}.")
    if about and origin_of(ctx).outside:
        ctx.warn("'about' was left out: this conversation has read text from outside.")
        about = ""
    return name, about


async def _meant(projects: Projects, name: str, path: SafePath | None, ctx: Ctx) -> ProjectInfo:
    """The project that is named, or that of a folder, or the one around the current directory."""
    if name:
        return await projects.find(name)
    if path is not None:
        return await projects.find(await _folder(path, ctx))
    return await projects.current(ctx.session.directory)


async def _folder(path: SafePath, ctx: Ctx) -> str:
    """The path of a folder without links."""

    def look() -> str:
        with path.open() as handle:
            if handle.kind != "folder":
                raise BadInput(f"{path.display} is a file.", hint="Name a folder.")
        return path.real_absolute

    return await in_thread(lambda _: look(), ctx.deadline)


def _listed(known: list[ProjectInfo], what: str) -> Result:
    lines = [_line(project) for project in known]
    text = "\n".join(lines) or f"No project is {what}; action=register names a folder."
    return Result(text, {"projects": [_json(project) for project in known]})


def _line(project: ProjectInfo) -> str:
    about = f" ({project.about})" if project.about else ""
    return f"{project.id}: {project.name}: {project.path or 'no folder'}{about}"


def _json(project: ProjectInfo) -> dict[str, object]:
    return asdict(project)
