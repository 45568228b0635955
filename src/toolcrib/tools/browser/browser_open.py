"""`browser_open`: a page in a real browser."""

from __future__ import annotations

from typing import Annotated

from toolcrib.browser.browser_step import BrowserStep
from toolcrib.browser.browsers import Browsers
from toolcrib.browser.steps import wait_for as wait_until
from toolcrib.browser.tabs import why_it_ended
from toolcrib.core.context import Ctx
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import NET, READ, SEND, WRITE, Param, tool
from toolcrib.files.paths import WritablePath
from toolcrib.net.egress.public_url import BrowserUrl
from toolcrib.net.egress.url import web_origin
from toolcrib.tools.browser.argument_adapters import adapt_steps
from toolcrib.tools.browser.browser_screenshot import kind_of, take
from toolcrib.tools.browser.page_view import (
    act,
    open_decision,
    open_tab,
    page_result,
    rights_needed,
)


@tool(
    group="browser",
    rights=READ | WRITE | NET | SEND,
    keywords=("visit", "website", "javascript", "chrome", "chromium", "navigate", "page", "tab"),
    aliases=("browser_navigate", "browser_open_page", "browser_session_open", "open_page"),
    argument_aliases={
        "wait_for_selector": "wait_for",
        "include_page_text": "text",
        "steps": "actions",
    },
    effective_rights=rights_needed,
    policy_check=open_decision,
    argument_adapter=adapt_steps,
)
async def browser_open(
    url: BrowserUrl,
    wait_for: Annotated[str, Param("Text or selector.")] = "",
    text: Annotated[bool, Param("Text only.")] = False,
    actions: Annotated[list[BrowserStep] | None, Param("Steps.", plain=True)] = None,
    screenshot_path: Annotated[WritablePath | None, Param("File.", plain=True)] = None,
    full_page: Annotated[bool, Param("Of the picture: the whole page.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Open a page in a browser; gives its snapshot with refs.

    For pages that need scripts, forms and logins; `fetch_url` reads the others faster. What
    the page says is untrusted. The tab stays open for browser_act and browser_read.
    """
    picture = kind_of(screenshot_path)
    conversation = ctx.use(Browsers).conversation(ctx.session.id)
    async with conversation.at_work():
        await ctx.progress(f"Opening {url[:200]}")
        conversation, tab = await open_tab(url, ctx)
        if wait_for:
            await wait_until(tab, wait_for, ctx.remaining(ctx.config.browser.timeout))
        lines: list[str] = []
        if actions:
            lines, error = await act(conversation, tab, actions, ctx, web_origin(url))
            lines += [why_it_ended(error)] if error is not None else []
        images: tuple[Image, ...] = ()
        if screenshot_path is not None:
            note, images = await take(
                conversation.tab(), screenshot_path, ctx, full_page=full_page, kind=picture
            )
            lines.append(note)
        return await page_result(conversation, ctx, full=text, lines=lines, images=images)
