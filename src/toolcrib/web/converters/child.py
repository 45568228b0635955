"""HTML to pages in a process of its own: another interpreter, the worker's, runs this file."""

from __future__ import annotations

from typing import Any

from toolcrib.web.converters import html
from toolcrib.web.page import RawPage, packed

_WORDS = "<title>t</title><nav><a href=/a>a</a></nav><main><h1>h</h1><p>" + "Some words. " * 40


def prepare() -> None:
    """Load what is loaded late: after this no file can be opened."""
    for form in ("markdown", "text"):
        for whole in (False, True):
            html.convert_html(
                RawPage("http://a.example/", "text/html", "", _WORDS.encode(), form, whole)
            )


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What `html.convert` makes of a page."""
    return packed(html.convert_html(RawPage(body=data, **request)))
