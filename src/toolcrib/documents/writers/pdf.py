"""Markdown as PDF, by typst. Another process, a child, runs this module.

The text goes to a fixed template as data, so nothing in it is markup. The file is PDF/A-2b, whose
rules have typst refuse what no font on the machine can show, where it would leave a gap else.
"""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.core.errors import Unavailable
from toolcrib.core.package_data import package_text
from toolcrib.documents.writers.blocks import (
    MarkdownBlock,
    blocks_of,
    missing_pictures,
    sent,
    title_of,
)

TEMPLATE = package_text("documents/writers/page.typ").encode()
FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts",
         "C:/Windows/Fonts")  # fmt: skip
MAX_MISSING = 12
"""Characters without a font that are replaced; with more, or many of them, none is made."""
MAX_MISSING_SHARE = 0.01
REPLACEMENT = "\u25a1"
_MISSING = re.compile(r'the text `"(.+?)"` could not be displayed', re.DOTALL)


def prepare() -> None:
    """Load the library and the list of fonts, while files can be opened."""
    create({"title": ""}, b"# one\n\n|a|\n|-|\n|b|")


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The document; `request` has `title`, and `own_fonts` where no font file can be opened.

    Raises:
        Unavailable: no font on the machine has the characters of the text.
    """
    import typst

    text, pictures = sent(request, data)
    original = text
    missing: list[str] = []
    unread: list[str] = []
    while True:
        blocks = blocks_of(text, pictures)
        inputs = _inputs(blocks, request["title"])
        try:
            made = typst.compile(
                TEMPLATE,
                sys_inputs=inputs,
                pdf_standards=["a-2b"],
                ignore_system_fonts=bool(request.get("own_fonts")),
            )
        except typst.TypstError as error:
            found = _MISSING.search(str(error))
            if found is None and pictures:  # it does not tell which of them it cannot read
                pictures, unread = {}, ["The pictures are left out: one of them cannot be read."]
                continue
            if found is None:
                raise
            new = sorted(set(_unescaped(found[1])) - set(missing))
            missing += new
            count = sum(original.count(character) for character in missing)
            if not new or len(missing) > MAX_MISSING or count > MAX_MISSING_SHARE * len(text) + 3:
                raise _no_font(missing) from None
            for character in new:
                text = text.replace(character, REPLACEMENT)
            continue
        listed = " ".join(missing)
        notes = [f"No font here has {listed}: shown as {REPLACEMENT}."] if missing else []
        absent = [] if unread else missing_pictures(blocks)
        return {"notes": [*notes, *unread], "missing": absent}, bytes(made)


def _inputs(blocks: list[MarkdownBlock], title: str) -> dict[str, str]:
    """What the template is given. Pictures are numbers there: inputs are texts alone."""
    pictures: list[list[int]] = []

    def number(picture: bytes) -> int | None:
        if not picture:
            return None
        pictures.append(list(picture))
        return len(pictures) - 1

    doc = json.dumps([block.to_json() for block in blocks], default=number)
    return {"doc": doc, "pictures": json.dumps(pictures), "title": title or title_of(blocks)}


def _unescaped(text: str) -> str:
    """A text in which some characters were written by their numbers in braces."""
    return re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda match: chr(int(match[1], 16)), text)


def _no_font(missing: list[str]) -> Unavailable:
    return Unavailable(
        f"No font on this machine can show {' '.join(missing[:5])}.",
        hint="Install one (Debian: fonts-noto-cjk for Chinese and Japanese), or make a DOCX or an "
        "HTML page: who opens those brings the fonts.",
    )
