"""One image from the web into a file of the workspace: fetched, recognised, written whole."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, TooLarge, ToolError, UnsupportedContent
from toolcrib.files.content.image_formats import picture_of
from toolcrib.files.content.kinds import kind_of
from toolcrib.files.paths import SafePath
from toolcrib.files.writer import make_folder, write_new
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.public_url import check_public_url
from toolcrib.net.egress.response import Response
from toolcrib.net.robots import gate_of
from toolcrib.net.statuses import check
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import clean

ACCEPT = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
NAMES_TRIED = 1000
MAX_ALT = 300
MAX_NAME = 200

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/pjpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "image/avif": "avif",
    "image/heic": "heic",
    "image/bmp": "bmp",
    "image/x-ms-bmp": "bmp",
    "image/tiff": "tiff",
    "image/x-icon": "ico",
    "image/vnd.microsoft.icon": "ico",
}
SPELLINGS = {"jpeg": "jpg", "jpe": "jpg", "tif": "tiff"}
KNOWN = frozenset(EXTENSIONS.values()) | frozenset(SPELLINGS)
PAGE_TYPES = ("text/html", "application/xhtml+xml")
PAGE = "Send it as page_url."
OPAQUE = ("", "application/octet-stream", "binary/octet-stream", "application/binary")
"""Content types that say nothing."""
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")
_MARKDOWN = re.compile(r"([\\\[\]`*_<>!])")
_TAG = re.compile(rb"\s*(?:<\?xml|<!doctype|<html|<head|<body|<!--|[{\[])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
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
        return re.sub(r"[/\\\s]+", "_", clean(name).text)[:MAX_NAME]


@dataclass(frozen=True, slots=True)
class Saved:
    """An image that was saved. `kind` is its extension; sizes in pixels, 0 if unknown."""

    path: SafePath
    kind: str
    media_type: str
    data: bytes
    width: int = 0
    height: int = 0


async def save(wanted: Wanted, index: int, folder: SafePath, ctx: Ctx) -> Saved:
    """Fetch an image and save it as `<timestamp>-<index>.<ext>`, a name that was free.

    Raises:
        Blocked: the guard refuses its URL, or where that leads.
        UnsupportedContent: it is empty, or no image.
        ToolError: what the network, the server or the file system says.
    """
    url = check_public_url(wanted.url, ctx)
    if ctx.judge is not None:
        ctx.judge(url)
    settings = ctx.config.web.images
    headers = {"accept": ACCEPT}
    if wanted.page:
        origin = urlsplit(wanted.page)
        headers["referer"] = f"{origin.scheme}://{origin.netloc}/"
    try:
        response = await ctx.use(Egress).fetch(
            url,
            headers=headers,
            component=PAGES,
            max_bytes=settings.max_bytes,
            timeout=settings.timeout,
            retries=ctx.config.egress.retry.retries,
            gate=gate_of(ctx),
            ctx=ctx,
        )
    except TooLarge as error:
        error.hint = "Use another image. The user can raise web.images.max_bytes."
        raise
    check(response, url[:500])
    try:
        kind = _kind(response, wanted.url)
    except UnsupportedContent as error:
        if not wanted.page and _is_page(response):
            error.hint = PAGE
        raise
    return await in_thread(lambda stop: _write(response, kind, index, folder, stop), ctx.deadline)


def _write(response: Response, kind: str, index: int, folder: SafePath, stop: Checkpoint) -> Saved:
    seen = picture_of(response.body)
    media_type = next(m for m, e in EXTENSIONS.items() if e == kind)
    size = (seen.width, seen.height) if seen else (0, 0)
    make_folder(folder)
    stamp = time.time_ns() // 1_000_000
    for _ in range(NAMES_TRIED):
        path = folder.child(f"{stamp}-{index}.{kind}")
        try:
            write_new(path, response.body, stop)
        except Conflict:
            stamp += 1
            continue
        return Saved(path, kind, media_type, response.body, *size)
    raise Conflict(f"No name is free in {folder.display}.", hint="Empty the folder.")


def _kind(response: Response, asked: str) -> str:
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
    texts = declared not in EXTENSIONS and (other is None and declared not in OPAQUE)
    if known or texts or _TAG.match(response.body) or declared == "image/svg+xml":
        what = other.name if other and known else declared if texts else "text"
        raise UnsupportedContent(
            f"This is no image but {what[:80]}.", hint="Use another image.", content_type=declared
        )
    return EXTENSIONS.get(declared) or _extension(response.url) or _extension(asked) or "jpg"


def _is_page(response: Response) -> bool:
    return response.media_type in PAGE_TYPES and kind_of(response.body) is None


def _extension(url: str) -> str:
    ending = posixpath.splitext(urlsplit(url).path)[1].removeprefix(".").lower()
    return SPELLINGS.get(ending, ending) if ending in KNOWN else ""


def is_supported(url: str) -> bool:
    """Whether the URL of a picture does not say that it is something else."""
    ending = posixpath.splitext(urlsplit(url).path)[1].removeprefix(".").lower()
    looks_like_one = re.fullmatch(r"[a-z]{2,4}\d?", ending) is not None
    return ending in KNOWN or not looks_like_one or ending in ("php", "aspx", "asp", "cgi", "ashx")


def markdown(alt: str, path: str) -> str:
    """A Markdown reference to a saved image."""
    return f"![{escaped(alt)}]({reference(path)})"


def escaped(alt: str) -> str:
    """An alt text that cannot end the brackets around it, on one line."""
    flat = " ".join(clean(alt).text.split())[:MAX_ALT]
    return _MARKDOWN.sub(r"\\\1", flat)


def reference(path: str) -> str:
    """A path as it stands in Markdown: forward slashes, no drive, nothing that ends it."""
    if _DRIVE.match(path):
        path = path[2:].replace("\\", "/")
    return quote(path, safe="/~!$&'*+,;=:@-._").replace("\\", "%5C")


def shown_error(error: ToolError) -> str:
    """An error on one line."""
    return f"Error ({error.stable_code}): {error.message}"


def unique(wanted: Iterator[Wanted]) -> list[Wanted]:
    """Each image once, by its URL."""
    found: dict[str, Wanted] = {}
    for item in wanted:
        found.setdefault(item.url.partition("#")[0], item)
    return list(found.values())
