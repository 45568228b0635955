"""Text files loaded whole to be changed, and new text checked for placeholder lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.core.errors import NotFound, TooLarge, UnsupportedContent
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.paths import SafePath

MAX_TEXT_BYTES = 10_000_000
"""Bytes of a file that is changed or written, before and after."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as it was read: its text, and how it looked. Both are empty for a new one."""

    path: SafePath
    faithful: FaithfulText
    fingerprint: str
    size: int = 0

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return bool(self.fingerprint)

    @property
    def text(self) -> str:
        """Its text; each line end is a line feed."""
        return self.faithful.text


NOT_TEXT = (
    "This works on text alone: read_document gives the text of documents, and a program, as in "
    "run_python, changes other files."
)


def load(path: SafePath) -> Loaded:
    """Read a text file. It blocks.

    Raises:
        UnsupportedContent: it is not text.
        TooLarge: it has more than MAX_BYTES.
        BadInput, NotFound, PathDenied: as opening it does.
    """
    with path.open_read() as handle:
        data = handle.file.read(MAX_TEXT_BYTES + 1)
        fingerprint = handle.fingerprint
        size = max(handle.size, len(data))
    kind = kind_of(data[:SAMPLE_BYTES])
    if kind is not None:
        raise UnsupportedContent(
            f"{path.display} is not text: {kind.name}, {size:,} bytes.",
            hint=NOT_TEXT,
        )
    if len(data) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"{path.display} has {size:,} bytes; files up to {MAX_TEXT_BYTES:,} are changed.",
            hint="Tell the user that this file has to be changed with another program.",
        )
    return Loaded(path, FaithfulText.of(data, path.display), fingerprint, size)


def load_or_new(path: SafePath) -> Loaded:
    """As `load`; an empty text where there is no file."""
    try:
        return load(path)
    except NotFound:
        return Loaded(path, FaithfulText.new(), "")


def need_size(path: SafePath, data: bytes) -> bytes:
    """The bytes of a file that is to be written.

    Raises:
        TooLarge: there are more than MAX_BYTES.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"{path.display} would have {len(data):,} bytes, more than {MAX_TEXT_BYTES:,}.",
            hint="Write less, or in several files.",
        )
    return data


# Lines that stand for text which a model did not write out: "... rest of file unchanged".

MAX_PLACEHOLDER_CHARS = 120
_DOTS = ("...", "\u2026")
_WORDS = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[\W_]*(?:[A-Za-z]+[ ,'/]*){2,12}[\W_]*")
_LEFT_OUT = frozenset(
    [
        "unchanged",
        "existing",
        "rest",
        "remaining",
        "remainder",
        "omitted",
        "same",
        "previous",
        "snip",
        "truncated",
    ]
)
_OF_WHAT = frozenset(
    [
        "code",
        "file",
        "content",
        "contents",
        "lines",
        "function",
        "functions",
        "method",
        "methods",
        "class",
        "implementation",
        "imports",
        "unchanged",
        "same",
        "before",
        "above",
        "here",
        "stays",
        "stay",
        "remains",
        "remain",
        "document",
        "text",
    ]
)


def placeholder(new: str, before: str) -> str:
    """The first line of a text that stands for what was left out; "" for none.

    Args:
        new: what shall be written.
        before: what is there now: a line of it is no placeholder.
    """
    if not any(dots in new for dots in _DOTS):
        return ""
    for line in new.split("\n"):
        if (
            len(line) <= MAX_PLACEHOLDER_CHARS
            and _stands_for_more(line)
            and line.strip() not in before
        ):
            return line.strip()
    return ""


def _stands_for_more(line: str) -> bool:
    text = line.lower()
    if not any(dots in text for dots in _DOTS) or not _SENTENCE.fullmatch(text):
        return False
    words = set(_WORDS.findall(text))
    left_out = words & _LEFT_OUT
    return bool(left_out) and len((words & _OF_WHAT) | left_out) > 1
