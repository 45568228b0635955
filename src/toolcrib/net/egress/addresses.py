"""Which addresses are public. Facts only: nothing here knows what a user allowed.

IPv4 is public unless listed; IPv6 is public only inside 2000::/3 and unless listed.
An address that carries another one inside (mapped, NAT64, 6to4, Teredo, ISATAP …)
is judged by both, since what arrives may be the inner one.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from toolcrib.core.package_data import package_table

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

TABLE = package_table("net/egress/destinations.toml")
_NOT_PUBLIC_4: list[tuple[IPv4Network, str]] = [
    (IPv4Network(net), meaning) for net, meaning in TABLE["not_public_4"].items()
]
_NOT_PUBLIC_6: list[tuple[IPv6Network, str]] = [
    (IPv6Network(net), meaning) for net, meaning in TABLE["not_public_6"].items()
]
_GLOBAL_6 = IPv6Network("2000::/3")
METADATA_ADDRESSES = frozenset(map(ip_address, TABLE["metadata"]["addresses"]))

_COMPATIBLE = IPv6Network("::/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
_LOW_32 = 0xFFFF_FFFF


def plain(address: IPAddress) -> IPAddress:
    """The address that a socket really goes to: a mapped IPv4 address unwrapped, no zone."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv6Address(int(address)) if address.scope_id else address


def parse_address(text: str) -> IPAddress:
    """An address from a resolver's answer.

    Raises:
        ValueError: it is not an IP address.
    """
    return plain(ip_address(text))


@lru_cache(maxsize=4096)
def refusal(address: IPAddress) -> str:
    """What kind of non-public address this is; empty for a public one.

    Addresses hidden inside are not looked at: see `embedded`.
    """
    if isinstance(address, IPv4Address):
        return next((why for network, why in _NOT_PUBLIC_4 if address in network), "")
    for network, why in _NOT_PUBLIC_6:
        if address in network:
            return why
    return "" if address in _GLOBAL_6 else "not a global unicast address"


@lru_cache(maxsize=4096)
def embedded(address: IPAddress) -> tuple[IPv4Address, ...]:
    """Every IPv4 address that this one carries inside."""
    if isinstance(address, IPv4Address):
        return ()
    value = int(address)
    found: list[IPv4Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    if any(address in network for network in (_TRANSLATED, _NAT64)):
        found.append(IPv4Address(value & _LOW_32))
    if address in _COMPATIBLE and value > 1:
        found.append(IPv4Address(value & _LOW_32))
    if address in _NAT64_LOCAL:
        found.extend(_nat64_local(value))
    if (value >> 32) & _LOW_32 in _ISATAP:
        found.append(IPv4Address(value & _LOW_32))
    return tuple(found)


def _nat64_local(value: int) -> list[IPv4Address]:
    # The length of the prefix in use is unknown, so each layout of RFC 6052 is read: /48,
    # /56 and /64 go around the zero octet "u" (bits 64 to 71), a /96 has the last 32 bits.
    layouts = (
        (value >> 64 & 0xFFFF) << 16 | value >> 40 & 0xFFFF,
        (value >> 64 & 0xFF) << 24 | value >> 32 & 0xFF_FFFF,
        value >> 24 & _LOW_32,
        value & _LOW_32,
    )
    # What starts with a zero octet is another layout's padding, and leads nowhere.
    return [IPv4Address(inner) for inner in dict.fromkeys(layouts) if inner >> 24]
