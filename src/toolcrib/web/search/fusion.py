"""Several providers' results as one list, by reciprocal rank, and which URLs are one page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from toolcrib.net.egress.url import DEFAULT_PORTS
from toolcrib.web.provider import SearchResult

_TRACKER = re.compile(
    r"(?:utm|pk|mtm|matomo|piwik)_.*|"
    r"gclid|dclid|gbraid|wbraid|gclsrc|fbclid|msclkid|yclid|ysclid|twclid|ttclid|"
    r"li_fat_id|igshid|igsh|mc_cid|mc_eid|mkt_tok|srsltid|_ga|_gl|_hsenc|_hsmi|__hstc|"
    r"__hssc|__hsfp|hsctatracking|vero_id|vero_conv|oly_anon_id|oly_enc_id|s_cid|"
    r"ref_src|ref_url|guccounter|guce_referrer|guce_referrer_sig|at_medium|"
    r"at_campaign|at_custom1|wickedid|_openstat|rb_clickid|epik"
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PREFIX = re.compile(r"^(?:www|m|mobile)\.(?=[^.]+\.)")
_MOBILE = re.compile(r"^([a-z-]+)\.m\.(?=wik)")
RANK_OFFSET = 60
"""How little a place at the very top counts more; the usual value."""
FUSED_RANKS = 10
"""Ranks that are fused at a time, so that a page never changes what came before it."""


@dataclass(slots=True)
class _Merged:
    found: SearchResult
    best: tuple[int, int]
    score: float
    providers: list[str]


def fuse(lists: Mapping[str, Sequence[SearchResult]]) -> list[SearchResult]:
    """One list of all results, those first that several providers have near the top.

    Each result's score is the sum of 1 / (60 + rank) over the providers that have it;
    equal scores go by the best rank, then by the order of the providers. Ranks are
    fused ten by ten: asking the providers for more only adds to the end. A result keeps
    the URL and title of its best place, takes what it lacks there from the others, and
    lists them all in `extra["providers"]`.

    Args:
        lists: the results by provider, best first.
    """
    fused: list[SearchResult] = []
    seen: set[str] = set()
    longest = max(map(len, lists.values()), default=0)
    for start in range(0, longest, FUSED_RANKS):
        merged = _block(lists, start, seen)
        seen |= merged.keys()
        ranked = sorted(merged.values(), key=lambda m: (-m.score, m.best))
        fused += [_labelled(m) for m in ranked]
    return fused


def _block(
    lists: Mapping[str, Sequence[SearchResult]], start: int, seen: set[str]
) -> dict[str, _Merged]:
    merged: dict[str, _Merged] = {}
    for place, (name, results) in enumerate(lists.items()):
        for rank, found in enumerate(results[start : start + FUSED_RANKS], start + 1):
            key = identity(found.url)
            if key in seen:
                continue
            score, best = 1 / (RANK_OFFSET + rank), (rank, place)
            same = merged.get(key)
            if same is None:
                merged[key] = _Merged(found, best, score, [name])
            elif name not in same.providers:
                same.providers.append(name)
                same.score += score
                first, second = (found, same.found) if best < same.best else (same.found, found)
                same.found, same.best = _joined(first, second), min(best, same.best)
    return merged


def _joined(first: SearchResult, second: SearchResult) -> SearchResult:
    return replace(
        first,
        snippet=first.snippet or second.snippet,
        published=first.published or second.published,
        content=first.content or second.content,
        extra={**second.extra, **first.extra},
    )


def _labelled(merged: _Merged) -> SearchResult:
    return replace(merged.found, extra={**merged.found.extra, "providers": merged.providers})


def identity(url: str) -> str:
    """The same text for URLs that lead to the same page as far as can be told unseen.

    Left out are: the scheme, `www.` and mobile prefixes, the default port, a slash at
    the end, parameters that only track, and a fragment unless it is a route (`#/x`,
    `#!x`). Parameters are compared without their order. Escapes are compared as
    RFC 3986 says: `%7e` is `~`, and `%2F` is not `/`.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url.strip()
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS or not parts.hostname:
        return url.strip()
    host = _host(parts.hostname)
    if port is not None and port != DEFAULT_PORTS[scheme]:
        host += f":{port}"
    if parts.username is not None:
        host = f"{parts.netloc.rpartition('@')[0]}@{host}"
    path = _escapes(parts.path).rstrip("/")
    fields = [field for field in parts.query.split("&") if field and not _tracks(field)]
    # Stable, so that the values of one name keep their order.
    fields = sorted(map(_escapes, fields), key=lambda field: field.partition("=")[0])
    query = f"?{'&'.join(fields)}" if fields else ""
    route = f"#{_escapes(parts.fragment)}" if parts.fragment[:1] in ("/", "!") else ""
    return f"{host}{path}{query}{route}"


def is_within(url: str, site: str) -> bool:
    """Whether a URL is on a domain (`example.org` or `example.org:8080`) or below it."""
    try:
        parts, wanted = urlsplit(url.strip()), urlsplit(f"//{site.strip()}")
        ports = parts.port or DEFAULT_PORTS.get(parts.scheme.lower()), wanted.port
    except ValueError:
        return False
    host, domain = _ascii(parts.hostname or ""), _ascii(wanted.hostname or "")
    inside = host == domain or host.endswith(f".{domain}")
    return bool(domain) and inside and ports[1] in (None, ports[0])


def _ascii(host: str) -> str:
    host = host.rstrip(".").lower()
    if not host.isascii():
        from ada_url import idna_to_ascii

        host = idna_to_ascii(host).decode("ascii") or host
    return host


def _host(host: str) -> str:
    host = _ascii(host)
    if ":" in host:
        return f"[{host}]"
    return _MOBILE.sub(r"\1.", _PREFIX.sub("", host))


def _tracks(field: str) -> bool:
    return _TRACKER.fullmatch(field.partition("=")[0].lower()) is not None


def _escapes(text: str) -> str:
    """Escapes in one spelling; characters outside ASCII as their escapes."""

    def one(found: re.Match[str]) -> str:
        char = chr(int(found[1], 16))
        return char if char in _UNRESERVED else found[0].upper()

    text = "".join(c if c > " " else f"%{ord(c):02X}" for c in text)
    if not text.isascii():
        text = "".join(
            c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace"))
            for c in text
        )
    return _ESCAPE.sub(one, text)
