"""Names for files that a tool makes without being told where."""

from __future__ import annotations

import re

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.files.paths import SafePath, resolve_writable
from toolcrib.system.threads import in_thread

MAX_NAME_CHARS = 60
MAX_NUMBER = 999
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
