"""One entry of `deny_hosts`, read as strictly as those that open something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from typing import Self

from toolcrib.core.errors import ConfigError, ToolError
from toolcrib.net.egress.addresses import IPAddress, IPNetwork, plain
from toolcrib.net.egress.url import parse_url

_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):(\d{1,5})")
_LABEL = re.compile(r"[a-z0-9_*?!\[\]-]{1,63}")
_GLOB = re.compile(r"[*?]|\[[^\]:]+\]")


@dataclass(frozen=True, slots=True)
class DenyRule:
    """A glob over hosts and addresses, or a network; on one port or on all.

    A host name without wildcards is a glob that matches itself. Names are in their
    ASCII form.
    """

    glob: str = ""
    network: IPNetwork | None = None
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `host`, `*.suffix`, an address or a network, each but the last with `:port`.

        Raises:
            ConfigError: another form, which would silently deny nothing.
        """
        rest = text.strip().lower()
        try:
            if "/" in rest:
                return cls(network=ip_network(rest, strict=False))
            split = _PORT.fullmatch(rest)
            rest, port = (split[1], int(split[2])) if split else (rest, None)
            if port is not None and port > 65_535:
                raise ValueError(rest)
            if _GLOB.search(rest) and not _is_bracketed(rest):
                return cls(glob=_glob(rest), port=port)
            address = _address(rest)
            if address is not None:
                return cls(network=ip_network(address), port=port)
            return cls(glob=_name(rest), port=port)
        except (ToolError, ValueError):
            raise ConfigError(
                f"egress.deny_hosts: '{text}' is not a host.",
                hint="Forms: host, host:port, *.suffix, 2606:4700::1, 10.0.0.0/8; "
                "no scheme and no path.",
            ) from None

    def covers_host(self, host: str, port: int) -> bool:
        """Whether a host, as a `Target` has it, is meant by its name."""
        return self._on(port) and bool(self.glob) and fnmatchcase(host, self.glob)

    def covers_address(self, address: IPAddress, port: int) -> bool:
        """Whether an address is meant."""
        if self.network is not None:
            return self._on(port) and address in self.network
        return self.covers_host(str(address), port)

    def _on(self, port: int) -> bool:
        return self.port is None or self.port == port


def _is_bracketed(text: str) -> bool:
    return text.startswith("[") and text.endswith("]")


def _address(text: str) -> IPAddress | None:
    """The address that a host is in any notation; None for a name."""
    bare = text[1:-1] if _is_bracketed(text) else text
    if ":" in bare:
        return plain(ip_address(bare))
    return parse_url(f"http://{_checked(text)}/").literal


def _name(text: str) -> str:
    return parse_url(f"http://{_checked(text)}/").host


def _checked(text: str) -> str:
    if any(c in text for c in "@?#\\%") or any(c.isspace() for c in text):
        raise ValueError(text)
    return text


def _glob(text: str) -> str:
    """A glob over names in their ASCII form; labels without wildcards may be in any script."""
    return ".".join(map(_label, text.removesuffix(".").split(".")))


def _label(text: str) -> str:
    if not text.isascii() and not _GLOB.search(text):
        # The suffix keeps digits of other scripts from being read as an address.
        return _name(f"{text}.x").removesuffix(".x")
    if not _LABEL.fullmatch(text):
        raise ValueError(text)
    return text
