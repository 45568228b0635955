"""Which addresses are public. Facts only: nothing here knows what a user allowed.

IPv4 is public unless listed; IPv6 is public only inside 2000::/3 and unless listed.
An address that carries another one inside (mapped, NAT64, 6to4, Teredo, ISATAP …)
is judged by both, since what arrives may be the inner one.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    (IPv4Network(network), meaning)
    for network, meaning in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's shared network"),
        ("127.0.0.0/8", "this machine"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "a protocol assignment"),
        ("192.0.2.0/24", "a documentation network"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "a benchmark network"),
        ("198.51.100.0/24", "a documentation network"),
        ("203.0.113.0/24", "a documentation network"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)

_GLOBAL_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    (IPv6Network(network), meaning)
    for network, meaning in (
        ("::/128", "this machine"),
        ("::1/128", "this machine"),
        ("::ffff:0:0:0/96", "a translated IPv4 address"),
        ("::/96", "an IPv4-compatible address"),
        ("64:ff9b::/96", "a NAT64 address"),
        ("64:ff9b:1::/48", "a local NAT64 address"),
        ("100::/64", "a discard address"),
        ("2001::/32", "a Teredo address"),
        ("2001::/23", "a protocol assignment"),
        ("2001:db8::/32", "a documentation network"),
        ("2002::/16", "a 6to4 address"),
        ("2620:4f:8000::/48", "an AS112 address"),
        ("3fff::/20", "a documentation network"),
        ("5f00::/16", "a segment routing address"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)

METADATA_ADDRESSES = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, OpenStack, DigitalOcean …
        "169.254.169.253",  # AWS name server
        "169.254.170.2",  # AWS container credentials
        "169.254.170.23",  # AWS pod identity
        "169.254.0.23",  # Tencent
        "169.254.42.42",  # Scaleway
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle
        "168.63.129.16",  # Azure's host, in the public range
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS pod identity
        "fd20:ce::254",  # Google
        "fd00:42::42",  # Scaleway
        "fe80::a9fe:a9fe",  # OpenStack
    )
)

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
