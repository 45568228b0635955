"""The handlers of kinds of content: one small file each, and the service that chooses.

A program adds one with `box.use(Handlers).add("application/x-thing", convert)`. Packages
add theirs with an entry point of the group `toolcrib.handlers`: either its name is the
kind and it names the handler, or it names a mapping of kinds to handlers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Self

from toolcrib.core.errors import Internal, ToolError, UnsupportedContent
from toolcrib.core.services import Services
from toolcrib.web.conversion.content_type import kind_name, media_type_of
from toolcrib.web.conversion.document import Document, Handler, Raw
from toolcrib.web.handlers import csv, documents, feed, html, image, json, text, xml

GROUP = "toolcrib.handlers"
READABLE = "HTML, PDF, office files, XML, JSON, feeds, CSV, images and any plain text"
HANDLERS: Mapping[str, Handler] = {
    "text/html": html.convert,
    "application/xhtml+xml": html.convert,
    "application/rss+xml": feed.convert,
    "application/atom+xml": feed.convert,
    "application/rdf+xml": feed.convert,
    "application/feed+json": feed.convert,
    "application/json": json.convert,
    "text/json": json.convert,
    "+json": json.convert,
    "application/xml": xml.convert,
    "text/xml": xml.convert,
    "application/csv": csv.convert,
    "text/csv": csv.convert,
    "text/comma-separated-values": csv.convert,
    "text/tab-separated-values": csv.convert,
    "text/tsv": csv.convert,
    "image/*": image.convert,
    "image/svg+xml": image.convert,
    "+xml": xml.convert,
    "application/ecmascript": text.convert,
    "application/javascript": text.convert,
    "application/json-seq": text.convert,
    "application/jsonl": text.convert,
    "application/jsonlines": text.convert,
    "application/markdown": text.convert,
    "application/sql": text.convert,
    "application/toml": text.convert,
    "application/typescript": text.convert,
    "application/x-httpd-php": text.convert,
    "application/x-javascript": text.convert,
    "application/x-jsonlines": text.convert,
    "application/x-ndjson": text.convert,
    "application/x-sh": text.convert,
    "application/x-subrip": text.convert,
    "application/x-tex": text.convert,
    "application/x-www-form-urlencoded": text.convert,
    "application/x-yaml": text.convert,
    "application/xml-dtd": text.convert,
    "application/yaml": text.convert,
    "text/*": text.convert,
}
"""By media type, by its suffix ("+json"), or by its family ("text/*")."""
_DOCUMENTS = (
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


class Handlers:
    """A service: which handler reads what. Handlers that were added come before our own."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._added: dict[str, Handler] = {}
        for point in entry_points(group=GROUP):
            try:
                for kind, handler in _loaded(point):
                    self.add(kind, handler)
            except Exception as error:  # noqa: BLE001 - foreign code, and others go on
                told = f"{type(error).__name__}: {error}"[:300]
                self.warnings.append(f"The handlers of '{point.name}' cannot be used: {told}")

    @classmethod
    def open(cls, services: Services) -> Self:  # noqa: ARG003 - what a service is opened with
        """Those that are installed."""
        return cls()

    def add(self, kind: str, handler: Handler) -> None:
        """Let a handler read a kind of content, in place of what else would.

        Args:
            kind: a media type, a suffix as `+json`, or a family as `text/*`.
            handler: takes a `Raw` and gives a `Document`; it runs in a thread.

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
        if added is not None or media_type.startswith(_DOCUMENTS):
            return added
        return _match(HANDLERS, media_type)

    def is_page(self, raw: Raw) -> bool:
        """Whether an answer is read by our own handler of HTML."""
        return self.find(media_type_of(raw)) is html.convert

    def is_document(self, raw: Raw) -> bool:
        """Whether an answer is for the reader of documents, and no handler was added for it."""
        return documents.is_document(raw) and _match(self._added, media_type_of(raw)) is None

    def convert(self, raw: Raw) -> Document:
        """The document in an answer. It may take long: call it in a thread.

        Raises:
            UnsupportedContent: nothing reads this kind, or the bytes are not of it.
            Internal: a handler failed.
        """
        media_type = media_type_of(raw)
        handler = self.find(media_type)
        if handler is None:
            raise _refusal(raw, media_type)
        if raw.format == "raw" and (handler is not image.convert or "svg" in media_type):
            handler = text.convert
        try:
            document = handler(raw)
        except ToolError:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}"[:200]
            raise Internal(f"Reading {raw.kind} failed: {told}") from error
        if not isinstance(document, Document):
            raise Internal(f"The handler of {raw.kind} gave no document.")
        return document


def _match(handlers: Mapping[str, Handler], media_type: str) -> Handler | None:
    family, _, rest = media_type.partition("/")
    suffix = f"+{rest.rpartition('+')[2]}" if "+" in rest else ""
    return handlers.get(media_type) or handlers.get(suffix) or handlers.get(f"{family}/*")


def _loaded(point: EntryPoint) -> Iterator[tuple[str, Any]]:
    found = point.load()
    yield from found.items() if isinstance(found, Mapping) else [(point.name, found)]


def _refusal(raw: Raw, media_type: str) -> UnsupportedContent:
    name = kind_name(raw)
    what = f"{raw.kind}, a {name}," if name else f"{raw.kind},"
    if not raw.media_type:
        what = f"a {name}," if name else "a binary file,"
    if media_type.startswith(_DOCUMENTS):
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
