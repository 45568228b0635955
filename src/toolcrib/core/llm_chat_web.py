"""The variables by which the web tools of LLM Chat were set up, as settings of toolcrib."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PREFIX = "LLM_CHAT_WEB_"
KEY = f"{PREFIX}SEARCH_API_KEY"
CHARS_PER_TOKEN = 4
MIN_TOKENS = 100


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000


def _tokens(chars: int) -> int:
    return max(chars // CHARS_PER_TOKEN, MIN_TOKENS)


def _as_it_is(number: int) -> int:
    return number


NUMBERS: Mapping[str, tuple[str, Callable[[int], float]]] = {
    "SEARCH_MAX_RESULTS": ("search.limit", _as_it_is),
    "SEARCH_MAX_CHARS_PER_RESULT": ("search.max_chars", _as_it_is),
    "SEARCH_TIMEOUT_MS": ("search.timeout", _seconds),
    "SEARCH_CONCURRENCY": ("search.concurrency", _as_it_is),
    "MAX_CHARS_PER_FETCH": ("fetch.max_tokens", _tokens),
    "MAX_CHARS_PER_FETCH_LIMIT": ("fetch.ceiling", _tokens),
    "FETCH_TIMEOUT_MS": ("fetch.timeout", _seconds),
    "MAX_CONTENT_LENGTH_BYTES": ("fetch.max_bytes", _as_it_is),
    "FETCH_CONCURRENCY": ("fetch.concurrency", _as_it_is),
}
"""Whole numbers from 1: where each goes in the branch `web`."""


def read_variables(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The settings that they make, and in words those whose value is none and counts for nothing.

    Args:
        environ: all variables.
    """
    web: dict[str, Any] = {}
    wrong: list[str] = []
    for name, (place, convert) in NUMBERS.items():
        text = environ.get(PREFIX + name, "").strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            wrong.append(f"{PREFIX}{name} is no whole number from 1; the default is used")
            continue
        branch, field = place.split(".")
        web.setdefault(branch, {})[field] = convert(int(text))
    provider = environ.get(f"{PREFIX}SEARCH_PROVIDER", "").strip().lower()
    if provider:
        web.setdefault("search", {})["providers"] = [provider]
        if environ.get(KEY, "").strip():
            web["providers"] = {provider: {"api_key_env": KEY}}
    return ({"web": web} if web else {}), wrong
