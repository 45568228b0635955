"""`send_notification`: a note on the user's desktop."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import MACHINE, Param, tool
from toolcrib.system import desktop
from toolcrib.system.processes import Processes
from toolcrib.text.cleaner import clean, one_line

TITLE_CHARS = 100
MESSAGE_CHARS = 500
ICON = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@tool(
    group="system",
    rights=MACHINE,
    keywords=("notify", "alert", "desktop notification", "toast", "popup", "notify-send"),
    aliases=("notify", "show_notification", "desktop_notification"),
    argument_aliases={"text": "message", "body": "message", "subject": "title"},
)
async def send_notification(
    title: str,
    message: str = "",
    icon: Annotated[str, Param("Name of one of the desktop's.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Show a notification on the user's desktop.

    For when something long is done. The user is asked first.
    """
    head = one_line(clean(title).text, TITLE_CHARS)
    if not head.strip():
        raise BadInput("The title is empty.")
    if not set(icon) <= ICON:
        raise BadInput("icon is no name of an icon.", hint="As dialog-information.")
    body = clean(message).text.strip()[:MESSAGE_CHARS].replace("\0", "")
    program = await desktop.notify(ctx.use(Processes), head, body, icon)
    return Result("Shown.", {"program": program})
