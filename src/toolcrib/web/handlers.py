"""Which handler reads which kind of content: the service `Handlers`.

A program adds one with `box.use(Handlers).add("application/x-thing", convert)`. Packages
add theirs with an entry point of the group `toolcrib.handlers`: either its name is the
kind and it names the handler, or it names a mapping of kinds to handlers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from toolcrib.core.context import Ctx, PlainService
from toolcrib.core.errors import Internal, ToolError, UnsupportedContent
from toolcrib.documents.documents import Documents
from toolcrib.documents.kinds import BINARY_KINDS, NAMES, kind_of_document, labelled_kind
from toolcrib.documents.text import DocumentText
from toolcrib.files.content.kinds import Kind, charset_of, kind_of, picture_of
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted
from toolcrib.web.converters.data import convert_csv, convert_image, convert_json, convert_text
from toolcrib.web.converters.html import convert_html
from toolcrib.web.converters.xml import convert_feed, convert_xml
from toolcrib.web.page import Facts, Handler, Page, RawPage

GROUP = "toolcrib.handlers"
READABLE = "HTML, PDF, office files, XML, JSON, feeds, CSV, images and any plain text"
_TEXT = """
ecmascript javascript json-seq jsonl jsonlines markdown sql toml typescript x-httpd-php
x-javascript x-jsonlines x-ndjson x-sh x-subrip x-tex x-www-form-urlencoded x-yaml xml-dtd yaml
"""
HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(("text/html", "application/xhtml+xml"), convert_html),
    **{f"application/{kind}": convert_feed for kind in ("rss+xml", "atom+xml", "rdf+xml")},
    "application/feed+json": convert_feed,
    **dict.fromkeys(("application/json", "text/json", "+json"), convert_json),
    **dict.fromkeys(("application/xml", "text/xml", "+xml"), convert_xml),
    **{f"text/{kind}-separated-values": convert_csv for kind in ("comma", "tab")},
    **dict.fromkeys(("application/csv", "text/csv", "text/tsv"), convert_csv),
    **dict.fromkeys(("image/*", "image/svg+xml"), convert_image),
    **{f"application/{kind}": convert_text for kind in _TEXT.split()},
    "text/*": convert_text,
}
"""By media type, by its suffix ("+json"), or by its family ("text/*")."""
DOCUMENT_KINDS = BINARY_KINDS | {"eml", "ipynb"}
_DOCUMENT_TYPES = (
    "application/epub+zip",
    "application/msword",
    "application/pdf",
    "application/rtf",
    "application/vnd.ms-",
    "application/vnd.oasis.opendocument",
    "application/vnd.openxmlformats-officedocument",
    "application/x-pdf",
    "text/rtf",
)
SNIFFED_BYTES = 4_096
"""How many first bytes are looked at."""
_SAYS_NOTHING = {"", "*/*", "binary/octet-stream", "content/unknown", "unknown/unknown"} | {
    f"application/{name}"
    for name in (
        *("download", "force-download", "octet-stream", "octetstream", "unknown"),
        *("x-download", "x-octet-stream", "x-unknown"),
    )
}
"""Types that say nothing."""
_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "PDF document": "application/pdf",
    "Word document": f"{_OFFICE}.wordprocessingml.document",
    "Excel workbook": f"{_OFFICE}.spreadsheetml.sheet",
    "PowerPoint presentation": f"{_OFFICE}.presentationml.presentation",
    "OpenDocument file": "application/vnd.oasis.opendocument.text",
    "EPUB book": "application/epub+zip",
    "old Office document": "application/msword",
    "ZIP archive": "application/zip",
    "gzip archive": "application/gzip",
}
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|style|h1|div|p|a|table|br|ul)\b",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE\s+(?!html)[^>\[]*(?:\[[^\]]*\]\s*)?>",
    re.DOTALL | re.IGNORECASE,
)
_FEED = re.compile(r"<(?:\w+:)?(rss|feed|rdf)\b([^>]*)", re.IGNORECASE)
_FEED_SPACES = ("purl.org/rss", "netscape.com/rdf", "purl.org/atom", "w3.org/2005/atom")
_JSON_FEED = re.compile(r"\"version\"\s*:\s*\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org")


class Handlers(PlainService):
    """A service: which handler reads what. Handlers that were added come before our own."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._added: dict[str, Handler] = {}
        for point in entry_points(group=GROUP):
            try:
                for kind, handler in _loaded(point):
                    self.add(kind, handler)
            except Exception as error:  # noqa: BLE001 - foreign code, and others go on
                message = f"{type(error).__name__}: {error}"[:300]
                self.warnings.append(f"The handlers of '{point.name}' cannot be used: {message}")

    def add(self, kind: str, handler: Handler) -> None:
        """Let a handler read a kind of content, in place of what else would.

        Args:
            kind: a media type, a suffix as `+json`, or a family as `text/*`.
            handler: takes a `RawPage` and gives a `Page`; it runs in a thread.

        Raises:
            ValueError: that is no kind, or no handler.
        """
        kind = kind.strip().lower()
        if not (kind.startswith("+") or 0 < kind.find("/") < len(kind) - 1):
            raise ValueError(f"{kind!r} is no media type, no +suffix and no family/*")
        if not callable(handler):
            raise ValueError(f"what is to read {kind} cannot be called")  # noqa: TRY004
        self._added[kind] = handler

    def find(self, media_type: str) -> Handler | None:
        """What reads a media type; None where nothing does."""
        added = _match(self._added, media_type)
        if added is not None or media_type.startswith(_DOCUMENT_TYPES):
            return added
        return _match(HANDLERS, media_type)

    def is_page(self, raw: RawPage) -> bool:
        """Whether an answer is read by our own handler of HTML."""
        return self.find(media_type_of(raw)) is convert_html

    def is_document(self, raw: RawPage) -> bool:
        """Whether an answer is for the reader of documents, and no handler was added for it."""
        return is_document(raw) and _match(self._added, media_type_of(raw)) is None

    def convert(self, raw: RawPage) -> Page:
        """The page in an answer. It may take long: call it in a thread.

        Raises:
            UnsupportedContent: nothing reads this kind, or the bytes are not of it.
            Internal: a handler failed.
        """
        media_type = media_type_of(raw)
        handler = self.find(media_type)
        if handler is None:
            raise _refusal(raw, media_type)
        if raw.format == "raw" and (handler is not convert_image or "svg" in media_type):
            handler = convert_text
        try:
            page = handler(raw)
        except ToolError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}"[:200]
            raise Internal(f"Reading {raw.kind} failed: {message}") from error
        if not isinstance(page, Page):
            raise Internal(f"The handler of {raw.kind} gave no document.")
        return page


def _match(handlers: Mapping[str, Handler], media_type: str) -> Handler | None:
    family, _, rest = media_type.partition("/")
    suffix = f"+{rest.rpartition('+')[2]}" if "+" in rest else ""
    return handlers.get(media_type) or handlers.get(suffix) or handlers.get(f"{family}/*")


def _loaded(point: EntryPoint) -> Iterator[tuple[str, Any]]:
    found = point.load()
    yield from found.items() if isinstance(found, Mapping) else [(point.name, found)]


def _refusal(raw: RawPage, media_type: str) -> UnsupportedContent:
    name = kind_name(raw)
    what = f"{raw.kind}, a {name}," if name else f"{raw.kind},"
    if not raw.media_type:
        what = f"a {name}," if name else "a binary file,"
    if media_type.startswith(_DOCUMENT_TYPES):
        return UnsupportedContent(
            f"The page is {what} which the documents reader reads, and no handler.",
            hint="Look for the same content as HTML or plain text.",
            content_type=raw.kind,
        )
    return UnsupportedContent(
        f"The page is {what} which cannot be read as text.",
        hint=f"{READABLE} can be read.",
        content_type=raw.kind,
    )


def is_document(raw: RawPage) -> bool:
    """Whether an answer is a document by its first bytes, or labelled as one."""
    sniffed = kind_of_document(raw.body, media_type=raw.media_type)
    return (sniffed in BINARY_KINDS) or labelled_kind(media_type=raw.media_type) in DOCUMENT_KINDS


async def convert_document(raw: RawPage, ctx: Ctx) -> Page:
    """A document as Markdown, its pages under headings; how many there are as a note.

    Raises:
        UnsupportedContent: it is damaged, encrypted, or not what its label says.
        MissingExtra: its kind needs an optional package.
        TimedOut, TooLarge: it is too large.
    """
    kind = kind_of_document(raw.body, media_type=raw.media_type)
    if kind not in DOCUMENT_KINDS:
        raise UnsupportedContent(
            f"The page is labelled as {raw.kind} and is {NAMES.get(kind, 'something else')}.",
            hint="Use another address of the same content.",
            content_type=raw.kind,
        )
    label = f"{raw.media_type}; charset={raw.charset}" if raw.charset else raw.media_type
    try:
        found = await ctx.use(Documents).read(raw.body, media_type=label, deadline=ctx.deadline)
    except UnsupportedContent as error:
        error.message = f"The page is {raw.kind}. {error.message}"
        raise
    known = found.metadata
    return Page(
        found.markdown,
        kind,
        one_line(found.title, 300),
        str(known.get("encoding", "")),
        _notes(found),
        facts=Facts(
            published=str(known.get("created", "") or known.get("date", "")),
            modified=str(known.get("modified", "")),
            description=str(known.get("subject", "")),
            author=str(known.get("author", "") or known.get("from", "")),
            language=str(known.get("language", ""))[:35],
        ),
    )


def _notes(found: DocumentText) -> list[str]:
    notes = []
    if found.unit:
        notes.append(f"{counted(found.total, found.unit)}, {found.non_empty:,} with text.")
    return [*notes, *filter(None, [found.diagnostic]), *(one_line(w, 300) for w in found.warnings)]


def media_type_of(raw: RawPage) -> str:
    """The media type by which an answer is read: the declared one, unless it cannot be.

    Bytes are looked at where no type or one that says nothing is declared (missing
    counts as plain text unless it looks like more), and where they start like what no
    text does. XML and JSON that is a feed is called one.
    """
    head = raw.body[:SNIFFED_BYTES]
    declared = raw.media_type if "/" in raw.media_type else ""
    picture = picture_of(head)
    if picture is not None and (picture.media_type != "image/svg+xml" or declared != "text/plain"):
        return picture.media_type
    kind = kind_of(head)
    if kind is not None and kind.name in _TYPES and _is_mistaken(declared):
        return _TYPES[kind.name]
    if declared in _SAYS_NOTHING:
        return _guessed(raw, head, kind) if kind is None or _is_wide(raw, head) else declared
    return _refined(raw, declared, head)


def kind_name(raw: RawPage) -> str:
    """What the bytes start like ("ZIP archive"); empty for text and the unknown."""
    kind = kind_of(raw.body[:SNIFFED_BYTES])
    return "" if kind is None or kind.name == "binary file" else kind.name


def _is_mistaken(declared: str) -> bool:
    """Whether a type cannot be right for an archive or a document."""
    return (
        declared in _SAYS_NOTHING or declared.startswith(("text/", "image/")) or "json" in declared
    )


def _is_wide(raw: RawPage, head: bytes) -> bool:
    return charset_of(head[: len(head) // 4 * 4], raw.charset).wide


def _guessed(raw: RawPage, head: bytes, kind: Kind | None) -> str:
    """The type of text that comes without one."""
    if kind is not None and not _is_wide(raw, head):
        return "application/octet-stream"
    text = _head_text(raw, head)
    start = text[_content_start(text) :]
    if _feed_type(start):
        return _feed_type(start)
    if re.match(r"<!doctype\s+html|<html\b", start, re.IGNORECASE):
        return "text/html"
    if text.lstrip("\ufeff \t\r\n").startswith("<?xml"):
        return "application/xml"
    if _HTML.match(start):
        return "text/html"
    if text.lstrip()[:1] in ("{", "["):
        return _json_type(raw, text) or "text/plain"
    return "text/plain"


def _refined(raw: RawPage, declared: str, head: bytes) -> str:
    """Feeds and JSON under a type that is wider than they are."""
    markup = declared == "text/html"
    if markup or declared in ("application/xml", "text/xml") or declared.endswith("+xml"):
        text = _head_text(raw, head)
        start = text[_content_start(text) :]
        feed = _feed_type(start)
        if feed:
            return feed
        if not markup and re.match(r"<!doctype\s+html|<html\b", start, re.IGNORECASE):
            return "application/xhtml+xml"
        if markup and start[:1] in ("{", "["):
            return _json_type(raw, text) or declared
    elif declared in ("application/json", "text/json") and _JSON_FEED.search(_head_text(raw, head)):
        return "application/feed+json"
    return declared


def _head_text(raw: RawPage, head: bytes) -> str:
    return charset_of(head[: len(head) // 4 * 4 or len(head)], raw.charset).decode(head)


def _content_start(text: str) -> int:
    """Where the first element starts, behind declaration, comments and document type."""
    at = 0
    while (passed := _SKIPPED.match(text, at)) is not None and passed.end() > at:
        at = passed.end()
    return at


def _feed_type(start: str) -> str:
    found = _FEED.match(start)
    if found is None:
        return ""
    name, rest = found[1].lower(), found[2].lower()
    if name == "rss":
        return "application/rss+xml"
    if any(space in rest for space in _FEED_SPACES):
        return "application/atom+xml" if name == "feed" else "application/rdf+xml"
    return ""


def _json_type(raw: RawPage, head: str) -> str:
    """JSON that is valid as a whole."""
    try:
        json.loads(charset_of(raw.body, raw.charset).decode(raw.body))
    except (ValueError, RecursionError):
        return ""
    return "application/feed+json" if _JSON_FEED.search(head) else "application/json"
