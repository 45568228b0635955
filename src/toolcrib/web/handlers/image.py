"""Images: what their first bytes say, and the words of a drawing."""

from __future__ import annotations

from toolcrib.core.errors import UnsupportedContent
from toolcrib.files.content.image_formats import SHOWN, PictureHead, picture_of
from toolcrib.files.content.kinds import kind_of
from toolcrib.text.cleaner import one_line
from toolcrib.web.conversion.document import Document, Raw, decode

MAX_WORDS = 20_000
"""Characters that are kept of the texts of a drawing."""


def convert(raw: Raw) -> Document:
    """Format, size in pixels and bytes of an image; of SVG also its texts.

    The first bytes decide on the format, whatever the headers say. `image` of the
    document says that the body can be shown as it is.

    Raises:
        UnsupportedContent: the bytes are no image of a known format.
    """
    head = picture_of(raw.body)
    if head is None:
        kind = kind_of(raw.body)
        raise UnsupportedContent(
            f"The page is labelled as {raw.kind} and is {_named(kind.name if kind else 'text')}.",
            hint="PNG, JPEG, GIF, WebP, BMP, TIFF, AVIF and SVG images are known.",
            content_type=raw.kind,
        )
    facts = _facts(head, raw)
    notes = []
    if raw.media_type not in ("", "image/jpg", head.media_type):
        notes.append(f"It is labelled as {raw.kind}.")
    if head.media_type != "image/svg+xml":
        shown = head.media_type if head.media_type in SHOWN else ""
        return Document(facts, "image", notes=notes, image=shown)
    source, encoding = decode(raw)
    title, words = _words(source)
    return Document(f"{facts}\n\n{words}".strip(), "image", title, encoding, notes)


def _named(what: str) -> str:
    return what if what == "text" else f"a {what}"


def _facts(head: PictureHead, raw: Raw) -> str:
    size = f"{head.width} x {head.height} pixels, " if head.width and head.height else ""
    return f"{head.name}, {size}{len(raw.body):,} bytes"


def _words(source: str) -> tuple[str, str]:
    """The title of a drawing and its texts, one a line."""
    from turbohtml import parse

    tree = parse(source, positions=False)
    tree.remove("script, style, foreignObject script")
    found = [one_line(part.text, 500) for part in tree.select("title, desc, text")[:2_000]]
    title = tree.select_one("title")
    lines = list(dict.fromkeys(filter(None, found)))
    return one_line(title.text, 300) if title else "", "\n".join(lines)[:MAX_WORDS]
