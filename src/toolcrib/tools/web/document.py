"""From the bytes of an answer to a document: what handlers take and give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolcrib.core.errors import UnsupportedContent
from toolcrib.kit.content.encoding import detect
from toolcrib.kit.content.kinds import kind_of

Format: TypeAlias = Literal["markdown", "text", "raw"]
MAX_KIND = 80
_KIND = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
MAX_TEXT = 2_000_000
"""Characters that a document keeps."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is to be converted. `charset` is what its headers say, or empty."""

    url: str
    media_type: str
    charset: str
    body: bytes
    format: Format = "markdown"

    @property
    def kind(self) -> str:
        """The media type for a message: a server could write a sentence in its place."""
        if not self.media_type:
            return "nothing"
        known = len(self.media_type) <= MAX_KIND and _KIND.fullmatch(self.media_type)
        return self.media_type if known else "an unknown type"


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
    """The text of an answer and the encoding that it has, as browsers name it.

    Raises:
        UnsupportedContent: the bytes are no text.
    """
    encoding = detect(raw.body, complete=True, declared=raw.charset, lenient=True)
    believed = encoding.label == raw.charset and not encoding.guessed
    kind = None if believed else kind_of(raw.body)
    if kind is not None:
        raise UnsupportedContent(
            f"The page is labelled as {raw.kind} and is a {kind.name}.",
            content_type=raw.kind,
        )
    return encoding.decode(raw.body), encoding.label
