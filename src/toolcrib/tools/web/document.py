"""What a handler of your own imports; docs/web.md shows one."""

from __future__ import annotations

from toolcrib.documents.markup.visible_text import Format
from toolcrib.web.conversion.document import (
    Document,
    Facts,
    Handler,
    Link,
    Picture,
    Raw,
    decode,
)

__all__ = ["Document", "Facts", "Format", "Handler", "Link", "Picture", "Raw", "decode"]
