"""PDF, office files, books, mail and notebooks: read by the reader of documents."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.documents import Documents
from toolcrib.documents.kinds import BINARY, NAMES, kind_of_document, labelled_kind
from toolcrib.documents.text import DocumentText
from toolcrib.files.content.sizes import counted
from toolcrib.text.cleaner import one_line
from toolcrib.web.conversion.document import Document, Facts, Raw

KINDS = BINARY | {"eml", "ipynb"}


def is_document(raw: Raw) -> bool:
    """Whether an answer is a document by its first bytes, or labelled as one."""
    sniffed = kind_of_document(raw.body, media_type=raw.media_type)
    return (sniffed in BINARY) or labelled_kind(media_type=raw.media_type) in KINDS


async def convert(raw: Raw, ctx: Ctx) -> Document:
    """A document as Markdown, its pages under headings; how many there are as a note.

    Raises:
        UnsupportedContent: it is damaged, encrypted, or not what its label says.
        MissingExtra: its kind needs an optional package.
        TimedOut, TooLarge: it is too large.
    """
    kind = kind_of_document(raw.body, media_type=raw.media_type)
    if kind not in KINDS:
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
    return Document(
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
