"""What the refusal of a service with an API means: its key, its plan, or its patience."""

from __future__ import annotations

import re
import time
from typing import Protocol

from toolcrib.core.errors import HttpStatus, RateLimited
from toolcrib.net.egress.response import Response
from toolcrib.net.statuses import challenge_of, check
from toolcrib.state.redaction import TELLING, Screen
from toolcrib.text.cleaner import one_line

TOLD = 2048
"""Bytes of the answer that a message quotes."""
LOOK = 65_536
EPOCH = 1_000_000_000
"""A number from here on is a time, below it a number of seconds."""

_PLAN = frozenset({402, 432, 433})
_SPENT = re.compile(
    r"insufficient[_ ](?:funds|credit|balance|quota)|quota[_ ](?:limited|exceeded)"
    r"|(?:no|out of|not enough)[_ ](?:more[_ ])?credit|budget[_ ]exceeded|payment[_ ]required"
    r"|exceeds? (?:your plan|the pay-as-you-go)|usage limit|billing[_ ]required|not_in_plan"
    r"|balance not enough|daily limit|insufficient budget",
    re.IGNORECASE,
)
_SLOW = re.compile(r"rate[-_ ]?limit|too[-_ ]many[-_ ]requests|throttl", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"subscription_token|(?:invalid|incorrect|unknown|missing|bad|malformed)[-_ ](?:or[-_ ]"
    r"(?:missing|invalid)[-_ ])?(?:api[-_ ]?key|key|token|credentials)|unauthori[sz]ed"
    r"|(?:api[-_ ]?)?key`? (?:is )?(?:not valid|invalid|missing|required|doesn't match)",
    re.IGNORECASE,
)
_ELSE = "use another provider"


class Way(Protocol):
    """What is known of the way to a service.

    `key` is what was sent as the key, `setting` names its variable, and `key_env` is the
    variable itself, or the usual one where no key was sent.
    """

    name: str
    key: str
    setting: str
    key_env: str


def check_api(response: Response, way: Way) -> None:
    """Pass a good answer of a service.

    Raises:
        ChallengePage: proof of a human is wanted.
        RateLimited: the service asks to slow down; `details["retry_after"]` says how long
            where it does.
        HttpStatus: any other status from 400; `details["reason"]` is `key` or `plan` where
            that is the reason.
    """
    if challenge_of(response):
        check(response, way.name)
    if response.status >= 400:
        raise refusal(response, way)


def refusal(response: Response, way: Way) -> HttpStatus | RateLimited:
    """The error for an answer that refuses, with what it says; the key is cut out."""
    status, body = response.status, told(response, way.key)
    message = f"{way.name} error ({status}): {body or response.phrase or 'no reason given'}"
    spent = status in _PLAN or bool(_SPENT.search(body))
    wait = wait_of(response)
    if status == 429 or (status in (403, 503) and not spent and _is_slow(response, body)):
        return RateLimited(
            message,
            hint=_plan_hint(way.name) if spent else slow_hint(wait),
            provider=way.name,
            status=status,
            retry_after=wait,
            reason="plan" if spent else "",
        )
    about_key = status in (401, 403) or (status < 500 and bool(_BAD_KEY.search(body)))
    reason = "plan" if spent else "key" if about_key else ""
    return HttpStatus(
        message,
        hint=_hint(reason, status, way),
        provider=way.name,
        status=status,
        retry_after=wait,
        reason=reason,
    )


def slow_hint(wait: float | None) -> str:
    """What to do where a service asks for patience."""
    return f"Wait {f'{wait:g} s' if wait else 'a minute'} before asking there again, or {_ELSE}."


def told(response: Response, key: str = "") -> str:
    """What an answer says, in one line: its first bytes as text, without the key."""
    body = response.body[:LOOK].decode("utf-8", "replace")
    if body.lstrip("\ufeff \r\n\t").startswith("<"):
        body = _without_markup(body)
    if len(key) >= TELLING:
        body = Screen(key).text(body, cut=len(response.body) > LOOK)
    return one_line(body).encode()[:TOLD].decode(errors="ignore")


def wait_of(response: Response) -> float | None:
    """The seconds until a service may be asked again, in any of the ways of saying so.

    Of several limits (`x-ratelimit-remaining: 0, 980`) the longest that is used up counts.
    """
    if response.retry_after is not None:
        return response.retry_after
    for prefix in ("x-ratelimit", "ratelimit", "x-rate-limit"):
        resets = _numbers(response.headers.get(f"{prefix}-reset"))
        if not resets:
            continue
        left = _numbers(response.headers.get(f"{prefix}-remaining"))
        empty = [r for r, n in zip(resets, left, strict=False) if n <= 0]
        reset = max(empty) if empty else resets[0]
        if reset >= EPOCH:
            seconds = reset / 1000 if reset >= EPOCH * 1000 else reset
            return max(0.0, round(seconds - time.time(), 0))
        return reset
    return None


def _numbers(text: str) -> list[float]:
    found = [re.fullmatch(r"\s*(\d{1,15})(?:\.\d+)?s?\s*", part) for part in text.split(",")]
    return [float(match.group(1)) for match in found if match]


def _is_slow(response: Response, body: str) -> bool:
    remaining = response.headers.get("x-ratelimit-remaining").strip()
    return remaining == "0" or bool(_SLOW.search(body)) or "retry-after" in response.headers


def _hint(reason: str, status: int, way: Way) -> str:
    if reason == "plan":
        return _plan_hint(way.name)
    if reason == "key" and way.key:
        return f"Check the key in {way.key_env}, the variable that {way.setting} names."
    if reason == "key" and way.key_env:
        return f"It may want a key: {way.setting} names a variable that holds one ({way.key_env})."
    if reason == "key":
        return f"The service refuses this request; {_ELSE}."
    if status >= 500:
        return f"The service has a problem; try again later, or {_ELSE}."
    return f"Use other words, or {_ELSE}."


def _plan_hint(name: str) -> str:
    return f"The plan or credit at {name} is used up; the user can raise it there, or {_ELSE}."


def _without_markup(body: str) -> str:
    from turbohtml import parse

    document = parse(body)
    for element in document.find_all(["script", "style", "template", "noscript"]):
        element.decompose()
    return " ".join(document.stripped_strings)
