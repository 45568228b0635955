"""What a web page says: its main content as text and Markdown, and what it says of itself."""

from __future__ import annotations

from toolcrib.kit.reader.extraction import Extraction, extract
from toolcrib.kit.reader.markdown import Heading, Link

__all__ = ["Extraction", "Heading", "Link", "extract"]
