"""Pages as text: converted and cleaned once for each form, from a body that is kept."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from toolcrib.core.context import Ctx
from toolcrib.core.services import Services
from toolcrib.kit.cache import Cache
from toolcrib.kit.cache.flights import Flights
from toolcrib.kit.egress import PAGES, Egress, Redirect
from toolcrib.kit.text import clean
from toolcrib.kit.threads import Checkpoint, in_thread
from toolcrib.tools.web.bodies import KIND, Body, read_body
from toolcrib.tools.web.disarm import disarm
from toolcrib.tools.web.document import MAX_TEXT, Document, Facts, Format, Link, Picture, Raw
from toolcrib.tools.web.handlers import Handlers
from toolcrib.tools.web.rendering import UNRENDERED, is_unrendered

MOST_PAGES = 60
MOST_CHARS = 24_000_000
"""Characters of converted pages that this process remembers."""


MOST_SHOWN = 3_500_000
"""Bytes of a picture that is handed to a host."""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as text.

    `url` is the final one; `fetched_at` is UTC in seconds since 1970; `removed` counts
    invisible characters by kind; `cut` says that the server's answer went on behind what
    was read; `stale` says that it is an old copy, because reading it anew failed;
    `image` is the media type under which the body can be shown as a picture, which is
    then `picture`; `unrendered` says that scripts would make the text.
    """

    url: str
    status: int
    content_type: str
    kind: str
    title: str
    text: str
    encoding: str
    size: int
    fetched_at: float
    notes: list[str] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    hidden: int = 0
    redirects: list[Redirect] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    navigation: str = ""
    image: str = ""
    picture: bytes = field(default=b"", repr=False)
    unrendered: bool = False
    cut: bool = False
    cached: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True)
class _Kept:
    created: float
    digest: str
    page: PageText


class Pages:
    """A service: the converted pages that this process remembers, by URL and form."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Format], _Kept] = OrderedDict()
        self._chars = 0
        self.flights: Flights[PageText] = Flights()

    @classmethod
    def open(cls, services: Services) -> Self:
        """None yet."""
        del services
        return cls()

    def of_time(self, url: str, form: Format, created: float) -> PageText | None:
        """The page made of the body that was kept at that time."""
        kept = self._kept.get((url, form))
        return kept.page if kept is not None and kept.created == created else None

    def of_body(self, url: str, form: Format, body: Body) -> PageText | None:
        """The page made of the same bytes."""
        kept = self._kept.get((url, form))
        if kept is None or kept.digest != body.digest or kept.page.url != body.url:
            return None
        return kept.page

    def keep(self, url: str, form: Format, body: Body, page: PageText) -> None:
        """Remember a page; the oldest are forgotten for it."""
        self._drop((url, form))
        self._kept[url, form] = _Kept(body.fetched_at, body.digest, page)
        self._chars += _size(page)
        while len(self._kept) > 1 and (len(self._kept) > MOST_PAGES or self._chars > MOST_CHARS):
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, Format]) -> None:
        old = self._kept.pop(key, None)
        if old is not None:
            self._chars -= _size(old.page)


async def read_page(url: str, form: Format, ctx: Ctx) -> PageText:
    """A page, from the cache while it is fresh, or old where the network fails.

    The body is fetched once, whatever form it is read in.

    Args:
        url: checked already.
        form: what it is converted to.
        ctx: the call.

    Raises:
        ToolError: what the network, the server or the conversion says.
    """
    url = url.partition("#")[0]
    pages = ctx.use(Pages)
    if ctx.config.web.fetch.cache_seconds:
        created = await ctx.use(Cache).created(KIND, url)
        known = pages.of_time(url, form, created) if created is not None else None
        if known is not None:
            ctx.use(Egress).retrace(known.redirects, PAGES, ctx)
            return replace(known, cached=True, stale=False)
    body = await read_body(url, ctx)
    page = pages.of_body(url, form, body) or await _converted_once(url, form, body, ctx)
    page = replace(page, fetched_at=body.fetched_at, redirects=list(body.redirects))
    if ctx.config.web.fetch.cache_seconds and not body.stale:
        pages.keep(url, form, body, page)
    return replace(page, cached=body.cached, stale=body.stale)


async def _converted_once(url: str, form: Format, body: Body, ctx: Ctx) -> PageText:
    convert = ctx.use(Handlers).convert
    safe = disarm if ctx.config.web.fetch.disarm else _as_is
    key = f"{form}\0{body.digest}\0{body.url}\0{url}".encode()

    async def work() -> PageText:
        return await in_thread(
            lambda check: _converted(body, form, convert, safe, check), ctx.deadline
        )

    return await ctx.use(Pages).flights.join(key, work)


def _as_is(text: str) -> str:
    return text


def _converted(
    body: Body,
    form: Format,
    convert: Callable[[Raw], Document],
    safe: Callable[[str], str],
    check: Checkpoint,
) -> PageText:
    raw = Raw(body.url, body.media_type, body.charset, body.content, form)
    check()
    document = convert(raw)
    check()
    cleaned = clean(document.text[:MAX_TEXT])
    text = safe(cleaned.text)
    check()
    unrendered = is_unrendered(document, body.content)
    return PageText(
        url=body.url,
        status=body.status,
        content_type=raw.media_type and raw.kind,
        kind=document.kind,
        title=clean(document.title).text,
        text=text,
        encoding=document.encoding,
        size=len(body.content),
        fetched_at=body.fetched_at or time.time(),
        notes=_notes(document, body, unrendered=unrendered),
        removed=cleaned.removed,
        hidden=document.hidden,
        links=document.links,
        pictures=document.pictures,
        facts=document.facts,
        navigation=safe(clean(document.navigation[:MAX_TEXT]).text),
        image=document.image,
        picture=_picture(document, body),
        unrendered=unrendered,
        cut=body.truncated,
    )


def _notes(document: Document, body: Body, *, unrendered: bool) -> list[str]:
    notes = list(document.notes)
    if unrendered and not any("scripts" in note for note in notes):
        notes.append(UNRENDERED)
    if len(document.text) > MAX_TEXT:
        notes.append(f"Only the first {MAX_TEXT:,} of {len(document.text):,} characters are kept.")
    if body.truncated:
        size = len(body.content)
        notes.append(f"The answer went on: only its first {size:,} bytes were read.")
    return notes


def _picture(document: Document, body: Body) -> bytes:
    fits = document.image and not body.truncated and len(body.content) <= MOST_SHOWN
    return body.content if fits else b""


def _size(page: PageText) -> int:
    return (
        len(page.text)
        + len(page.navigation)
        + len(page.picture)
        + 200 * (len(page.links) + len(page.pictures))
    )
