"""Pages as text: converted and cleaned once for each form, from a body that is kept."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from toolcrib.core.context import Ctx
from toolcrib.core.services import Services
from toolcrib.documents.markup.visible_text import Format
from toolcrib.net.bodies import KIND, Body, read_body
from toolcrib.net.cache import Cache
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.single_flight import Flights
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import clean
from toolcrib.web.conversion.document import (
    MAX_TEXT,
    Choice,
    Document,
    Facts,
    Link,
    Picture,
    Raw,
)
from toolcrib.web.pages.conversion import converted
from toolcrib.web.pages.neutralize import disarm
from toolcrib.web.pages.script_check import UNRENDERED, is_unrendered

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
    then `picture`; `unrendered` says that scripts would make the text. `choice` says
    what of a page of HTML the text is, `whole` that all of it was asked for.
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
    choice: Choice | None = None
    whole: bool = False
    cut: bool = False
    cached: bool = False
    stale: bool = False
    body: Body | None = field(default=None, repr=False, compare=False)

    @property
    def left(self) -> int:
        """Words of the page that stand beside its text, without menus."""
        return self.choice.left if self.choice else 0


@dataclass(frozen=True, slots=True)
class _Kept:
    created: float
    digest: str
    page: PageText


class View(NamedTuple):
    """A page in one form: of its main content, or whole."""

    url: str
    form: Format
    whole: bool = False


class Pages:
    """A service: the converted pages that this process remembers, by URL and form."""

    def __init__(self) -> None:
        self._kept: OrderedDict[View, _Kept] = OrderedDict()
        self._chars = 0
        self.flights: Flights[PageText] = Flights()

    @classmethod
    def open(cls, services: Services) -> Self:
        """None yet."""
        del services
        return cls()

    def of_time(self, view: View, created: float) -> PageText | None:
        """The page made of the body that was kept at that time."""
        kept = self._kept.get(view)
        return kept.page if kept is not None and kept.created == created else None

    def of_body(self, view: View, body: Body) -> PageText | None:
        """The page made of the same bytes."""
        kept = self._kept.get(view)
        if kept is None or kept.digest != body.digest or kept.page.url != body.url:
            return None
        return kept.page

    def keep(self, view: View, body: Body, page: PageText) -> None:
        """Remember a page; the oldest are forgotten for it."""
        self._drop(view)
        self._kept[view] = _Kept(body.fetched_at, body.digest, page)
        self._chars += _size(page)
        while len(self._kept) > 1 and (len(self._kept) > MOST_PAGES or self._chars > MOST_CHARS):
            self._drop(next(iter(self._kept)))

    def _drop(self, view: View) -> None:
        old = self._kept.pop(view, None)
        if old is not None:
            self._chars -= _size(old.page)


async def read_page(url: str, form: Format, ctx: Ctx, *, whole: bool = False) -> PageText:
    """A page, from the cache while it is fresh, or old where the network fails.

    The body is fetched once, whatever form it is read in.

    Args:
        url: checked already.
        form: what it is converted to.
        ctx: the call.
        whole: all of it, where it would be its main content; so too by `web.fetch.whole`.

    Raises:
        ToolError: what the network, the server or the conversion says.
    """
    view = View(url.partition("#")[0], form, whole or ctx.config.web.fetch.whole)
    pages = ctx.use(Pages)
    if ctx.config.web.fetch.cache_seconds:
        created = await ctx.use(Cache).created(KIND, view.url)
        known = pages.of_time(view, created) if created is not None else None
        if known is not None:
            ctx.use(Egress).retrace(known.redirects, PAGES, ctx)
            return replace(known, cached=True, stale=False)
    return await _read_body(view, await read_body(view.url, ctx), ctx)


async def read_whole(url: str, page: PageText, form: Format, ctx: Ctx) -> PageText:
    """All of a page of which the main content was read; nothing is fetched for it again."""
    if page.body is None:
        return await read_page(url, form, ctx, whole=True)
    return await _read_body(View(url.partition("#")[0], form, True), page.body, ctx)


async def _read_body(view: View, body: Body, ctx: Ctx) -> PageText:
    pages = ctx.use(Pages)
    page = pages.of_body(view, body) or await _converted_once(view, body, ctx)
    page = replace(page, fetched_at=body.fetched_at, redirects=list(body.redirects))
    if ctx.config.web.fetch.cache_seconds and not body.stale:
        pages.keep(view, body, page)
    return replace(page, cached=body.cached, stale=body.stale, body=body)


async def _converted_once(view: View, body: Body, ctx: Ctx) -> PageText:
    safe = disarm if ctx.config.web.fetch.disarm else _as_is
    raw = Raw(body.url, body.media_type, body.charset, body.content, view.form, view.whole)
    key = f"{view.form}\0{view.whole}\0{body.digest}\0{body.url}\0{view.url}".encode()

    async def work() -> PageText:
        document = await converted(raw, ctx)
        return await in_thread(lambda check: _made(document, raw, body, safe, check), ctx.deadline)

    return await ctx.use(Pages).flights.join(key, work)


def _as_is(text: str) -> str:
    return text


def _made(
    document: Document, raw: Raw, body: Body, safe: Callable[[str], str], check: Checkpoint
) -> PageText:
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
        removed={
            kind: max(document.removed.get(kind, 0), cleaned.removed.get(kind, 0))
            for kind in {**document.removed, **cleaned.removed}
        },
        hidden=document.hidden,
        links=document.links,
        pictures=document.pictures,
        facts=document.facts,
        navigation=safe(clean(document.navigation[:MAX_TEXT]).text),
        image=document.image,
        picture=_picture(document, body),
        unrendered=unrendered,
        choice=document.choice,
        whole=raw.whole,
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
