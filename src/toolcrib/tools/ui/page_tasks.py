"""What is done to a page outside of this process: its conversion, and pictures of it."""

from __future__ import annotations

from importlib.util import find_spec

from toolcrib.core.context import Ctx
from toolcrib.core.errors import MissingExtra
from toolcrib.execution.workers import Task

MARKDOWN = Task(
    "toolcrib.documents.writers.html:create", "Converting the text", 30.0, 1500,
    hint="Send a shorter text.",
)  # fmt: skip
DRAW_PAGE = Task(
    "toolcrib.images.page_child:draw", "Drawing the page", 30.0, 3000, 60_000_000,
    hint="Show a shorter one.",
)  # fmt: skip


async def page_picture(page: str, ctx: Ctx) -> bytes:
    """A picture of the page, in a context of its own that reaches nothing.

    Raises:
        MissingExtra, Unavailable: there is no browser.
    """
    if find_spec("playwright") is None:
        raise MissingExtra("browser", "A picture of a page")
    from toolcrib.browser.browsers import Browsers

    browsers = ctx.use(Browsers)
    lease = await browsers.lease("runs", ctx.session.id)
    async with browsers.page_apart(lease) as tab:
        timeout = ctx.remaining(ctx.config.browser.timeout) * 1000
        await tab.page.set_content(page, timeout=timeout)
        return await tab.page.screenshot(full_page=True, timeout=timeout)
