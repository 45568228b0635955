"""From the bytes of an answer to a document: what handlers take and give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolcrib.core.errors import UnsupportedContent
from toolcrib.kit.content.kinds import kind_of

Format: TypeAlias = Literal["markdown", "text", "raw"]
MAX_TEXT = 2_000_000
"""Characters that a document keeps."""

_SINGLE_BYTE_LATIN = {"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "us-ascii"}
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is to be converted. `charset` is what its headers say, or empty."""

    url: str
    media_type: str
    charset: str
    body: bytes
    format: Format = "markdown"


@dataclass(frozen=True, slots=True)
class Document:
    """A converted answer.

    `kind` is "html", "json" or "text"; `notes` are lines that a reader should know of;
    `hidden` counts the invisible parts that were left out.
    """

    text: str
    kind: str
    title: str = ""
    encoding: str = ""
    notes: list[str] = field(default_factory=list)
    hidden: int = 0


Handler: TypeAlias = Callable[[Raw], Document]
"""Converts an answer. It may take long, so it runs in a thread."""


def decode(raw: Raw) -> tuple[str, str]:
    """The text of an answer and the encoding that it has.

    In this order: a byte order mark, the charset of the headers, valid UTF-8, what the
    page says of itself, what the bytes look like. A charset that the bytes contradict
    is passed over.

    Raises:
        UnsupportedContent: the bytes are no text.
    """
    body = raw.body
    for mark, name in _MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name)
    if raw.charset and not _is_contradicted(raw.charset, body):
        try:
            return _decoded(body, raw.charset)
        except LookupError:
            pass
    kind = kind_of(body)
    if kind is not None:
        raise UnsupportedContent(
            f"{raw.url} is labelled {raw.media_type or 'as nothing'} and is a {kind.name}.",
            content_type=raw.media_type,
        )
    if b"\x1b" not in body and _is_utf8(body):
        return body.decode("utf-8"), "utf-8"
    from turbohtml.detect import detect

    return _decoded(body, detect(body).encoding or "utf-8")


def _decoded(body: bytes, label: str) -> tuple[str, str]:
    """Decoded as browsers do, with U+FFFD for what is not valid.

    Raises:
        LookupError: no such encoding.
    """
    import turbohtml.detect  # noqa: F401 - registers the codecs of the standard

    return body.decode(f"whatwg-{label}"), label.lower()


def _is_contradicted(charset: str, body: bytes) -> bool:
    """Whether the headers name a charset that the bytes cannot be in."""
    if charset in ("utf-8", "utf8"):
        return not _is_utf8(body)
    return charset in _SINGLE_BYTE_LATIN and not body.isascii() and _is_utf8(body)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
