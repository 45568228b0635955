"""Names for files that a tool makes without being told where, and names that it refuses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotConfigured, NotFound, PathDenied, ToolError
from toolcrib.files.paths import SafePath, Workspace, resolve_writable
from toolcrib.system.threads import in_thread

MAX_NAME_CHARS = 60
MAX_NUMBER = 999
MAX_PATH_CHARS = 300
_NOT_NAME = re.compile(r"\W+")


async def new_file(title: str, usual: str, ending: str, ctx: Ctx) -> SafePath:
    """A file in the current directory that is not there yet, named after a title.

    Args:
        title: what the content is called; may be empty.
        usual: the name without a title.
        ending: without the dot.
        ctx: the call.
    """
    name = _NOT_NAME.sub("-", title.lower()).strip("-")[:MAX_NAME_CHARS] or usual
    for number in range(1, MAX_NUMBER + 1):
        place = resolve_writable(f"{name}{f'-{number}' if number > 1 else ''}.{ending}", ctx)
        try:
            await in_thread(lambda _: place.stat(), ctx.deadline)  # noqa: B023 - awaited at once
        except NotFound:
            break
    return place


async def refuse_file_name(
    text: str, argument: str, ctx: Ctx, hint: str = "Send it as 'path'."
) -> None:
    """Refuse the name of a file that was sent where its content is wanted.

    Args:
        text: refused where all of it is one line that names a file which may be read.
        argument: what it was sent as.
        ctx: the call.
        hint: what to do instead.

    Raises:
        BadInput: it is such a name.
    """
    name = text.strip()
    if "\n" in name or len(name) > MAX_PATH_CHARS or not ("." in name or "/" in name):
        return

    def is_file() -> bool:
        with ctx.use(Workspace).resolve(name, ctx.session.directory).open() as handle:
            return handle.kind == "file"

    named = False
    with suppress(NotFound, PathDenied, BadInput, NotConfigured):
        named = await in_thread(lambda _: is_file(), ctx.deadline)
    if named:
        raise BadInput(f"{name} is a file, and '{argument}' is its content.", hint=hint)


async def refuse_source(
    output: SafePath | None, source: SafePath, ctx: Ctx, endings: Sequence[str] = ()
) -> None:
    """Keep a result from the place of what it is made from.

    Args:
        output: where the result goes, if anywhere.
        source: the file, or the folder whose files are read.
        ctx: the call.
        endings: of the files of a folder that are read.

    Raises:
        BadInput: the result would go there.
    """
    if output is None or not await in_thread(
        lambda _: _is_read(output, source, endings), ctx.deadline
    ):
        return
    raise BadInput(
        f"{output.display} is what is read: the result would take its place. Nothing was saved.",
        hint="Name another file for the result.",
    )


def _is_read(output: SafePath, source: SafePath, endings: Sequence[str]) -> bool:
    with suppress(ToolError), source.open() as handle:  # what is missing, the reader tells
        place = output.settled()
        if handle.kind == "file":
            return place.real_absolute == handle.absolute
        if place.parent.real_absolute == handle.absolute:
            place.stat()
            return place.name.lower().endswith(tuple(endings))
    return False
