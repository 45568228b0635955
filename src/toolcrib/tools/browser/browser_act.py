"""`browser_act`: clicking, typing and the like in the open page."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from toolcrib.browser.browser_step import BrowserStep
from toolcrib.browser.browsers import Browsers
from toolcrib.browser.tabs import why_it_ended
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import NET, READ, SEND, WRITE, Param, tool
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.tools.browser.argument_adapters import adapt_control
from toolcrib.tools.browser.browser_screenshot import kind_of, take
from toolcrib.tools.browser.page_view import act, act_decision, page_result, rights_needed


@tool(
    group="browser",
    rights=READ | WRITE | NET | SEND,
    keywords=("click", "type", "fill", "form", "login", "press", "select", "upload", "scroll"),
    aliases=("browser_session_control", "browser_action", "browser_actions", "browser_control"),
    argument_aliases={"steps": "actions", "read_page": "read"},
    effective_rights=rights_needed,
    policy_check=act_decision,
    argument_adapter=adapt_control,
)
async def browser_act(
    actions: Annotated[list[BrowserStep], Param("Steps, in order.")],
    read: Annotated[Literal["changes", "page", "full"], Param("Shown then.")] = "changes",
    screenshot_path: Annotated[WritablePath | None, Param("File.", plain=True)] = None,
    find: Annotated[str, Param("Words to find then.", unlisted=True)] = "",
    limit: Annotated[int, Param("Matches of it.", minimum=1, maximum=20, unlisted=True)] = 5,
    *,
    ctx: Ctx,
) -> Result:
    """Click, type, select and more in the open page; tells what changed.

    Each step waits for what it causes. Typing replaces what the field holds. A target that
    fits several elements is refused with their refs. A step dialog (accept, dismiss or the
    text) answers the dialogs of the steps after it. Uploads in a row to one field go together.
    """
    if not actions and not find and not screenshot_path and read == "changes":
        raise BadInput("There are no steps.", hint='Such as [{"action": "click", "target": "e5"}].')
    looking = {"find": find, "limit": limit}
    if not actions and find:
        return await ctx.invoke("browser_read", looking)
    result = await _acted(actions, read, screenshot_path, ctx)
    if not find:
        return result
    found = await ctx.invoke("browser_read", looking)
    return replace(result, text=f"{result.text}\n\n{found.text or found.render()}", tokens=0)


async def _acted(
    actions: list[BrowserStep],
    read: Literal["changes", "page", "full"],
    screenshot_path: SafePath | None,
    ctx: Ctx,
) -> Result:
    picture = kind_of(screenshot_path)
    conversation = ctx.use(Browsers).conversation(ctx.session.id)
    async with conversation.at_work():
        tab = conversation.tab()
        before, count = tab.latest or await tab.snapshot(), len(conversation.tabs)
        url, documents = tab.url, tab.documents
        done, error = await act(
            conversation, tab, actions, ctx, conversation.take_judged(ctx.call_id)
        )
        if len(conversation.tabs) > count:
            conversation.current = conversation.tabs[-1]
            done.append("a new tab opened, which is now the current one")
        images: tuple[Image, ...] = ()
        if screenshot_path is not None:
            note, images = await take(conversation.tab(), screenshot_path, ctx, kind=picture)
            done.append(note.rstrip(":."))
        lines = [f"Done: {'; '.join(done)}."] if done else []
        if error is not None:
            lines.append(why_it_ended(error))
        now = conversation.tab()
        same_url = now.url.partition("#")[0] == url.partition("#")[0]
        moved = now is not tab or not same_url or now.documents != documents
        return await page_result(
            conversation,
            ctx,
            before=None if moved or read != "changes" else before,
            full=read == "full",
            lines=lines,
            images=images,
        )
