"""The classifier: the non-public space is refused whole, and nothing public with it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ssrfguard import DEFAULT_DENIED
from ssrfguard import Policy as Oracle

from tests.cases import each_case
from toolcrib.core.errors import Blocked
from toolcrib.net.egress.addresses import embedded, parse_address, refusal
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.url import parse_url

NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255
127.0.0.1 127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255
192.0.0.1 192.0.0.8 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 168.63.129.16
:: ::1 ::2 ::127.0.0.1 ::10.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::808:808 64:ff9b:1:7f00:0:100::
64:ff9b:1::a00:1 100::1 2001::1 2001:0:7f00:1::1 2001:10::1 2001:20::1 2001:db8::1
2002:7f00:1:: 2002:a00:1::1 2002:c0a8:1::1 2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 4000::1
5f00::1 fc00::1 fd00::1 fd00:ec2::254 fd20:ce::254 fdff:ffff::1 fe80::1 fe80::a9fe:a9fe
fec0::1 feff::1 ff02::1 ff0e::1 ffff::1
2606:4700:1:2:0:5efe:127.0.0.1 2606:4700:1:2:200:5efe:10.0.0.1
""".split()  # noqa: SIM905

PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 93.184.215.14 100.63.255.255 100.128.0.1 126.255.255.255
128.0.0.1 172.15.255.255 172.32.0.1 192.1.0.1 198.17.255.255 198.20.0.1 223.255.255.255
::ffff:8.8.8.8 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4009:80b::200e
2400:cb00:2048:1::c629:d7a2 2606:4700:1:2:0:5efe:8.8.8.8
""".split()  # noqa: SIM905


def allowed(text: str) -> bool:
    target = parse_url("http://name.test/")
    try:
        EgressPolicy().check_address(target, ip_address(text))
    except Blocked as error:
        assert error.stable_code == "blocked_address"
        return False
    return True


@pytest.mark.rows("X4", "X6", "X14", "D16", "D17", "E132")
@each_case("text", NOT_PUBLIC)
def test_refuses_what_is_not_public(text: str) -> None:
    assert not allowed(text)


@each_case("text", PUBLIC)
def test_lets_the_public_through(text: str) -> None:
    assert allowed(text)


@each_case(
    ("text", "inner"),
    [
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("::10.1.2.3", "10.1.2.3"),
        ("::ffff:0:10.1.2.3", "10.1.2.3"),
        ("64:ff9b::10.1.2.3", "10.1.2.3"),
        ("64:ff9b:1:a01:2:300::", "10.1.2.3"),
        ("64:ff9b:1::10.1.2.3", "10.1.2.3"),
        ("2002:a01:203::1", "10.1.2.3"),
        ("2001:0:a01:203::1", "10.1.2.3"),
        ("2606::5efe:10.1.2.3", "10.1.2.3"),
    ],
)
def test_finds_the_address_inside(text: str, inner: str) -> None:
    assert ip_address(inner) in embedded(ip_address(text))


@given(st.ip_addresses(v=4))
def test_every_transition_form_of_a_refused_address_is_refused(inner: IPv4Address) -> None:
    value = int(inner)
    forms = [
        IPv6Address(value),
        IPv6Address(0xFFFF << 32 | value),
        IPv6Address(0xFFFF << 48 | value),
        IPv6Address(0x64FF9B << 96 | value),
        IPv6Address(0x2002 << 112 | value << 80 | 1),
        IPv6Address(0x26064700 << 96 | 0x5EFE << 32 | value),
        IPv6Address(0x26064700 << 96 | 0x02005EFE << 32 | value),
    ]
    if refusal(inner):
        assert not any(allowed(str(form)) for form in forms)


EDGES = [
    address
    for block in DEFAULT_DENIED.blocks
    for address in (block.network.network_address, block.network.broadcast_address)
]


@given(
    st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6), st.sampled_from(EDGES)),
    st.integers(-1, 1),
)
def test_lets_nothing_through_that_another_guard_refuses(
    near: IPv4Address | IPv6Address, step: int
) -> None:
    try:
        address = near + step
    except ValueError:
        return
    if allowed(str(address)):
        assert Oracle().permits_address(address)


@given(st.ip_addresses(v=6))
def test_ipv6_outside_the_global_space_is_never_public(address: IPv6Address) -> None:
    if int(address) >> 125 != 1:
        assert refusal(address)


def test_a_zone_does_not_hide_an_address() -> None:
    assert refusal(parse_address("fe80::1%eth0"))
    assert str(parse_address("fe80::1%eth0")) == "fe80::1"
