"""The handler of HTML in a process of its own: what `execution.worker` runs there."""

from __future__ import annotations

from typing import Any

from toolcrib.web.conversion.document import Raw
from toolcrib.web.conversion.serialization import packed
from toolcrib.web.handlers import html

_WORDS = "<title>t</title><nav><a href=/a>a</a></nav><main><h1>h</h1><p>" + "Some words. " * 40


def prepare() -> None:
    """Load what is loaded late: after this no file can be opened."""
    for form in ("markdown", "text"):
        for whole in (False, True):
            html.convert(Raw("http://a.example/", "text/html", "", _WORDS.encode(), form, whole))


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What `html.convert` makes of a page."""
    return packed(html.convert(Raw(body=data, **request)))
