"""From the bytes of an answer to a document: what handlers take and give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.markup.visible_text import Format
from toolcrib.files.content.charset import charset_of
from toolcrib.files.content.encodings import Encoding
from toolcrib.files.content.kinds import SNIFFED, Kind, kind_of

MAX_KIND = 80
_KIND = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_MARKUP = re.compile(r"text/html|application/xhtml\+xml")
MAX_TEXT = 2_000_000
"""Characters that a document keeps."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is to be converted. `charset` is what its headers say, or empty.

    `whole` asks for all of a page, where a handler would choose its main content.
    """

    url: str
    media_type: str
    charset: str
    body: bytes
    format: Format = "markdown"
    whole: bool = False

    @property
    def kind(self) -> str:
        """The media type for a message: a server could write a sentence in its place."""
        if not self.media_type:
            return "nothing"
        known = len(self.media_type) <= MAX_KIND and _KIND.fullmatch(self.media_type)
        return self.media_type if known else "an unknown type"


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page: its words on one line and its absolute URL.

    `navigation` says that it stands in a menu, not in the content.
    """

    text: str
    url: str
    navigation: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a page, in the order of the page: absolute URL, `alt` and `title` texts."""

    url: str
    alt: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page says of itself; empty where it does not.

    `modified` and `published` are dates as they stand there; `type` is the Open Graph
    type ("article").
    """

    published: str = ""
    modified: str = ""
    type: str = ""
    description: str = ""
    site: str = ""
    author: str = ""
    language: str = ""

    @property
    def date(self) -> str:
        """The date that says how old the text is."""
        return self.modified or self.published


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a page its text is.

    Attributes:
        method: "main" for its main content, "data" for what its scripts or its head tell
            of that, "whole" for all of it.
        readable: whether main content was told apart from what stands around it.
        reason: why it is all of the page; empty where that was asked for, or it is not.
        page_type: article, collection, documentation, forum, listing, product or service;
            empty where nothing was judged.
        words: of the main content.
        left: words beside it, without menus.
    """

    method: Literal["main", "data", "whole"] = "whole"
    readable: bool = False
    reason: str = ""
    page_type: str = ""
    words: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A converted answer.

    `kind` is "html", "json", "xml", "feed", "csv", "image" or "text", or what a handler
    of another package says; `notes` are lines that a reader should know of; `hidden`
    counts the invisible parts that were left out; `navigation` is the text of menus and
    the like, which is not in `text`. `image` is the media type under which the body
    itself can be shown as a picture; empty where it is none that a model can see.
    `choice` says what of a page of HTML the text is; `removed` counts by kind invisible
    characters that are gone from it already.
    """

    text: str
    kind: str
    title: str = ""
    encoding: str = ""
    notes: list[str] = field(default_factory=list)
    hidden: int = 0
    links: list[Link] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    facts: Facts = Facts()
    navigation: str = ""
    image: str = ""
    choice: Choice | None = None
    removed: Mapping[str, int] = field(default_factory=dict)


Handler: TypeAlias = Callable[[Raw], Document]
"""Converts an answer. It may take long, so it runs in a thread."""


def decode(raw: Raw) -> tuple[str, str]:
    """The text of an answer and the encoding that it has, as browsers name it.

    Raises:
        UnsupportedContent: the bytes are no text.
    """
    encoding = charset_of(raw.body, raw.charset)
    kind = None if encoding.wide else kind_of(raw.body)
    if kind is not None and not _is_tolerable(raw, encoding, kind):
        raise UnsupportedContent(
            f"The page is labelled as {raw.kind} and is a {kind.name}.",
            hint=f"Use an address that gives text; fetch_url cannot read a {kind.name}.",
            content_type=raw.kind,
        )
    return encoding.decode(raw.body), encoding.label


def _is_tolerable(raw: Raw, encoding: Encoding, kind: Kind) -> bool:
    """Whether the odd control character stands in what is text by all other signs."""
    if kind.name != "binary file":
        return False
    believed = encoding.label == raw.charset and not encoding.guessed
    head = raw.body[:SNIFFED]
    few = sum(head.count(code) for code in (*range(9), *range(14, 32))) * 50 < len(head)
    return few and (believed or _MARKUP.fullmatch(raw.media_type) is not None)
