"""What the tools of the browser answer: the head of a page, its snapshot, what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.browser.browser_step import BrowserStep, acts, check_steps, rights_of
from toolcrib.browser.browsers import Browsers, BrowserSession
from toolcrib.browser.renderer import page_html
from toolcrib.browser.snapshots import PageSnapshot, difference
from toolcrib.browser.steps import Steps, visit
from toolcrib.browser.tabs import LATE_SECONDS, Tab
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Denied, TimedOut, ToolError
from toolcrib.core.result import Image, Next, Result
from toolcrib.core.tool import NET, WRITE, Decision, Right, decide
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import SafePath
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.url import web_origin
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.web.page import RawPage
from toolcrib.web.page_reader import OPENING_TOOL, convert_page

MAX_CHANGED_CHARS = 1_500
"""Characters of the difference that an action made; the rest is one call away."""
MAX_REFUSALS = 3
UNGUARDED = "browser:without the guard"
"""What a conversation is remembered by in which a person let such a browser be used."""
PDF_NOTE = "It is a PDF; its text is not to be had from a browser: fetch_url reads it."
NOTHING_YET = "(the page shows no text yet: a step wait, or wait_for of browser_open, waits for it)"
GUARD_OFF = "[guard: off]"
TITLE_SECONDS = 2.0
MAX_PICTURE_BYTES = 1_500_000
"""Bytes of a screenshot that is shown to the model itself, beside being saved."""


def rights_needed(arguments: Mapping[str, Any]) -> Right:
    """What a call that does steps, and may save a picture, may do."""
    saves = WRITE if arguments.get("screenshot_path") else NET
    return rights_of(arguments.get("actions")) | saves


def site_decision(site: str, ctx: Ctx) -> Decision | None:
    """Ask once for a site and conversation whether pages of it may be acted on."""
    if not site:
        return None
    if ctx.use(Egress).serves(site, ctx.session.id, offline=True):
        return Decision("allow", "a server of this conversation's own runs", replaces=True)
    key = f"act:{site}"
    if key in ctx.session.hosts:
        return Decision("allow", f"acting on {site} was allowed", replaces=True)
    return Decision("ask", f"it may act on {site}", hosts=(key,), replaces=True)


async def open_decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """What the policy is told of a call that may open a page, and do steps there."""
    acting = await act_decision(arguments, ctx)
    if not arguments.get("url") or UNGUARDED in ctx.session.hosts:
        return acting
    if not ctx.config.browser.cdp_url or await ctx.use(Browsers).is_guarded():
        return acting
    reason = "the browser at browser.cdp_url reaches the network without the guard"
    if acting is None or acting.action == "allow":
        return Decision("ask", reason, hosts=(UNGUARDED,))
    return replace(
        acting, reason=f"{reason}, and {acting.reason}", hosts=(*acting.hosts, UNGUARDED)
    )


async def act_decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """What the policy is told of a call with steps."""
    if not acts(arguments.get("actions")):
        return None
    check_steps(arguments["actions"], ctx)
    files = [step["path"] for step in arguments["actions"] if step["action"] == "upload"]
    await in_thread(lambda _: [file.stat() for file in files], ctx.deadline)
    url = arguments.get("url") or ""
    browsers = ctx.use(Browsers)
    if not url:
        if not browsers.has(ctx.session.id):  # it fails: nobody needs to be asked for that
            return Decision("allow", "no page is open", replaces=True)
        conversation = browsers.conversation(ctx.session.id)
        url = conversation.tab().url
        conversation.judge(ctx.call_id, web_origin(url))
    return site_decision(web_origin(url), ctx)


async def act(
    conversation: BrowserSession, tab: Tab, actions: Sequence[BrowserStep], ctx: Ctx, site: str
) -> tuple[list[str], ToolError | None]:
    """Do steps in the current tab: what was done, and the error that ended them.

    Args:
        conversation: whose tab.
        tab: the current one.
        actions: the steps.
        ctx: the call.
        site: the one that was judged: a page may have led to another since.
    """
    steps = Steps(conversation, ctx, site)
    conversation.done = steps.done
    try:
        async with tab.answering():
            await steps.run(actions)
    except ToolError as error:
        if not steps.done:
            raise
        return steps.done, error
    return steps.done, None


async def open_tab(url: str, ctx: Ctx) -> tuple[BrowserSession, Tab]:
    """The page of a URL: in the current tab where that can be, else in a new one.

    A tab that was opened for a call which fails is closed, and any of a call that is cancelled,
    and the one before where it does not answer any more.
    """
    browsers = ctx.use(Browsers)
    conversation = browsers.conversation(ctx.session.id)
    side = browsers.side(url, ctx.session.id)
    tab, note = conversation.current, ""
    if tab is not None and not tab.page.is_closed() and not await tab.answers():
        note = f"{tab.masked(tab.url)[:200]} did not answer any more: its tab was closed."
        _drop(tab, conversation, browsers)
        tab = None
    if tab is not None and not tab.page.is_closed() and conversation.side_of(tab) == side:
        try:
            async with tab.answering():
                await visit(conversation, tab, url, ctx)
                return conversation, tab
        except TimedOut:
            if not tab.dialogs:
                raise
            note = f"{tab.masked(tab.url)[:200]} opened dialogs without end: its tab was closed."
            _drop(tab, conversation, browsers)
        except asyncio.CancelledError:  # the browser may still be on its way to the page
            _drop(tab, conversation, browsers)
            raise
    tab = await conversation.open(side)
    try:
        async with tab.answering():
            await visit(conversation, tab, url, ctx)
    except BaseException:
        _drop(tab, conversation, browsers)
        raise
    if note:
        tab.note(note)
    return conversation, tab


def _drop(tab: Tab, conversation: BrowserSession, browsers: Browsers) -> None:
    conversation.forget(tab)  # at once: the next call must not take it
    browsers.spawn(conversation.close_tab(tab))


def refusal_lines(conversation: BrowserSession) -> list[str]:
    """What the guard refused to its pages since that was told last, a line each."""
    refused = conversation.take_refusals()[:MAX_REFUSALS]
    return [f"The guard refused: {error.message}" for error in refused]


async def page_result(
    conversation: BrowserSession,
    ctx: Ctx,
    *,
    before: PageSnapshot | None = None,
    full: bool = False,
    lines: Sequence[str] = (),
    images: tuple[Image, ...] = (),
) -> Result:
    """The current tab as it is now: its head, and its snapshot, text, or what changed.

    Args:
        conversation: whose tab.
        ctx: the call.
        before: the snapshot to tell the difference to; None shows the page.
        full: its text as a reader sees it, instead of the snapshot.
        lines: what stands first, such as the steps that were done.
        images: pictures to show with it.
    """
    tab = conversation.tab()
    if tab.pdf:
        return _pdf_result(conversation, ctx, lines, images)
    limit = ctx.config.browser.snapshot_chars
    # Asked at once: each is a way to the browser and back.
    reading = tab.snapshot() if not full else asyncio.sleep(0, None)
    named, now = await asyncio.gather(header(conversation, tab, ctx), reading)
    if now is not None and before is None and not now.root.children:
        await tab.wait_for_content()
        now = await tab.snapshot()
    # A page that is still the same was named by the result before.
    is_known = bool(lines) and before is not None and named == tab.head and conversation.guarded
    head, tab.head = [*lines, *([] if is_known else [named])], named
    next_call = None
    if now is None:
        body = await page_text(tab, ctx)
        await tab.snapshot()
    elif before is not None:
        if lines and not difference(before, now):
            await tab.changes_within(LATE_SECONDS)
            # Also what came between the snapshot and the wait, which saw no change then.
            now = await tab.snapshot()
        body = changed_text(before, now)
    else:
        body, rest = paged(now.render(limit) or NOTHING_YET, 0, limit)
        next_call = Next("browser_read", {"offset": rest}) if rest else None
    head += [note for each in conversation.tabs for note in each.take_notes()]
    head += refusal_lines(conversation)
    return Result(
        text="\n".join([*head, "", body]).strip(),
        data={"url": tab.masked(tab.url), "status": tab.status, "tabs": len(conversation.tabs)},
        images=images,
        source=web_origin(tab.url) or tab.url[:100],
        private=conversation.is_logged_in(tab),
        truncated=next_call is not None,
        next=next_call,
    )


def _pdf_result(
    conversation: BrowserSession, ctx: Ctx, lines: Sequence[str], images: tuple[Image, ...]
) -> Result:
    """Who reads the text of a PDF: there is none in the viewer of a browser."""
    tab = conversation.tab()
    _refuse_forbidden(tab.pdf, ctx)
    url = tab.masked(tab.pdf)
    head = [*lines, url[:500] if conversation.guarded else f"{url[:500]} {GUARD_OFF}", PDF_NOTE]
    head += [note for each in conversation.tabs for note in each.take_notes()]
    return Result(
        text="\n".join([*head, *refusal_lines(conversation)]),
        data={"url": url, "status": tab.status},
        images=images,
        source=web_origin(tab.pdf),
        private=conversation.is_logged_in(tab),
        next=Next("fetch_url", {"url": url}),
    )


async def header(conversation: BrowserSession, tab: Tab, ctx: Ctx) -> str:
    """The title and address of a tab, on one line.

    Raises:
        Denied: a rule of the user's forbids the page, wherever a link or a step led.
    """
    _refuse_forbidden(tab.url, ctx)
    try:
        async with asyncio.timeout(TITLE_SECONDS):
            title = one_line(tab.masked(await tab.page.title()), 150)
    except Exception:  # noqa: BLE001 - a page in the middle of going elsewhere has none
        title = ""
    parts = [f"{title or '(no title)'} — {tab.masked(tab.url)[:500]}"]
    if tab.status >= 400:
        parts.append(f"(HTTP {tab.status})")
    if len(conversation.tabs) > 1:
        number = conversation.tabs.index(tab) + 1
        parts.append(f"[tab {number} of {len(conversation.tabs)}]")
    if not conversation.guarded:
        parts.append(GUARD_OFF)
    return " ".join(parts)


def _refuse_forbidden(url: str, ctx: Ctx) -> None:
    opening = ctx.registry.resolve(OPENING_TOOL)
    decision = decide(ctx.config.policy, opening, [url], NET)
    if decision.action == "deny" and decision.explicit:
        raise Denied(
            f"The tab came to {url[:300]}, which is forbidden by {decision.reason}.",
            hint="Go back by browser_act, or open another page.",
        )


async def page_text(tab: Tab, ctx: Ctx) -> str:
    """The readable text of the page as it is now, as Markdown."""
    for is_last in (False, True):
        tab.refuse_scheme()
        html = (await page_html(tab)).encode("utf-8", "replace")
        page = await convert_page(RawPage(tab.url, "text/html", "utf-8", html, whole=True), ctx)
        if page.text or is_last:
            return tab.masked(page.text) or NOTHING_YET
        await tab.wait_for_content()
    raise AssertionError  # the second try returned


def changed_text(before: PageSnapshot, now: PageSnapshot) -> str:
    """What is different, cut to what a reader needs to go on."""
    lines = difference(before, now)
    if not lines:
        return "(nothing on the page changed)"
    text: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_CHANGED_CHARS and text:
            text.append(
                f"… {len(lines) - len(text)} more changed lines: browser_read shows the page"
            )
            break
        text.append(line)
    return "\n".join(text)


def paged(text: str, offset: int, chars: int) -> tuple[str, int]:
    """Whole lines of a text from an offset, and where the rest begins (0: there is none)."""
    part = text[offset : offset + chars]
    if offset + chars >= len(text):
        return part, 0
    end = part.rfind("\n") + 1 or len(part)
    return part[:end].rstrip("\n"), offset + end


async def save(path: SafePath, content: bytes, tool: str, ctx: Ctx) -> str:
    """Write a file as a step that undo knows; says where."""
    step = Step(tool)
    step.write(path, content)
    applied = await ctx.use(Changes).apply(step, ctx)
    return f"Saved {applied.place(path)} ({len(content):,} bytes)."
