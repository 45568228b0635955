"""A page, and what a handler of one kind of content makes it of.

Somebody's own handler imports this: it takes a `RawPage` and gives a `Page`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.html_text import Format
from toolcrib.files.content.kinds import SAMPLE_BYTES, Encoding, Kind, charset_of, kind_of

if TYPE_CHECKING:  # The process that converts pages needs neither.
    from toolcrib.net.egress.redirects import Redirect
    from toolcrib.net.page_bodies import PageBody

MAX_KIND_CHARS = 80
_KIND = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_MARKUP = re.compile(r"text/html|application/xhtml\+xml")
MAX_PAGE_CHARS = 2_000_000
"""Characters that a page keeps."""
CUT_MARK = "\n(cut here)"
"""The end of navigation that was too long."""


@dataclass(frozen=True, slots=True)
class RawPage:
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
        known = len(self.media_type) <= MAX_KIND_CHARS and _KIND.fullmatch(self.media_type)
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

    `modified` and `published` are dates in ISO 8601 where they can be read; `type` is the Open
    Graph type ("article").
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
        readable: whether main content was distinguished from what stands around it.
        reason: why it is all of the page; empty where that was asked for, or it is not.
        page_type: article, collection, documentation, forum, listing, product or service;
            empty where nothing was judged.
        words: of the main content.
        left: words beside it, without menus.
        running: words of running text beside it; 0 where they are few.
    """

    method: Literal["main", "data", "whole"] = "whole"
    readable: bool = False
    reason: str = ""
    page_type: str = ""
    words: int = 0
    left: int = 0
    running: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. A handler gives the fields up to `removed`; the reader adds the others.

    Attributes:
        text: what is read of it.
        kind: "html", "json", "xml", "feed", "csv", "image" or "text", or what a handler of
            another package says.
        notes: lines that a reader should know of.
        hidden: how many invisible parts were left out.
        navigation: the text of menus and the like, which is not in `text`.
        image: the media type under which the body itself can be shown as a picture; empty
            where it is none that a model can see.
        choice: what of a page of HTML the text is.
        forward: the address that it leads browsers to by itself.
        removed: invisible characters by kind that are gone from it.
        url: the final one.
        size: bytes of the body.
        fetched_at: UTC in seconds since 1970.
        picture: the body, where it can be shown.
        unrendered: scripts would make the text.
        rendered: a browser read it, with its scripts.
        whole: all of it was asked for.
        cut: the server's answer went on behind what was read.
        stale: an old copy, because reading it anew failed.
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
    forward: str = ""
    removed: Mapping[str, int] = field(default_factory=dict)
    url: str = ""
    status: int = 0
    content_type: str = ""
    size: int = 0
    fetched_at: float = 0.0
    redirects: list[Redirect] = field(default_factory=list)
    picture: bytes = field(default=b"", repr=False)
    unrendered: bool = False
    rendered: bool = False
    whole: bool = False
    cut: bool = False
    cached: bool = False
    stale: bool = False
    body: PageBody | None = field(default=None, repr=False, compare=False)

    @property
    def left(self) -> int:
        """Words of the page that stand beside its text, without menus."""
        return self.choice.left if self.choice else 0


Handler: TypeAlias = Callable[[RawPage], Page]
"""Converts an answer. It may take long, so it runs in a thread."""


def decode(raw: RawPage) -> tuple[str, str]:
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


def _is_tolerable(raw: RawPage, encoding: Encoding, kind: Kind) -> bool:
    """Whether the odd control character stands in what is text by all other signs."""
    if kind.name != "binary file":
        return False
    believed = encoding.label == raw.charset and not encoding.guessed
    head = raw.body[:SAMPLE_BYTES]
    few = sum(head.count(code) for code in (*range(9), *range(14, 32))) * 50 < len(head)
    return few and (believed or _MARKUP.fullmatch(raw.media_type) is not None)


def packed(page: Page) -> tuple[dict[str, Any], bytes]:
    """What a handler says of a page as JSON values, and its text, for another process."""
    known = asdict(page)
    names = list(known)
    values = {name: known[name] for name in names[1 : names.index("url")]}
    return values, page.text.encode("utf-8", "surrogatepass")


def unpacked(values: Mapping[str, Any], text: bytes) -> Page:
    """The page that was packed."""
    fields_given = dict(values)
    fields_given["links"] = [Link(**link) for link in fields_given["links"]]
    fields_given["pictures"] = [Picture(**picture) for picture in fields_given["pictures"]]
    fields_given["facts"] = Facts(**fields_given["facts"])
    fields_given["choice"] = Choice(**fields_given["choice"]) if fields_given["choice"] else None
    return Page(text.decode("utf-8", "surrogatepass"), **fields_given)
