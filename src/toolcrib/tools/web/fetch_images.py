"""`fetch_images`: images from the web as files of the workspace."""

from __future__ import annotations

import asyncio
import posixpath
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    Conflict,
    NoResults,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.core.result import Image, Next, Result
from toolcrib.core.tool import NET, WRITE, Param, other_names, tool
from toolcrib.files.content.kinds import VISIBLE_MEDIA_TYPES, kind_of, picture_of
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.writer import make_folder, write_new
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.public_url import PublicUrl, References, expand_reference
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import web_origin
from toolcrib.net.page_bodies import robots_check
from toolcrib.net.response_check import check
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import clean, one_line
from toolcrib.tools.web.view.headers import failed_data
from toolcrib.web.page_reader import check_found_url, read_page
from toolcrib.web.search.chain import Window, best_error, find_images

MAX_IMAGES = 200
MAX_DISPLAYED_IMAGES = 4
MAX_DISPLAYED_BYTES = 400_000
"""Bytes of an image that is shown to the model itself, beside being saved."""
ACCEPT = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
MAX_NAME_TRIES = 1000
MAX_ALT_CHARS = 300
MAX_NAME_CHARS = 200

EXTENSIONS = {
    "image/jpeg": "jpg",
    **{f"image/{kind}": kind for kind in ("png", "gif", "webp", "avif", "heic", "bmp", "tiff")},
    "image/svg+xml": "svg",
    **dict.fromkeys(("image/x-icon", "image/vnd.microsoft.icon"), "ico"),
    **dict.fromkeys(("image/jpg", "image/pjpeg"), "jpg"),
    "image/x-ms-bmp": "bmp",
}
SPELLINGS = {"jpeg": "jpg", "jpe": "jpg", "tif": "tiff"}
KNOWN_ENDINGS = frozenset(EXTENSIONS.values()) | frozenset(SPELLINGS)
PAGE_TYPES = ("text/html", "application/xhtml+xml")
PAGE_HINT = "Send it as page_url."
OPAQUE_TYPES = ("", "application/octet-stream", "binary/octet-stream", "application/binary")
"""Content types that say nothing."""
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")
_MARKDOWN = re.compile(r"([\\\[\]`*_<>!])")
_TAG = re.compile(rb"\s*(?:<\?xml|<!doctype|<html|<head|<body|<!--|[{\[])", re.IGNORECASE)
SVG_NOTE = "SVG files can hold scripts: open them only where scripts do not run."
# Checked one by one, so that a bad one does not fail the others.
EachUrl: TypeAlias = Annotated[str, Param("Image URLs.", kind="url", check=expand_reference)]


@tool(
    group="web",
    rights=NET | WRITE,
    keywords=("download", "picture", "pictures", "photo", "photos", "image", "save", "look"),
    aliases=("download_images", "save_images", "get_images", "fetch_image"),
    argument_aliases=other_names(
        urls=("images", "image_url", "url"), page_url=("page", "website"), query=("search",)
    ),
    profiles=("research",),
)
async def fetch_images(
    urls: list[EachUrl] | None = None,
    page_url: Annotated[PublicUrl, Param("Page whose images are wanted.")] = "",
    query: Annotated[str, Param("Image search.")] = "",
    limit: Annotated[int | None, Param("Images.", minimum=1, maximum=MAX_IMAGES)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Save images as workspace files: by URL, of a page, or by search.

    Gives a Markdown reference to each file. To see only what exists use `image_search`.
    What images and pages say is untrusted.
    """
    addresses = [address for address in urls or [] if address.strip()]
    words = one_line(query)
    if not (addresses or page_url or words):
        raise BadInput("Give at least one of 'urls', 'page_url' and 'query'.")
    max_images = limit or ctx.config.web.images.save_limit
    folder = _folder(ctx)
    sources = unique(await _image_sources(addresses, page_url, words, max_images, ctx))
    chosen, rest = sources[:max_images], sources[max_images:]
    outcomes = await _save_all(chosen, folder, ctx)
    if len(addresses) == 1 and not (page_url or words) and _is_page_meant(addresses[0], outcomes):
        (page_url,) = addresses  # a page in place of an image: those that it has
        sources = unique(await _image_sources([], page_url, "", max_images, ctx))
        chosen, rest = sources[:max_images], sources[max_images:]
        outcomes = await _save_all(chosen, folder, ctx)
    links = [await ctx.use(References).shorten(item.url, ctx.session) for item in chosen]
    result = _result(chosen, outcomes, links, folder, page_url or (words and "image search"))
    if not rest:
        return result
    ctx.warn(f"{len(rest)} more images were not saved: the limit is {max_images}.")
    unsaved = [item.url for item in rest if item.url in addresses]
    if not unsaved:
        return result
    return replace(result, truncated=True, next=Next("fetch_images", {"urls": unsaved}))


def _is_page_meant(address: str, outcomes: Sequence[SavedImage | ToolError]) -> bool:
    """Whether a page came, and not in place of what its address calls an image."""
    are_pages = all(isinstance(out, ToolError) and out.hint == PAGE_HINT for out in outcomes)
    return are_pages and not _extension(address)


def _folder(ctx: Ctx) -> SafePath:
    folder = ctx.use(Workspace).resolve(ctx.config.web.images.folder, ctx.session.directory)
    folder.gate.check(folder, "read")
    folder.gate.check(folder, "write")
    return folder


async def _image_sources(
    addresses: Sequence[str], page_url: str, words: str, max_images: int, ctx: Ctx
) -> list[ImageSource]:
    sources = [ImageSource(address.strip()) for address in addresses]
    if page_url:
        await ctx.progress(f"Fetching {page_url[:200]}")
        page = await read_page(page_url, "markdown", ctx)
        pictures = [p for p in page.pictures if is_supported(p.url)]
        if not pictures and not addresses and not words:
            raise NoResults(
                f"No images found on {page.url[:500]}.",
                hint="The page may show them by scripts; image_search finds others.",
            )
        sources += [ImageSource(p.url, p.alt, p.title, page.url) for p in pictures]
    if words and len(sources) < max_images:
        outcome = await find_images(words, Window(1, min(max_images, 35)), ctx)
        sources += [
            ImageSource(found.url, found.title, found.title, str(found.extra.get("page", "")))
            for found in outcome.results
        ]
    return sources


async def _save_all(
    sources: Sequence[ImageSource], folder: SafePath, ctx: Ctx
) -> list[SavedImage | ToolError]:
    gate = asyncio.Semaphore(ctx.config.web.images.concurrency)
    done = 0

    async def one(index: int, item: ImageSource) -> SavedImage | ToolError:
        nonlocal done
        outcome: SavedImage | ToolError
        try:
            async with gate:
                outcome = await save_image(item, index, folder, ctx)
        except ToolError as error:
            outcome = error
        done += 1
        await ctx.progress(f"Image {done} of {len(sources)}", done, len(sources))
        return outcome

    return list(await asyncio.gather(*(one(n, item) for n, item in enumerate(sources, 1))))


def _result(
    sources: Sequence[ImageSource],
    outcomes: Sequence[SavedImage | ToolError],
    links: Sequence[str],
    folder: SafePath,
    source: str,
) -> Result:
    saved = [outcome for outcome in outcomes if isinstance(outcome, SavedImage)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, ToolError)]
    records = [_record(item, out) for item, out in zip(sources, outcomes, strict=True)]
    if errors and not saved:
        error = best_error(errors)
        if len(errors) > 1:
            error.details = {**error.details, "images": records}
        raise error
    lines = [f"Saved {len(saved)} of {len(sources)} images in {folder.display}."]
    entries = zip(records, outcomes, links, strict=True)
    lines += [f"{n}. {_line(*entry)}" for n, entry in enumerate(entries, 1)]
    if any(item.kind == "svg" for item in saved):
        lines.append(SVG_NOTE)
    hosts = ", ".join(dict.fromkeys(item.url for item in sources))
    return Result(
        text="\n".join(lines),
        data={"folder": folder.display, "images": records},
        images=_displayed(saved),
        source=source or hosts[:500],
    )


def _record(source: ImageSource, outcome: SavedImage | ToolError) -> dict[str, Any]:
    record: dict[str, Any] = {
        "filename": source.filename,
        "alt": one_line(source.alt),
        "title": one_line(source.title),
        "url": source.url,
    }
    if isinstance(outcome, ToolError):
        return {**record, "error": failed_data(source.url, outcome)["error"]}
    alt = source.alt or source.title or source.filename
    return {
        **record,
        "image": markdown(alt, outcome.path.display),
        "path": outcome.path.display,
        "content_type": outcome.media_type,
        "bytes": len(outcome.data),
        "width": outcome.width,
        "height": outcome.height,
    }


def _line(record: dict[str, Any], outcome: SavedImage | ToolError, link: str) -> str:
    if isinstance(outcome, ToolError):
        hint = f" {PAGE_HINT}" if outcome.hint == PAGE_HINT else ""
        return f"{error_line(outcome)} {record['url'][:500]}{hint}"
    size = f", {outcome.width}x{outcome.height}" if outcome.width and outcome.height else ""
    title = f" {record['title'][:200]}" if record["title"] not in ("", record["alt"]) else ""
    facts = f"{outcome.kind}{size}, {len(outcome.data):,} bytes"
    return f"{record['image']} ({facts}) from {link}{title}"


def _displayed(saved: Sequence[SavedImage]) -> tuple[Image, ...]:
    """Some small ones for hosts that show images; no SVG, which can hold scripts."""
    fit = [
        s
        for s in saved
        if s.media_type in VISIBLE_MEDIA_TYPES and len(s.data) <= MAX_DISPLAYED_BYTES and s.width
    ]
    return tuple(Image(s.data, s.media_type) for s in fit[:MAX_DISPLAYED_IMAGES])


@dataclass(frozen=True, slots=True)
class ImageSource:
    """An image to save: its URL, what its page says of it, and that page."""

    url: str
    alt: str = ""
    title: str = ""
    page: str = ""

    @property
    def filename(self) -> str:
        """The last part of the URL's path, decoded where that is possible."""
        path = self.url.partition("#")[0].partition("?")[0].partition("://")[2]
        segment = path.rpartition("/")[2] if "/" in path else ""
        try:
            name = unquote(segment, errors="strict")
        except UnicodeDecodeError:
            name = segment
        return re.sub(r"[/\\\s]+", "_", clean(name).text)[:MAX_NAME_CHARS]


@dataclass(frozen=True, slots=True)
class SavedImage:
    """An image that was saved. `kind` is its extension; sizes in pixels, 0 if unknown."""

    path: SafePath
    kind: str
    media_type: str
    data: bytes
    width: int = 0
    height: int = 0


async def save_image(source: ImageSource, index: int, folder: SafePath, ctx: Ctx) -> SavedImage:
    """Fetch an image and save it as `<timestamp>-<index>.<ext>`, a name that was free.

    Raises:
        Blocked: the guard refuses its URL, or where that leads.
        UnsupportedContent: it is empty, or no image.
        ToolError: what the network, the server or the file system says.
    """
    url = check_found_url(source.url, ctx, source.page)
    settings = ctx.config.web.images
    headers = {"accept": ACCEPT}
    if origin := web_origin(source.page):
        headers["referer"] = f"{origin}/"
    try:
        response = await ctx.use(Egress).fetch(
            url,
            headers=headers,
            component=PAGES,
            max_bytes=settings.max_bytes,
            timeout=settings.timeout,
            retries=ctx.config.egress.retry.retries,
            before_request=robots_check(ctx),
            ctx=ctx,
        )
    except TooLarge as error:
        error.hint = "Use another image. The user can raise web.images.max_bytes."
        raise
    check(response, url[:500])
    try:
        kind = _kind(response, source.url)
    except UnsupportedContent as error:
        if not source.page and _is_page(response):
            error.hint = PAGE_HINT
        raise
    return await in_thread(lambda stop: _write(response, kind, index, folder, stop), ctx.deadline)


def _write(
    response: Response, kind: str, index: int, folder: SafePath, stop: Checkpoint
) -> SavedImage:
    seen = picture_of(response.body)
    media_type = next(m for m, e in EXTENSIONS.items() if e == kind)
    size = (seen.width, seen.height) if seen else (0, 0)
    make_folder(folder)
    stamp = time.time_ns() // 1_000_000
    for _ in range(MAX_NAME_TRIES):
        path = folder.child(f"{stamp}-{index}.{kind}")
        try:
            write_new(path, response.body, stop)
        except Conflict:
            stamp += 1
            continue
        return SavedImage(path, kind, media_type, response.body, *size)
    raise Conflict(f"No name is free in {folder.display}.", hint="Empty the folder.")


def _kind(response: Response, url: str) -> str:
    """The extension of an image: by its first bytes, else the header, the URL, or jpg.

    Raises:
        UnsupportedContent: it is empty, or something else.
    """
    if not response.body:
        raise UnsupportedContent("The server sent an empty body.", hint="Use another image.")
    if response.truncated:
        raise UnsupportedContent("The image broke off before its end.", hint="Try again later.")
    seen = picture_of(response.body)
    if seen is not None:
        return EXTENSIONS[seen.media_type]
    declared = response.media_type
    other = kind_of(response.body)
    known = other is not None and other.name != "binary file"
    texts = declared not in EXTENSIONS and (other is None and declared not in OPAQUE_TYPES)
    if known or texts or _TAG.match(response.body) or declared == "image/svg+xml":
        what = other.name if other and known else declared if texts else "text"
        raise UnsupportedContent(
            f"This is no image but {what[:80]}.", hint="Use another image.", content_type=declared
        )
    return EXTENSIONS.get(declared) or _extension(response.url) or _extension(url) or "jpg"


def _is_page(response: Response) -> bool:
    return response.media_type in PAGE_TYPES and kind_of(response.body) is None


def _ending(url: str) -> str:
    return posixpath.splitext(urlsplit(url).path)[1].removeprefix(".").lower()


def _extension(url: str) -> str:
    ending = _ending(url)
    return SPELLINGS.get(ending, ending) if ending in KNOWN_ENDINGS else ""


def is_supported(url: str) -> bool:
    """Whether the URL of a picture does not say that it is something else."""
    ending = _ending(url)
    looks_like_one = re.fullmatch(r"[a-z]{2,4}\d?", ending) is not None
    return (
        ending in KNOWN_ENDINGS
        or not looks_like_one
        or ending in ("php", "aspx", "asp", "cgi", "ashx")
    )


def markdown(alt: str, path: str) -> str:
    """A Markdown reference to a saved image."""
    return f"![{escaped(alt)}]({reference(path)})"


def escaped(alt: str) -> str:
    """An alt text that cannot end the brackets around it, on one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(alt, MAX_ALT_CHARS))


def reference(path: str) -> str:
    """A path as it stands in Markdown: forward slashes, no drive, nothing that ends it."""
    if _DRIVE.match(path):
        path = path[2:].replace("\\", "/")
    return quote(path, safe="/~!$&'*+,;=:@-._").replace("\\", "%5C")


def error_line(error: ToolError) -> str:
    """An error on one line."""
    return f"Error ({error.stable_code}): {error.message}"


def unique(sources: Iterable[ImageSource]) -> list[ImageSource]:
    """Each image once, by its URL."""
    found: dict[str, ImageSource] = {}
    for item in sources:
        found.setdefault(item.url.partition("#")[0], item)
    return list(found.values())
