"""`EgressPolicy`: where requests may go. Pure: no input, no output, no clock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Self

from toolcrib.core.errors import Blocked, ConfigError, ToolError
from toolcrib.core.names import name_set
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.addresses import (
    METADATA_ADDRESSES,
    TABLE,
    IPAddress,
    IPNetwork,
    embedded,
    plain,
    refusal,
)
from toolcrib.net.egress.url import TUNNEL, Target, bracketed, parse_url

# One entry of `deny_hosts`, read as strictly as those that open something.

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
    def parse(cls, text: str, name: str = "deny_hosts") -> Self:
        """Read `host`, `*.suffix`, an address or a network, each but the last with `:port`.

        `name` is the setting that it stands in.

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
                f"egress.{name}: '{text}' is not a host.",
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


BLOCKED_PORTS: Final = frozenset(
    int(port) for ports in TABLE["ports"].values() for port in ports.split()
)
LOCAL_NAMES = name_set(TABLE["local"]["names"])
LOCAL_SUFFIXES = tuple(TABLE["local"]["suffixes"].split())
PRIVATE_SUFFIXES = tuple(TABLE["private"]["suffixes"].split())
METADATA_NAMES = name_set(TABLE["metadata"]["names"])
METADATA = "is a cloud metadata service"
NEVER_NEEDED = "It holds the keys of this machine; nothing on the web needs it. Do not ask for it."
DENIED = "The user has forbidden this destination."
NARROWED = "The user lets only some destinations be reached, and can add this one."
ALL_ADDRESSES = (
    "It stands for all addresses of a machine. A server of yours is reached at 127.0.0.1, on the "
    "port that its job gave for 'ports'."
)

Origin = tuple[str, str, int]
SERVER_ADDRESS = IPv4Address("127.0.0.1")
SERVER_HOSTS = frozenset({str(SERVER_ADDRESS), "localhost"})
"""Where servers of runs are reached; the name is read as that one address, and as no other."""
LOOPBACK: Final = (SERVER_ADDRESS, IPv6Address("::1"))


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of `allow_hosts`: a host or `*.suffix`, on one port or on all."""

    host: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `host`, `host:port`, `*.suffix`, `[::1]:port` or a bare address.

        Raises:
            ConfigError: another form.
        """
        wildcard, rest = text.startswith("*."), text.removeprefix("*.")
        with suppress(ValueError):
            rest = bracketed(str(ip_address(rest)))
        port = rest.rpartition(":")[2] if not rest.endswith("]") and ":" in rest else ""
        try:
            if "*" in rest or any(c in rest for c in "/@?#"):
                raise ValueError(rest)
            target = parse_url(f"http://{rest}/")
            if wildcard and target.literal is not None:
                raise ValueError(rest)
            host = target.host
            return cls(f"*.{host}" if wildcard else host, int(port) if port else None)
        except (ToolError, ValueError):
            raise ConfigError(
                f"allow_hosts: '{text}' is not a host.",
                hint="Forms: host, host:port, *.suffix; no scheme and no path.",
            ) from None

    def matches(self, target: Target) -> bool:
        """Whether the target is meant."""
        if self.port is not None and self.port != target.port:
            return False
        if self.host.startswith("*."):
            return target.host.endswith(self.host[1:])
        return self.host == target.host


@dataclass(frozen=True, eq=False)
class EgressPolicy:
    """Which schemes, hosts, ports and addresses may be reached.

    Order: `deny_hosts` wins over everything; cloud metadata opens only to its own
    literal in `allow_hosts`; then what the user opened; then what is public.
    `setting` names the branch of the configuration that hints point to. `servers` are the
    ports of this machine's loopback on which servers of the conversation's own runs are
    reached, see `LocalServers`.
    """

    allow_hosts: tuple[HostRule, ...] = ()
    allow_networks: tuple[IPNetwork, ...] = ()
    deny_hosts: tuple[DenyRule, ...] = ()
    allow_ports: frozenset[int] = frozenset()
    only_hosts: tuple[DenyRule, ...] = ()
    schemes: frozenset[str] = frozenset({"http", "https"})
    endpoints: frozenset[Origin] = frozenset()
    servers: frozenset[int] = frozenset()
    setting: str = "egress"

    @classmethod
    def of(cls, config: EgressConfig) -> Self:
        """The policy that a configuration describes.

        Raises:
            ConfigError: a host or a network that is none.
        """
        return cls(
            allow_hosts=tuple(HostRule.parse(host) for host in config.allow_hosts),
            allow_networks=tuple(_network(text) for text in config.allow_networks),
            deny_hosts=tuple(DenyRule.parse(host) for host in config.deny_hosts),
            allow_ports=frozenset(config.allow_ports),
            only_hosts=tuple(DenyRule.parse(host, "only_hosts") for host in config.only_hosts),
            schemes=frozenset(config.schemes),
        )

    def widened(
        self,
        allow_hosts: Iterable[str] = (),
        allow_networks: Iterable[str] = (),
        endpoints: Iterable[str] = (),
        setting: str = "",
    ) -> Self:
        """This policy with what one component may reach beside it.

        Args:
            allow_hosts: more hosts, in the forms of `egress.allow_hosts`.
            allow_networks: more networks, in CIDR notation.
            endpoints: URLs that the user configured; each opens exactly its origin.
            setting: the component's branch of the configuration.
        """
        return replace(
            self,
            allow_hosts=self.allow_hosts + tuple(HostRule.parse(h) for h in allow_hosts),
            allow_networks=self.allow_networks + tuple(_network(n) for n in allow_networks),
            endpoints=self.endpoints | {parse_url(url).origin for url in endpoints},
            setting=setting or self.setting,
        )

    def check(self, target: Target) -> None:
        """Judge all that is known before a name is resolved.

        Raises:
            Blocked: the host, the port or the literal address is not allowed.
        """
        if any(rule.covers_host(target.host, target.port) for rule in self.deny_hosts):
            raise _blocked("host", target, "is on the list egress.deny_hosts", DENIED)
        if target.host in METADATA_NAMES and not self._names(target, target.host):
            raise _blocked("host", target, METADATA, NEVER_NEEDED)
        if self.serves(target):
            self.check_address(target, SERVER_ADDRESS)
            return
        if not self._opens(target):
            self._check_scheme(target)
            self._check_name(target)
        self._check_port(target)
        if target.literal is not None:
            self.check_address(target, target.literal)

    def check_answers(self, target: Target, addresses: Sequence[IPAddress]) -> None:
        """Judge every address that a name resolves to: one refused refuses the name.

        Raises:
            Blocked: an address is not allowed.
        """
        for address in addresses:
            self.check_address(target, address)

    def check_address(self, target: Target, address: IPAddress) -> None:
        """Judge one address of a target.

        Raises:
            Blocked: it is not allowed.
        """
        real = plain(address)
        forms = (real, *embedded(real))
        port = target.port
        if any(rule.covers_address(form, port) for form in forms for rule in self.deny_hosts):
            raise _blocked("address", target, "is on the list egress.deny_hosts", DENIED, real)
        if not METADATA_ADDRESSES.isdisjoint(forms):
            if self._names(target, str(real)):
                return
            raise _blocked("address", target, METADATA, NEVER_NEEDED, real)
        if self._opens(target) or (self.serves(target) and real == SERVER_ADDRESS):
            return
        for form in forms:
            why = refusal(form)
            if why and not any(form in network for network in self.allow_networks):
                why = f"is {why}" if form == real else f"carries {form} inside, which is {why}"
                raise _blocked("address", target, why, self._hint(target), real)

    def serves(self, target: Target) -> bool:
        """Whether a target is a server of one of the conversation's own runs."""
        return target.port in self.servers and target.host in SERVER_HOSTS

    def loopback(self, target: Target) -> tuple[IPAddress, ...]:
        """What `localhost`, or a name under it, is read as where `allow_networks` opens that.

        No name server decides on it; with an entry of its own in `allow_hosts` it is looked up.
        """
        if target.host != "localhost" and not target.host.endswith(".localhost"):
            return ()
        if self._opens(target):
            return ()
        return tuple(a for a in LOOPBACK if any(a in network for network in self.allow_networks))

    def _opens(self, target: Target) -> bool:
        origins = self.endpoints
        if target.scheme == TUNNEL:
            opened = any(origin[1:] == target.origin[1:] for origin in origins)
        else:
            opened = target.origin in origins
        return opened or any(rule.matches(target) for rule in self.allow_hosts)

    def _names(self, target: Target, literal: str) -> bool:
        rules = self.allow_hosts
        return any(rule.host == literal and rule.port in (None, target.port) for rule in rules)

    def _check_scheme(self, target: Target) -> None:
        """What the user narrows for all that they have not opened by itself."""
        if target.scheme != TUNNEL and target.scheme not in self.schemes:
            why = f"would be reached by {target.scheme}, which egress.schemes does not name"
            raise _blocked("scheme", target, why, NARROWED)
        if self.only_hosts and not any(map(partial(_is_covered, target), self.only_hosts)):
            raise _blocked("host", target, "is not on the list egress.only_hosts", NARROWED)

    def _check_name(self, target: Target) -> None:
        host = target.host
        if self.loopback(target):
            return
        if host in LOCAL_NAMES or host.endswith(LOCAL_SUFFIXES):
            why = "is a name of this machine or its cluster"
            raise _blocked("host", target, why, self._hint(target))
        if not self.allow_networks and host.endswith(PRIVATE_SUFFIXES):
            why = "is a name of a private network"
            raise _blocked("host", target, why, self._hint(target))

    def _check_port(self, target: Target) -> None:
        port = target.port
        if port not in BLOCKED_PORTS or port in self.allow_ports:
            return
        if any(origin[1:] == target.origin[1:] for origin in self.endpoints):
            return
        if any(rule.port == port and rule.matches(target) for rule in self.allow_hosts):
            return
        raise Blocked(
            f"Destination not allowed: port {port} of {target.host} is not a web port.",
            hint=f"The user can open it: add {port} to egress.allow_ports.",
            code="blocked_port",
            host=target.host,
            port=port,
            rule="port",
        )

    def _hint(self, target: Target) -> str:
        if target.literal is not None and target.literal.is_unspecified:
            return ALL_ADDRESSES
        hint = f'The user can open it: add "{_entry(target)}" to {self.setting}.allow_hosts.'
        if target.host not in SERVER_HOSTS:
            return hint
        return f"A server of yours can be reached if it is started with 'ports'. {hint}"


def _is_covered(target: Target, rule: DenyRule) -> bool:
    if target.literal is not None:
        return rule.covers_address(plain(target.literal), target.port)
    return rule.covers_host(target.host, target.port)


def _blocked(
    check: str, target: Target, why: str, hint: str, address: IPAddress | None = None
) -> Blocked:
    details = {"host": target.host, "rule": why}
    name = target.host
    if address is not None:
        details["address"] = str(address)
        if target.literal is None:
            name += f" resolves to {address}, which"
    message = f"Destination not allowed: {name} {why}."
    return Blocked(message, hint=hint, code=f"blocked_{check}", **details)


def _entry(target: Target) -> str:
    return bracketed(target.host) if target.port in (80, 443) else target.authority


def _network(text: str) -> IPNetwork:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise ConfigError(
            f"allow_networks: '{text}' is not a network.", hint="Example: 192.168.1.0/24."
        ) from None


@dataclass(frozen=True, eq=False)
class OnlyHosts(EgressPolicy):
    """A policy that opens some hosts and no others; what it forbids stays forbidden."""

    only: tuple[HostRule, ...] = ()

    @classmethod
    def within(cls, policy: EgressPolicy, hosts: Sequence[str]) -> OnlyHosts:
        """A policy, narrowed to some hosts in the forms of `egress.allow_hosts`."""
        settings = {f.name: getattr(policy, f.name) for f in fields(policy)}
        return cls(**settings, only=tuple(HostRule.parse(host) for host in hosts))

    def check(self, target: Target) -> None:
        """As for every policy.

        Raises:
            Blocked: the host is none of those that were given, or may not be reached.
        """
        if not any(rule.matches(target) for rule in self.only):
            raise Blocked(
                f"Destination not allowed: {target.host} was not given to this run.",
                hint="Name the host in 'network' of the call, or the user adds it to run.network.",
                code="blocked_host",
                host=target.host,
                origin=f"{'http' if target.scheme == 'http' else 'https'}://{target.authority}",
                rule="not given",
            )
        super().check(target)
