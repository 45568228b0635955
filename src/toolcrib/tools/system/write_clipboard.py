"""`write_clipboard`: a text for the user to paste."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.core.result import Result
from toolcrib.core.tool import MACHINE, Param, tool
from toolcrib.system.desktop import MAX_BYTES, Clipboard
from toolcrib.system.processes import Processes
from toolcrib.text.display import counted


@tool(
    group="system",
    rights=MACHINE,
    keywords=("copy", "pbcopy", "xclip", "pasteboard", "copy to clipboard"),
    aliases=("set_clipboard", "copy_to_clipboard", "clipboard_write"),
    argument_aliases={"content": "text", "value": "text", "data": "text"},
    idempotent=True,
)
async def write_clipboard(
    text: Annotated[str, Param("What is to be pasted.", plain=True)], *, ctx: Ctx
) -> Result:
    """Put a text on the clipboard.

    What was there is gone; the user is asked. Under X11 and Wayland it stays there while
    toolcrib runs.
    """
    if not text:
        raise BadInput("There is nothing to copy.", hint="Send the text.")
    if "\0" in text:
        raise BadInput("The text holds a NUL character.", hint="Send it as plain text.")
    size = len(text.encode())
    if size > MAX_BYTES:
        raise TooLarge(f"The text has {size:,} bytes; up to {MAX_BYTES:,} are copied.")
    program = await Clipboard(ctx.use(Processes)).write(text)
    return Result(f"Copied {counted(size, 'byte')}.", {"bytes": size, "program": program})
