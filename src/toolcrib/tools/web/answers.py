"""What the status and the face of an answer mean: fine, slow down, prove you are human."""

from __future__ import annotations

import re
import time
from http import HTTPStatus

from toolcrib.core.errors import ChallengePage, HttpStatus, RateLimited
from toolcrib.kit.egress import Response

LOOK = 65_536

# A title that only a challenge has, and marks that mean one on a refused request.
_TITLES = re.compile(
    rb"<title[^>]*>\s*(?:"
    rb"(?P<cloudflare>just a moment|attention required! \| cloudflare)"
    rb"|(?P<perimeterx>access to this page has been denied)"
    rb"|(?P<anubis>making sure you(?:'|&#39;|&#x27;|\xe2\x80\x99)re not a bot)"
    rb"|(?P<captcha>are you a (?:human|robot)\??|robot check|verify you are human)"
    rb"|(?P<ddos_guard>ddos-guard))",
    re.IGNORECASE,
)
_MARKS = re.compile(
    rb"(?P<cloudflare>/cdn-cgi/challenge-platform/|cf-chl-|id=\"challenge-form\")"
    rb"|(?P<datadome>captcha-delivery\.com)"
    rb"|(?P<perimeterx>px-captcha)"
    rb"|(?P<incapsula>_incapsula_resource)"
    rb"|(?P<captcha>g-recaptcha|h-captcha|hcaptcha\.com)",
    re.IGNORECASE,
)
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
    after = retry_after(response)
    if response.status == 429:
        wait = f" for {after:g} s" if after else ""
        raise RateLimited(
            f"{who} asks to slow down{wait} (HTTP 429).",
            hint=f"Wait{wait or ' a minute'} before asking there again, or use another source.",
            status=429,
            retry_after=after,
        )
    raise HttpStatus(
        f"{who} answered with HTTP {response.status} {_phrase(response.status)}".rstrip() + ".",
        hint=_HINTS.get(response.status)
        or ("The server has a problem; try again later." if response.status >= 500 else ""),
        status=response.status,
        retry_after=after,
    )


def challenge_of(response: Response) -> str:
    """The guard that answered instead of the page; empty for an ordinary answer."""
    if response.headers.get("cf-mitigated").lower() == "challenge":
        return "cloudflare"
    if response.headers.get("x-amzn-waf-action").lower() in ("challenge", "captcha"):
        return "aws_waf"
    if response.media_type not in ("", "text/html", "application/xhtml+xml"):
        return ""
    face = response.body[:LOOK]
    found = _TITLES.search(face)
    if not found and response.status in _REFUSED:
        found = _MARKS.search(face)
    return found.lastgroup or "" if found else ""


def retry_after(response: Response) -> float | None:
    """The seconds that a Retry-After header asks for, given as a number or a date."""
    text = response.headers.get("retry-after").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, round(parsedate_to_datetime(text).timestamp() - time.time(), 0))
    except (ValueError, TypeError, OverflowError):
        return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
