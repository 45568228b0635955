"""From text to a `Target`: one parser (WHATWG, as browsers have it), one canonical form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from toolcrib.core.errors import BadInput, Blocked
from toolcrib.core.names import name_set
from toolcrib.net.egress.addresses import IPAddress

# HTTP headers: several values a name, names in any case.

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")

# What the transport decides: a caller that set them could speak to another host, or
# smuggle a second request behind the first.
RESERVED = name_set("""
connection content-length expect host keep-alive proxy-authenticate proxy-authorization
proxy-connection te trailer transfer-encoding upgrade
""")


class Headers:
    """The headers of an answer, in order, names in lower case."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = tuple([(name.lower(), value) for name, value in pairs])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __contains__(self, name: str) -> bool:
        name = name.lower()
        return any(known == name for known, _ in self._pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._pairs == other._pairs

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __repr__(self) -> str:
        return f"Headers({list(self._pairs)!r})"

    def get(self, name: str, default: str = "") -> str:
        """The first value of this name."""
        name = name.lower()
        for known, value in self._pairs:
            if known == name:
                return value
        return default

    def get_all(self, name: str) -> list[str]:
        """Every value of this name."""
        name = name.lower()
        return [value for known, value in self._pairs if known == name]

    def tokens(self, name: str) -> list[str]:
        """The comma-separated parts of every value of this name, in lower case."""
        values = self.get_all(name)
        parts = ",".join(values).split(",") if values else ()
        return [part.strip().lower() for part in parts if part.strip()]

    @property
    def size(self) -> int:
        """Bytes on the wire, about: names, values and the separators of HTTP/1."""
        return sum([len(name) + len(value) + 4 for name, value in self._pairs])


def checked_headers(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers of a request, names in lower case.

    Raises:
        BadInput: a name or value that is none, or one that the transport sets itself.
    """
    checked: dict[str, str] = {}
    for name, value in given.items():
        if not _NAME.fullmatch(name):
            raise BadInput(f"'{name[:60]}' is not a header name.")
        if name.lower() in RESERVED:
            raise BadInput(f"The header '{name}' cannot be set.")
        if not _VALUE.fullmatch(value):
            raise BadInput(f"The value of the header '{name}' has control characters in it.")
        checked[name.lower()] = value.strip()
    return tuple(checked.items())


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
_PLAIN = re.compile(
    r"(?:(?:(?:[\w\-]+\.)*localhost|127(?:\.\d{1,3}){1,3}|\[::1\])(?!:443\b)(?::\d{1,5})?"
    r"|[A-Za-z0-9.\-]+:(?!\d?443\b)\d{1,5})(?:[/?#]|$)",
    re.IGNORECASE | re.ASCII,
)
"""A host without scheme that speaks http: this machine, or one with a port other than 443, 8443."""
_IN_MARKDOWN = re.compile(r"`([^`\s]+)`|\[[^\[\]]*\]\(<?(https?://[^\s<>]+?)>?\)")
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
    """What a model typed, with a scheme where it was left out.

    That is `https://`, but for this machine and for a port that is none of https.
    """
    text = text.strip(" \t\r\n<>\"'")
    in_markdown = _IN_MARKDOWN.fullmatch(text)
    if in_markdown:
        text = in_markdown[1] or in_markdown[2]
    if text.startswith("//"):
        return f"https:{text}"
    if "://" in text.split("?", 1)[0] or (_SCHEME.match(text) and not _HOST_PORT.match(text)):
        return text
    return f"{'http' if _PLAIN.match(text) else 'https'}://{text}"


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


def web_origin(url: str) -> str:
    """Scheme, host and port of a web address, as `https://example.com`; "" for any other.

    A user and a password in it are left out, as is the port that the scheme has anyway.
    """
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS:
        return ""
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host.removesuffix(f':{DEFAULT_PORTS[parts.scheme]}')}"
