"""`repo`: the folder by which a call names its repository, as `git -C` does."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound, PathDenied
from toolcrib.core.tool import Param
from toolcrib.files.paths import SafePath, resolve_readable
from toolcrib.system.threads import in_thread

_OTHER_NAMES = (
    *("repository", "repopath", "repositorypath", "cwd", "directory", "folder"),
    *("workingdirectory", "workdir"),
)
NAMES = {**dict.fromkeys(_OTHER_NAMES, "repo"), "path": "repo"}
"""Other names of `repo`, for tools without paths of their own."""
_PATHS = ("path", "paths", "file", "files", "filepath")


def _resolve_folder(value: str, ctx: Ctx) -> SafePath:
    folder = resolve_readable(value, ctx)
    hint = "repo names the folder of a repository; without it, it is that of the current directory."
    try:
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
    except NotFound:
        raise NotFound(f"There is no folder {folder.display}.", hint=hint) from None
    if not is_folder:
        raise BadInput(f"{folder.display} is a file.", hint=hint)
    return folder


RepositoryFolder: TypeAlias = Annotated[
    SafePath | None,
    Param(
        "Folder of the repository; else the current directory.",
        kind="path",
        check=_resolve_folder,
        json_type="string",
        unlisted=True,
    ),
]
"""A folder in the repository that is meant."""


async def need_path(path: SafePath, ctx: Ctx) -> None:
    """Say that a path of which git knows nothing is not there, where it is so.

    Raises:
        NotFound: it is not; the message names the nearest names.
    """
    try:
        await in_thread(lambda _: path.open().close(), ctx.deadline)
    except PathDenied:
        return


def adapt_repo(given: dict[str, Any]) -> None:
    """For a tool with `repo` and paths: those are from the repository that is named."""
    if repo := _taken(given):
        given["repo"] = repo


def adapt_path(given: dict[str, Any]) -> None:
    """For a tool whose path may be the folder of a repository itself."""
    repo = _taken(given)
    if repo and not any(given.get(name) for name in _PATHS):
        given["path"] = repo


def adapt_flags(given: dict[str, Any], name: str, values: Sequence[str]) -> None:
    """For a tool with a choice: each of its values may be a flag, as for the program itself."""
    for value in values:
        flag = str(given.get(value)).lower()
        if flag in ("true", "false"):
            del given[value]
        if flag == "true":
            given.setdefault(name, value)


def _taken(given: dict[str, Any]) -> str:
    """The repository that was named, taken out, with the paths beneath it; else empty."""
    is_named = any(name in given for name in ("repo", *_OTHER_NAMES))
    if not is_named and given.get("paths") and isinstance(given.get("path"), str):
        given["repo"] = given.pop("path")  # beside paths it can only be their folder
    named = [given.pop(name) for name in ("repo", *_OTHER_NAMES) if name in given]
    repo = next((value for value in named if isinstance(value, str) and value.strip()), "")
    if not repo and any(named):
        given["repo"] = next(filter(None, named))  # what it must be is for the pipeline to say
    for name in _PATHS if repo else ():
        value = given.get(name)
        if isinstance(value, str) and value:
            given[name] = _beneath(repo, value)
        elif isinstance(value, list):
            given[name] = [_beneath(repo, v) if isinstance(v, str) else v for v in value]
    return repo


def _beneath(repo: str, path: str) -> str:
    """A path from the repository; one that begins with its folder stays, and an absolute one."""
    top = repo.rstrip("/\\")
    top = top.removeprefix("./")
    path = path.removeprefix("./")
    if path == top or path.startswith((f"{top}/", f"{top}\\", "/", "~", "[")) or path[1:2] == ":":
        return path
    return f"{top}/{path}"
