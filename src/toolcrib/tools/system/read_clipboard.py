"""`read_clipboard`: the text that the user has copied."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import MACHINE, READ, tool
from toolcrib.system.desktop import Clipboard
from toolcrib.system.processes import Processes


@tool(
    group="system",
    rights=READ | MACHINE,
    keywords=("paste", "copied text", "pbpaste", "xclip", "pasteboard"),
    aliases=("get_clipboard", "paste", "clipboard_read"),
)
async def read_clipboard(*, ctx: Ctx) -> Result:
    """Read the text on the clipboard.

    The user is asked, since anything may be there, a password too. Where it came from nobody
    knows, so it is treated as text from outside.
    """
    text = await Clipboard(ctx.use(Processes)).read()
    if not text:
        return Result("There is no text on the clipboard.", {"text": ""})
    return Result(text, {"text": text}, source="clipboard", private=True)
