"""`Response`: what a fetch gave, whole and plain."""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.url import Headers


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, decoded.

    `url` is the final one, with its fragment. `truncated` says that `body` stops
    before the end: at the cap, where the caller asked for that, or because the
    coded data broke off. `elapsed` is in seconds, `wire_bytes` the size of the body
    before decoding.
    """

    url: str
    status: int
    headers: Headers
    body: bytes
    redirects: tuple[Redirect, ...] = ()
    http_version: str = "1.1"
    elapsed: float = 0.0
    wire_bytes: int = 0
    truncated: bool = False

    @property
    def phrase(self) -> str:
        """What the status says, as in `Not Found`; empty for a number that has no name."""
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return ""

    @property
    def media_type(self) -> str:
        """The type of the body, as in `text/html`; empty where none is given."""
        return self.headers.get("content-type").split(";", 1)[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the headers name, in lower case; empty where none."""
        message = Message()
        message["content-type"] = self.headers.get("content-type")
        return message.get_content_charset("")

    @property
    def retry_after(self) -> float | None:
        """The seconds that a Retry-After header asks for, as a number or a date."""
        text = self.headers.get("retry-after").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            return max(0.0, round(parsedate_to_datetime(text).timestamp() - time.time(), 0))
        except (ValueError, TypeError, OverflowError):
            return None
