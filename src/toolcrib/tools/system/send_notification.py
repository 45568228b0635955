"""`send_notification`: a note on the user's desktop."""

from __future__ import annotations

from typing import Annotated, Any

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


def _adapt(arguments: dict[str, Any]) -> None:
    """A message alone is the title, where it is short enough for one."""
    name = next((n for n in ("message", "text", "body") if n in arguments), "")
    if name and not {"title", "subject"}.intersection(arguments):
        is_short = len(str(arguments[name])) <= TITLE_CHARS
        arguments["title"] = arguments.pop(name) if is_short else "toolcrib"


@tool(
    group="system",
    rights=MACHINE,
    keywords=("notify", "alert", "desktop notification", "toast", "popup", "notify-send"),
    aliases=("notify", "show_notification", "desktop_notification"),
    argument_aliases={"text": "message", "body": "message", "subject": "title"},
    argument_adapter=_adapt,
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
    text = clean(message).text.strip().replace("\0", "")
    body = text[:MESSAGE_CHARS]
    program = await desktop.notify(ctx.use(Processes), head, body, icon)
    cut = f" Only the first {MESSAGE_CHARS} characters of the message." if body != text else ""
    return Result(f"Shown.{cut}", {"program": program})
