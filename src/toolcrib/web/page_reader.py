"""Pages as text: fetched once, converted and cleaned once for each form, and remembered."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from toolcrib.browser.renderer import render as render_page
from toolcrib.core.context import Ctx, PlainService
from toolcrib.core.errors import (
    Busy,
    MissingExtra,
    NotConfigured,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.documents.html_text import Format
from toolcrib.execution.workers import Task, Workers
from toolcrib.net.cache import Cache, SingleFlight
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.public_url import check_public_url
from toolcrib.net.page_bodies import KIND, PageBody, read_body, rendered_body, robots_check
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import clean
from toolcrib.web.handlers import Handlers, convert_document
from toolcrib.web.neutralizer import neutralize
from toolcrib.web.page import MAX_PAGE_CHARS, Page, RawPage, unpacked

Render: TypeAlias = Literal["auto", "never", "always"]
OPENING_TOOL = "browser_open"
"""Where the user switched it off, no page is opened for other tools either."""
MAX_PAGES = 60
MAX_TOTAL_CHARS = 24_000_000
"""Characters of converted pages that this process remembers."""
MAX_PICTURE_BYTES = 3_500_000
"""Bytes of a picture that is handed to a host."""
LITTLE_TEXT_CHARS = 200
"""Characters of text below which a page with scripts is looked at."""
MAX_SCANNED_BYTES = 300_000
UNRENDERED_NOTE = (
    "The page builds its text with scripts, which are not run here: this is all it has."
)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_APP = re.compile(
    rb"<(?:div|main|section|body|app-root)\b[^>]{0,300}\bid=[\"']?(?:root|app|__next|__nuxt|"
    rb"___gatsby|svelte|main-app|react-root|application|q-app|ember\w*)\b"
    rb"|<app-root\b|\bng-app\b|\bdata-reactroot\b|\bng-version=|window\.__[A-Z_]+__\s*=",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rb"<noscript\b[^>]{0,200}>(?:(?!</noscript).){0,600}?\b(?:java\s?script|scripts)\b"
    rb"|(?:enable|activate|turn on|requires?|needs?) java\s?script"
    rb"|java\s?script (?:is|must be|to be) (?:enabled|required|disabled)",
    re.IGNORECASE | re.DOTALL,
)
SMALL_PAGE_BYTES = 4_096
"""Bytes of a page of HTML up to which converting it is not worth a wait for a place."""
LARGE_PAGE_BYTES = 1_000_000
"""Bytes of a page of HTML from which on it is converted in a process that can be killed."""
MANY_ELEMENTS = 20_000
"""Elements, or so, from which on as well."""
MAX_PROCESSES = 2
CONVERT_PAGE = Task(
    "toolcrib.web.converters.child:convert",
    "Reading the page",
    seconds=20.0,
    megabytes=2_048,
    max_bytes=64_000_000,
    hint="Use another address with the same content; format=raw gives the page as it was sent.",
)


@dataclass(frozen=True, slots=True)
class _CachedPage:
    created: float
    digest: str
    page: Page


class PageKey(NamedTuple):
    """A page in one form: of its main content, or whole; as it was sent, or rendered."""

    url: str
    form: Format
    whole: bool = False
    rendered: bool = False


class Pages(PlainService):
    """A service: the converted pages that this process remembers, by URL and form."""

    def __init__(self) -> None:
        self._cached: OrderedDict[PageKey, _CachedPage] = OrderedDict()
        self._chars = 0
        self.flights: SingleFlight[Page] = SingleFlight()

    def of_time(self, key: PageKey, created: float) -> Page | None:
        """The page made of the body that was kept at that time."""
        cached = self._cached.get(key)
        return cached.page if cached is not None and cached.created == created else None

    def newer(self, key: PageKey, than: float) -> Page | None:
        """The page that was read later than that, UTC in seconds since 1970."""
        cached = self._cached.get(key)
        return cached.page if cached is not None and cached.created > than else None

    def of_body(self, key: PageKey, body: PageBody) -> Page | None:
        """The page made of the same bytes."""
        cached = self._cached.get(key)
        if cached is None or cached.digest != body.digest or cached.page.url != body.url:
            return None
        return cached.page

    def keep(self, key: PageKey, body: PageBody, page: Page) -> None:
        """Remember a page; the oldest are forgotten for it."""
        self._drop(key)
        self._cached[key] = _CachedPage(body.fetched_at, body.digest, page)
        self._chars += _size(page)
        while len(self._cached) > 1 and (
            len(self._cached) > MAX_PAGES or self._chars > MAX_TOTAL_CHARS
        ):
            self._drop(next(iter(self._cached)))

    def _drop(self, key: PageKey) -> None:
        old = self._cached.pop(key, None)
        if old is not None:
            self._chars -= _size(old.page)


def render_mode(requested: Render | None, ctx: Ctx) -> Render:
    """How a page is read where a call asks so, or says nothing.

    Raises:
        NotConfigured, ToolDisabled: the user wants no pages to be read in a browser.
    """
    configured = ctx.config.web.fetch.render
    if requested == "always":
        if configured == "never":
            raise NotConfigured(
                "The user has no pages read in a browser here.",
                hint="Leave render out; the user can allow it by web.fetch.render.",
            )
        ctx.registry.resolve(OPENING_TOOL)
        return requested
    mode = "never" if configured == "never" else requested or configured
    with suppress(ToolError):
        ctx.registry.resolve(OPENING_TOOL)
        return mode
    return "never"


async def read_page(
    url: str, form: Format, ctx: Ctx, *, whole: bool = False, render: Render = "never"
) -> Page:
    """A page, from the cache while it is fresh, or old where the network fails.

    The body is fetched once, whatever form it is read in.

    Args:
        url: checked already.
        form: what it is converted to.
        ctx: the call.
        whole: all of it, where it would be its main content; so too by `web.fetch.whole`.
        render: in a browser: never, always, or where scripts make all of its text.

    Raises:
        ToolError: what the network, the server, the browser or the conversion says.
    """
    key = PageKey(url.partition("#")[0], form, whole or ctx.config.web.fetch.whole)
    if render == "always":
        with suppress(UnsupportedContent):  # no page of HTML: it is read as it was sent
            return await _read_rendered(key, url, ctx)
    page = await _read_plain(key, ctx)
    if render != "auto" or not page.unrendered:
        return page
    try:
        rendered = await _read_rendered(key, url, ctx)
    except (MissingExtra, NotConfigured):
        return page  # its note says that scripts were not run
    except ToolError as error:
        return replace(page, notes=[*page.notes, f"Nor by a browser: {error.message}"])
    if len(rendered.text) > len(page.text):
        return rendered
    return replace(page, notes=[*page.notes, "With its scripts, a browser shows no more."])


async def _read_rendered(key: PageKey, url: str, ctx: Ctx) -> Page:
    """The page as a browser has it, from memory while that is fresh."""
    key = key._replace(rendered=True)
    pages, seconds = ctx.use(Pages), ctx.config.web.fetch.cache_seconds
    known = pages.newer(key, time.time() - seconds) if seconds else None
    if known is not None:
        ctx.use(Egress).retrace(known.redirects, PAGES, ctx)
        return replace(known, cached=True)

    async def work() -> Page:
        if (gate := robots_check(ctx)) is not None:
            await gate(key.url)
        response = await render_page(url, ctx, component=PAGES, min_chars=LITTLE_TEXT_CHARS)
        ctx.use(Egress).retrace(response.redirects, PAGES, ctx)
        return await _read_body(key, rendered_body(response, key.url), ctx)

    return await pages.flights.join(f"rendered\0{key.form}\0{url}".encode(), work)


async def _read_plain(key: PageKey, ctx: Ctx) -> Page:
    """The page as its server sends it."""
    pages = ctx.use(Pages)
    if ctx.config.web.fetch.cache_seconds:
        created = await ctx.use(Cache).created(KIND, key.url)
        known = pages.of_time(key, created) if created is not None else None
        if known is not None:
            ctx.use(Egress).retrace(known.redirects, PAGES, ctx)
            return replace(known, cached=True, stale=False)
    return await _read_body(key, await read_body(key.url, ctx), ctx)


def check_found_url(url: str, ctx: Ctx, source: str = "") -> str:
    """A URL that comes from the web and not from the caller, such as that of a search result.

    Args:
        url: it.
        ctx: the call.
        source: the page on which it stood, if it did on one.

    Raises:
        Blocked: the guard or the policy of the call refuses it.
    """
    checked = check_public_url(url, ctx)
    if ctx.check_url is not None:
        ctx.check_url(checked, source=source)
    return checked


async def read_found_page(url: str, ctx: Ctx) -> Page:
    """The page of a search result."""
    return await read_page(check_found_url(url, ctx), ctx.config.web.fetch.format, ctx)


async def read_whole(url: str, page: Page, form: Format, ctx: Ctx) -> Page:
    """All of a page of which the main content was read; nothing is fetched for it again."""
    if page.body is None:
        return await read_page(url, form, ctx, whole=True)
    key = PageKey(url.partition("#")[0], form, True, page.rendered)
    return await _read_body(key, page.body, ctx)


async def _read_body(key: PageKey, body: PageBody, ctx: Ctx) -> Page:
    pages = ctx.use(Pages)
    page = pages.of_body(key, body) or await _convert_once(key, body, ctx)
    page = replace(page, fetched_at=body.fetched_at, redirects=list(body.redirects))
    if ctx.config.web.fetch.cache_seconds and not body.stale:
        pages.keep(key, body, page)
    return replace(page, cached=body.cached, stale=body.stale, body=body)


async def _convert_once(key: PageKey, body: PageBody, ctx: Ctx) -> Page:
    safe = neutralize if ctx.config.web.fetch.neutralize else _unchanged
    raw = RawPage(body.url, body.media_type, body.charset, body.content, key.form, key.whole)
    flight = f"{key.form}\0{key.whole}\0{body.digest}\0{body.url}\0{key.url}".encode()

    async def work() -> Page:
        page = await convert_page(raw, ctx)
        return await in_thread(lambda check: _read(page, raw, body, safe, check), ctx.deadline)

    return await ctx.use(Pages).flights.join(flight, work)


def _unchanged(text: str) -> str:
    return text


def _read(
    page: Page, raw: RawPage, body: PageBody, safe: Callable[[str], str], check: Checkpoint
) -> Page:
    """A converted page with clean texts, and with what is known of its body."""
    check()
    cleaned = clean(page.text[:MAX_PAGE_CHARS])
    text = safe(cleaned.text)
    check()
    unrendered = not body.rendered and is_unrendered(page, body.content)
    displayed = page.image and not body.truncated and len(body.content) <= MAX_PICTURE_BYTES
    return replace(
        page,
        text=text,
        title=clean(page.title).text,
        notes=_notes(page, body, unrendered=unrendered),
        navigation=safe(clean(page.navigation[:MAX_PAGE_CHARS]).text),
        removed={
            kind: max(page.removed.get(kind, 0), cleaned.removed.get(kind, 0))
            for kind in {**page.removed, **cleaned.removed}
        },
        url=body.url,
        status=body.status,
        content_type=raw.media_type and raw.kind,
        size=len(body.content),
        fetched_at=body.fetched_at or time.time(),
        picture=body.content if displayed else b"",
        unrendered=unrendered,
        rendered=body.rendered,
        whole=raw.whole,
        cut=body.truncated,
    )


def _notes(page: Page, body: PageBody, *, unrendered: bool) -> list[str]:
    notes = list(page.notes)
    if unrendered and not any("scripts" in note for note in notes):
        notes.append(UNRENDERED_NOTE)
    if len(page.text) > MAX_PAGE_CHARS:
        notes.append(
            f"Only the first {MAX_PAGE_CHARS:,} of {len(page.text):,} characters are kept."
        )
    if body.truncated:
        size = len(body.content)
        notes.append(f"The answer went on: only its first {size:,} bytes were read.")
    return notes


def _size(page: Page) -> int:
    return (
        len(page.text)
        + len(page.navigation)
        + len(page.picture)
        + 200 * (len(page.links) + len(page.pictures))
    )


def is_unrendered(page: Page, body: bytes) -> bool:
    """Whether an HTML page has next to no text, and signs that scripts would make it."""
    if page.kind != "html" or len(page.text.strip()) >= LITTLE_TEXT_CHARS:
        return False
    face = body[:MAX_SCANNED_BYTES]
    if not _SCRIPT.search(face):
        return False
    return not page.text.strip() or bool(_APP.search(face) or _ASKS.search(face))


class ConversionLanes(PlainService):
    """A service: where ordinary pages are converted when there are several at once.

    One thread, since threads share the interpreter, and a process for each processor where
    there are several: the thread has to leave half of its own to the event loop. A single
    page always finds the thread free.
    """

    def __init__(self, processes: int | None = None) -> None:
        processors = os.cpu_count() or 1
        if processes is None:
            processes = processors if processors > 1 else 0
        self._free: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
        for lane in range(1 + min(processes, MAX_PROCESSES)):
            self._free.put_nowait(lane)

    @asynccontextmanager
    async def one(self) -> AsyncIterator[bool]:
        """A place to work; true for one in a process of its own."""
        lane = await self._free.get()
        try:
            yield lane > 0
        finally:
            self._free.put_nowait(lane)


async def convert_page(raw: RawPage, ctx: Ctx) -> Page:
    """The page in an answer.

    Raises:
        UnsupportedContent: nothing reads this kind, or the bytes are not of it.
        MissingExtra: a document of this kind needs an optional package.
        TimedOut, TooLarge: the work was stopped.
        Internal: a handler failed.
    """
    handlers = ctx.use(Handlers)
    if handlers.is_document(raw):
        return await convert_document(raw, ctx)
    if raw.format == "raw" or len(raw.body) <= SMALL_PAGE_BYTES or not handlers.is_page(raw):
        return await in_thread(lambda _: handlers.convert(raw), ctx.deadline)
    if is_heavy(raw):
        return await _convert_in_process(raw, ctx)
    async with ctx.use(ConversionLanes).one() as apart:
        if apart:
            return await _convert_in_process(raw, ctx)
        return await in_thread(lambda _: handlers.convert(raw), ctx.deadline)


async def _convert_in_process(raw: RawPage, ctx: Ctx) -> Page:
    values = asdict(raw)
    body = values.pop("body")
    try:
        values, text = await ctx.use(Workers).run(CONVERT_PAGE, values, body, ctx.deadline)
    except (Unavailable, Busy):  # Where no process can be started a thread has to do.
        return await in_thread(lambda _: ctx.use(Handlers).convert(raw), ctx.deadline)
    return unpacked(values, text)


def is_heavy(raw: RawPage) -> bool:
    """Whether a page could hold the interpreter for long."""
    return len(raw.body) > LARGE_PAGE_BYTES or raw.body.count(b"<") > 2 * MANY_ELEMENTS
