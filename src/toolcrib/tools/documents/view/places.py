"""Which document is meant: a path of the workspace, or the bare name of something attached."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.params import Param
from toolcrib.files.paths import SafePath
from toolcrib.files.workspace import Workspace
from toolcrib.net.egress.public_url import open_url
from toolcrib.system.threads import in_thread


async def locate(value: str, ctx: Ctx) -> SafePath | None:
    """The place that a path means; a bare name may stand in any folder, if only one has it.

    It is found before policy looks at the call, so that policy sees the file itself.
    """
    if not value.strip():
        return None
    if value.strip().lower().startswith(("http://", "https://", "ref://")):
        raise BadInput("'path' is a file of the workspace.", hint="Send a web address as 'url'.")
    workspace = ctx.use(Workspace)
    path = workspace.resolve(value, ctx.session.directory)
    path.gate.check(path, "read")
    if "/" in value.strip("/"):
        return path
    try:
        await in_thread(lambda _: path.stat(), ctx.deadline)
    except NotFound as error:
        near = error.details.get("near") or []
        same = [n for n in near if n.rpartition("/")[2].casefold() == path.name.casefold()]
        if len(same) == 1:
            path = workspace.resolve(same[0], ctx.session.directory)
            path.gate.check(path, "read")
    return path


async def open_address(value: str, ctx: Ctx) -> str:
    """The checked URL; nothing for nothing."""
    return await open_url(value, ctx) if value.strip() else ""


DocumentPath: TypeAlias = Annotated[
    SafePath, Param("File in the workspace.", kind="path", check=locate, json_type="string")
]
DocumentUrl: TypeAlias = Annotated[
    str, Param("Or a web address.", kind="url", check=open_address, json_type="string")
]
