"""What a handler of your own imports; docs/web.md shows one."""

from __future__ import annotations

from toolcrib.kit.markup.visible import Format
from toolcrib.tools.web.converting.document import (
    Document,
    Facts,
    Handler,
    Link,
    Picture,
    Raw,
    decode,
)

__all__ = ["Document", "Facts", "Format", "Handler", "Link", "Picture", "Raw", "decode"]
