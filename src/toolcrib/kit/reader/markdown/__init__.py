"""The chosen part of a page as Markdown and plain text.

The tree is first brought into a shape that turbohtml's converter writes well (formulas, code,
pictures, notes, tables), then converted, then freed of escapes that change nothing.
"""

from __future__ import annotations

from toolcrib.kit.reader.markdown.contents import Heading, Link
from toolcrib.kit.reader.markdown.writing import Written, to_markdown, to_text, write

__all__ = ["Heading", "Link", "Written", "to_markdown", "to_text", "write"]
