"""Which URLs are one page: an identity for comparing, never for showing or fetching."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_TRACKER = re.compile(
    r"(?:utm|pk|mtm|matomo|piwik)_.*|"
    r"gclid|dclid|gbraid|wbraid|gclsrc|fbclid|msclkid|yclid|ysclid|twclid|ttclid|"
    r"li_fat_id|igshid|igsh|mc_cid|mc_eid|mkt_tok|srsltid|_ga|_gl|_hsenc|_hsmi|__hstc|"
    r"__hssc|__hsfp|hsctatracking|vero_id|vero_conv|oly_anon_id|oly_enc_id|s_cid|"
    r"ref_src|ref_url|guccounter|guce_referrer|guce_referrer_sig|at_medium|"
    r"at_campaign|at_custom1|wickedid|_openstat|rb_clickid|epik"
)
_PORTS = {"http": 80, "https": 443}
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PREFIX = re.compile(r"^(?:www|m|mobile)\.(?=[^.]+\.)")
_MOBILE = re.compile(r"^([a-z-]+)\.m\.(?=wik)")


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
    if scheme not in _PORTS or not parts.hostname:
        return url.strip()
    host = _host(parts.hostname)
    if port is not None and port != _PORTS[scheme]:
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
        ports = parts.port or _PORTS.get(parts.scheme.lower()), wanted.port
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
