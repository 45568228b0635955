"""From text to a `Target`: one parser (WHATWG, as browsers have it), one canonical form."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from toolcrib.core.errors import BadInput, Blocked
from toolcrib.net.egress.addresses import IPAddress

MAX_URL = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
TUNNEL = "tunnel"
# A redirect brings a scheme too, and a server could write a sentence there.
KNOWN_SCHEMES = frozenset(
    {
        *("about", "blob", "chrome", "data", "dict", "file", "ftp", "ftps", "gopher", "jar"),
        *("javascript", "ldap", "ldaps", "mailto", "netdoc", "sftp", "smb", "ssh", "tel"),
        *("telnet", "tftp", "view-source", "ws", "wss"),
    }
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_WEB = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_HOST_PORT = re.compile(r"[A-Za-z0-9.\-]+:\d{1,5}(?:[/?#]|$)")
_NO_HOST = "A URL needs a scheme and a host, as in https://example.com/page."


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL, ready to be judged by the policy.

    `href` is canonical and without fragment; percent-encoding is kept as written.
    `host` is lower-case ASCII without brackets or a final dot. `literal` is the
    address, where the host is one in any notation.
    """

    href: str
    scheme: str
    host: str
    port: int
    literal: IPAddress | None
    fragment: str = ""

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return (self.scheme, self.host, self.port)

    @property
    def authority(self) -> str:
        """Host and port, as a CONNECT request has them."""
        return f"{bracketed(self.host)}:{self.port}"

    @property
    def full(self) -> str:
        """The canonical URL with its fragment."""
        return self.href + self.fragment

    def __str__(self) -> str:
        return self.href


def bracketed(host: str) -> str:
    """The host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


@lru_cache(maxsize=512)
def parse_url(text: str) -> Target:
    """Parse an absolute http or https URL.

    Raises:
        BadInput: not a URL.
        Blocked: another scheme, or a user name or password in it.
    """
    _check_text(text)
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in DEFAULT_PORTS:
        raise _blocked_scheme(scheme[1].lower())
    if not _WEB.match(text):
        raise BadInput(f"{_short(text)} is not a web address.", hint=_NO_HOST)
    if "\\" in re.split(r"[?#]", text, maxsplit=1)[0]:
        raise BadInput(f"{_short(text)} has a backslash before its query.", hint=_NO_HOST)
    return _target(text, None)


def join_url(base: Target, reference: str) -> Target:
    """The target of a redirect: `reference` may be relative, and no message quotes it.

    Raises:
        BadInput: not a URL.
        Blocked: another scheme, or a user name or password in it.
    """
    try:
        _check_text(reference)
        return _target(reference, base.full)
    except BadInput:
        raise BadInput(
            f"{base.host} redirects to something that is not a URL.",
            hint="Use another address of the same page.",
        ) from None


def complete_url(text: str) -> str:
    """What a model typed, with `https://` where the scheme was left out."""
    text = text.strip(" \t\r\n<>\"'")
    if text.startswith("//"):
        return f"https:{text}"
    if "://" in text.split("?", 1)[0] or (_SCHEME.match(text) and not _HOST_PORT.match(text)):
        return text
    return f"https://{text}"


def host_target(host: str, port: int) -> Target:
    """The target of a tunnel, where no scheme is known yet.

    Raises:
        BadInput: the host is not one.
    """
    if not host or re.search(r"[\s/\\?#@]", host):
        raise BadInput(f"{_short(host)} is not a host.", hint=_NO_HOST)
    return replace(parse_url(f"http://{bracketed(host.strip('[]'))}:{port}/"), scheme=TUNNEL)


def _check_text(text: str) -> None:
    if len(text) > MAX_URL:
        raise BadInput(f"The URL is longer than {MAX_URL} characters.", hint=_NO_HOST)
    if _CONTROL.search(text):
        raise BadInput(f"{_short(text)} has control characters in it.", hint=_NO_HOST)


def _target(text: str, base: str | None) -> Target:
    from ada_url import URL

    try:
        url = URL(text, base)
    except (ValueError, UnicodeEncodeError):
        raise BadInput(f"{_short(text)} is not a valid URL.", hint=_NO_HOST) from None
    scheme = url.protocol[:-1]
    if scheme not in DEFAULT_PORTS:
        raise _blocked_scheme(scheme)
    if url.username or url.password:
        raise Blocked(
            "Destination not allowed: the URL has a user name or password in it.",
            hint="Send the URL without the part before '@'.",
            code="blocked_host",
            host=url.hostname,
            rule="credentials in the URL",
        )
    host = _checked_host(url.hostname.removesuffix("."))
    if url.hostname.endswith("."):
        url.hostname = host
    fragment = url.hash
    del url.hash
    port = int(url.port) if url.port else DEFAULT_PORTS[scheme]
    return Target(url.href, scheme, host, port, _literal(host), fragment)


def _checked_host(host: str) -> str:
    if host.startswith("["):
        return host[1:-1]
    labels = host.split(".")
    if len(host) > 253 or not all(0 < len(label) <= 63 for label in labels):
        raise BadInput(f"{_short(host)} is not a valid host name.", hint=_NO_HOST)
    return host


def _literal(host: str) -> IPAddress | None:
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except ValueError:
        return None


def _blocked_scheme(scheme: str) -> Blocked:
    excerpt = scheme if scheme in KNOWN_SCHEMES else "another scheme"
    return Blocked(
        f"Destination not allowed: only http and https are, not {excerpt}.",
        code="blocked_scheme",
        hint="For a local file use the file tools.",
        scheme=excerpt,
        rule="scheme",
    )


def _short(text: str) -> str:
    excerpt = text if len(text) <= 80 else f"{text[:77]}..."
    return repr(excerpt)
