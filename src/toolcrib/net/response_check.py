"""What the status and the face of an answer mean: fine, slow down, prove you are human."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.core.errors import ChallengePage, HttpStatus, RateLimited
from toolcrib.core.package_data import package_table
from toolcrib.net.egress.response import Response

LOOK = 65_536

# A title that only a challenge has.
_TITLES = re.compile(
    rb"<title[^>]*>\s*(?:"
    rb"(?P<cloudflare>just a moment|attention required! \| cloudflare"
    rb"|checking your browser before accessing)"
    rb"|(?P<perimeterx>access to this page has been denied)"
    rb"|(?P<anubis>making sure you(?:'|&#39;|&#x27;|\xe2\x80\x99)re not a bot)"
    rb"|(?P<vercel>vercel security checkpoint)"
    rb"|(?P<sucuri>sucuri website firewall)"
    rb"|(?P<captcha>are you a (?:human|robot)\??|robot (?:check|challenge)|verify you are human"
    rb"|human verification|(?:please )?complete the (?:captcha|security check)|captcha\s*</title)"
    rb"|(?P<ddos_guard>ddos-guard))",
    re.IGNORECASE,
)
_TABLE: dict[str, Any] = package_table("net/challenges.toml")
_SCRIPTS, _MARKS = (
    [(mark.encode(), str(kind)) for mark, kind in _TABLE[part].items()]
    for part in ("scripts", "marks")
)
_HEADERS: list[dict[str, Any]] = _TABLE["header"]
_LOADS = re.compile(rb"<(?:script|iframe)[^>]{0,300}(?:captcha-delivery\.com|_incapsula_resource)")
SMALL = 40_000
"""Bytes up to which a page is taken for a challenge because of its scripts."""
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
_REFUSED = frozenset({202, 401, 403, 405, 406, 418, 429, 503})
_HINTS = {
    401: "It needs a login.",
    403: "The server refuses this request; another source may have the same.",
    404: "Check the address, or search for the page.",
    410: "The page was removed; search for another copy.",
}


def check(response: Response, who: str) -> None:
    """Pass a good answer.

    Args:
        response: the answer.
        who: the name of whoever answered, for the message.

    Raises:
        ChallengePage: proof of a human is wanted; `details["kind"]` says by which guard.
        RateLimited: status 429.
        HttpStatus: any other status from 400.
    """
    kind = challenge_of(response)
    if kind:
        raise ChallengePage(
            f"{who} wants proof of a human instead of answering ({kind}).",
            hint="Use another source, or try again later.",
            kind=kind,
            status=response.status,
        )
    if response.status < 400:
        return
    after = response.retry_after
    if response.status == 429:
        wait = f" for {after:g} s" if after else ""
        raise RateLimited(
            f"{who} asks to slow down{wait} (HTTP 429).",
            hint=f"Wait{wait or ' a minute'} before asking there again, or use another source.",
            status=429,
            retry_after=after,
        )
    raise HttpStatus(
        f"{who} answered with HTTP {response.status} {response.phrase}".rstrip() + ".",
        hint=_HINTS.get(response.status) or _hint(response),
        status=response.status,
        retry_after=after,
    )


def challenge_of(response: Response) -> str:
    """The guard that answered instead of the page; empty for an ordinary answer."""
    for header in _HEADERS:
        if response.headers.get(header["name"]).lower() in header["values"]:
            return str(header["kind"])
    face = response.body[:LOOK].lower()
    refused = response.status in _REFUSED
    kind = ""
    if response.media_type in _HTML:
        title = _TITLES.search(face) if b"<title" in face else None
        kind = (title.lastgroup or "") if title else ""
        if not kind and len(face) <= SMALL:
            kind = _of_scripts(face)
    if not kind and refused and response.media_type in (*_HTML, "application/json"):
        kind = next((kind for mark, kind in _MARKS if mark in face), "")
    return kind or ("kasada" if refused and "x-kpsdk-ct" in response.headers else "")


def _of_scripts(face: bytes) -> str:
    for mark, kind in _SCRIPTS:
        # A page may also just speak of these two.
        if mark in face and (kind not in ("datadome", "incapsula") or _LOADS.search(face)):
            return kind
    return ""


def _hint(response: Response) -> str:
    if 500 <= response.status < 600:
        after = response.retry_after
        when = f"in {after:g} s" if after else "later"
        return f"The server has a problem; try again {when}, or use another source."
    return "Check the address; another source may have the same."
