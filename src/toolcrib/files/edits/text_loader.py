"""Text files loaded whole to be changed."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.core.errors import BadInput, NotFound, TooLarge, UnsupportedContent
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.outline import ending_of
from toolcrib.files.paths import SafePath

MAX_TEXT_BYTES = 10_000_000
"""Bytes of a file that is changed or written, before and after."""
NEVER_TEXT = frozenset(
    (
        *("pdf", "docx", "xlsx", "pptx", "doc", "xls", "ppt", "odt", "ods", "odp", "epub"),
        *("zip", "gz", "tgz", "xz", "7z", "rar", "png", "jpg", "jpeg", "gif", "webp"),
    )
)
"""Endings of files that no program opens when they hold text."""


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
    """As `load`; an empty text where there is no file.

    Raises:
        BadInput: no new file of this name can be text.
    """
    try:
        return load(path)
    except NotFound:
        refuse_no_text(path)
        return Loaded(path, FaithfulText.new(), "")


def refuse_no_text(path: SafePath) -> None:
    """Refuse the name of a new file that no program would open, since it holds text.

    Raises:
        BadInput: it is such a name.
    """
    if (ending := ending_of(path.name)) in NEVER_TEXT:
        raise BadInput(
            f"Text makes no .{ending} file: no program would open {path.display}.",
            hint="create_document makes documents and workbooks from Markdown, a program, as in "
            "run_python, other files. For text use another ending.",
        )


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
