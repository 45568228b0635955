"""`browser_close`: the end of the conversation's pages."""

from __future__ import annotations

from toolcrib.browser.browsers import Browsers
from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import tool


@tool(
    group="browser",
    keywords=("quit", "end", "stop", "browser"),
    aliases=("browser_session_close", "close_browser", "browser_quit"),
    idempotent=True,
)
async def browser_close(*, ctx: Ctx) -> Result:
    """Close all pages of this conversation.

    Logins in them end, and downloads that were not saved are gone.
    """
    browsers = ctx.use(Browsers)
    was_open = browsers.has(ctx.session.id)
    await browsers.end(ctx.session.id)
    return Result(text="The pages are closed." if was_open else "No page was open.")
