"""How search engines refuse: by captcha, by consent, by asking for scripts, by slowing down.

A page is asked about only where no results were found on it, so a page of results about
captchas is not mistaken for one. Where a page says that there is nothing, that is
believed before the words of a refusal, which could come from the query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.core.errors import ChallengePage, RateLimited, ToolError
from toolcrib.net.egress.response import Response

if TYPE_CHECKING:
    from turbohtml import Document

LOOK = 2500
"""How much of a page is read: refusals are short, pages of an unknown form are not."""

# Elements that only a page has that wants a proof.
PUZZLES = (
    "form#challenge-form, [class*=anomaly-modal], form[action*='anomaly.js'], #captcha-form,"
    "form[action*=captcha], .g-recaptcha, .h-captcha, .cf-turnstile, #cf-turnstile,"
    "iframe[src*=captcha], iframe[src*=turnstile], iframe[src*='challenges.cloudflare.com'],"
    "script[src*='challenges.cloudflare.com'], script[src*='recaptcha/api'],"
    "script[src*=pages-captcha], link[href*=pages-captcha],"
    "#b_captcha, .b_captcha, [data-tag=CaptchaContainer], #captcha, .captcha,"
    "#anubis_challenge, #anubis_version, a[href*='pow-captcha'], #pow-captcha, .pow-captcha,"
    "form[action*='/sp/captcha'], form[action*='/sorry/'], img[src*='/sorry/image']"
)
CONSENT = (
    "form[action*='consent.google'], form[action*='consent.youtube'],"
    "form[action*='consent.yahoo'], form[action*='guce.'], form.consent-form,"
    "form[action*=collectConsent], #consent-page, .consent-overlay, [class*=consent-form]"
)
_URL_PUZZLE = re.compile(
    r"/sorry(?:/|\?|$)|/captcha|/errors?(?:/|-pages)|/challenge|/anomaly|/cdn-cgi/challenge",
    re.IGNORECASE,
)
_URL_CONSENT = re.compile(
    r"//(?:[\w-]+\.)*(?:consent\.(?:google|youtube|yahoo)|guce)\.|/(?:collect)?consent(?:/|\?|$)",
    re.IGNORECASE,
)
_WORDS_PUZZLE = re.compile(
    r"unusual traffic|automated (?:queries|requests)|bots use duckduckgo"
    r"|not a robot|not a bot|are you (?:a )?human|you(?:'re|\u2019re| are) (?:a )?human"
    r"|confirm (?:that )?(?:this search was made by a human|you are not)"
    r"|complete the following challenge|solve the challenge|one last step|proof[- ]of[- ]work"
    r"|error-(?:lite|html)\b|if this (?:error )?persists"
    r"|captcha|suspicious (?:activity|traffic)|access (?:is |has been )?(?:denied|blocked)"
    r"|request(?: is|s? (?:has|have) been)? blocked",
    re.IGNORECASE,
)
_WORDS_CONSENT = re.compile(
    r"before you continue to (?:google|youtube|yahoo)|yahoo is part of the yahoo family"
    r"|zu google weitergehen|avant d'acc\u00e9der \u00e0 google"
    r"|antes de (?:ir a|continuar (?:a|para)(?: a)?) google",
    re.IGNORECASE,
)
_WORDS_SLOW = re.compile(
    r"too many requests|rate[- ]limit|unable to process (?:your )?request at this time"
    r"|error 999|sad[- ]panda|slow down",
    re.IGNORECASE,
)
_SCRIPTS = b"/httpservice/retry/enablejs"


def refusal_of_url(name: str, url: str, status: int = 302) -> ToolError | None:
    """What an address says to which an engine redirects, or nothing."""
    if _URL_CONSENT.search(url):
        return _consent(name, status)
    return refused(name, status) if _URL_PUZZLE.search(url) else None


def marked(name: str, response: Response, document: Document) -> ToolError | None:
    """What the elements of a page without results say, or nothing."""
    if document.select_one(CONSENT):
        return _consent(name, response.status)
    if document.select_one(PUZZLES) or b"component---src-pages-captcha" in response.body:
        return refused(name, response.status)
    if _SCRIPTS in response.body:
        return ChallengePage(
            f"{name} answers only browsers that run scripts.",
            hint="Use another provider.",
            kind=f"{_engine(name)}_scripts",
            provider=name,
            status=response.status,
        )
    return None


def worded(name: str, response: Response, text: str) -> ToolError | None:
    """What the words of a page without results say, or nothing.

    Args:
        name: the provider.
        response: the answer.
        text: the title and what the page shows.
    """
    text = text[:LOOK]
    if _WORDS_CONSENT.search(text):
        return _consent(name, response.status)
    if _WORDS_PUZZLE.search(text):
        return refused(name, response.status)
    return slowed(name, response) if _WORDS_SLOW.search(text) else None


def slowed(name: str, response: Response) -> RateLimited:
    """The error for an engine that asks for patience."""
    after = response.retry_after
    wait = f" for {after:g} s" if after else ""
    return RateLimited(
        f"{name} asks to slow down{wait} (HTTP {response.status}).",
        hint=f"Wait{wait or ' a minute'} before asking there again, or use another provider.",
        provider=name,
        status=response.status,
        retry_after=after,
    )


def refused(name: str, status: int) -> ChallengePage:
    """The error for an engine that takes the caller for a program."""
    return ChallengePage(
        f"{name} wants proof of a human instead of answering.",
        hint="It blocks an address for up to an hour. Use another provider until then.",
        kind=_engine(name),
        provider=name,
        status=status,
    )


def _consent(name: str, status: int) -> ChallengePage:
    return ChallengePage(
        f"{name} wants consent to cookies instead of answering.",
        hint="It asks so in some countries. Use another provider.",
        kind=f"{_engine(name)}_consent",
        provider=name,
        status=status,
    )


def _engine(name: str) -> str:
    """The engine behind a provider: that of duckduckgo_lite is duckduckgo."""
    return name.partition("_")[0]
