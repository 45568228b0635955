"""The seccomp programs of both processors decide alike, call by call."""

from __future__ import annotations

import struct
from itertools import product

from toolcrib.execution.sandbox.seccomp import (
    ALLOW,
    ARCHITECTURES,
    CALLS,
    KILL,
    NO_SOCKETS,
    SOCKETS,
    TCP_SOCKETS,
    X32,
    program,
)

SAMPLES = (
    *(0, 1, 2, 3, 4, 5, 10, 16, 17, 64, 65, 1024, 1026, 1 << 16, (1 << 16) + 1, 1 << 32),
    *(0o100, 0o6755, 0o20644, 0o60644, 0x10000000, 0x7E020080, 0x5412, 0x541C, 0x40806685),
    0xFFFFFFFF,
)


def decision(filter_: bytes, number: int, architecture: int, arguments: list[int]) -> int:
    """What the kernel would answer: its machine for these programs, as far as they use it."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments)
    lines = list(struct.iter_unpack("<HBBI", filter_))
    value = at = 0
    while True:
        code, if_true, if_false, k = lines[at]
        at += 1
        if code == 0x06:
            return int(k)
        if code == 0x20:
            value = struct.unpack_from("<I", data, k)[0]
        elif code == 0x54:
            value &= k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += if_true if holds else if_false


def test_without_a_network_of_its_own_nothing_goes_around_landlock() -> None:
    for machine, (code, numbers) in ARCHITECTURES.items():
        shared, own = (program(machine, s, alone=a) for s, a in ((TCP_SOCKETS, 0), (SOCKETS, 1)))
        for name, at in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3), ("listen", 5)):
            arguments = [0] * 6
            arguments[at] = 0x20000000 | 0x4000
            assert decision(shared, numbers[name], code, arguments) == 0x00050001, name
            assert decision(own, numbers[name], code, arguments) == ALLOW
            arguments[at] = 0x4000
            if name != "listen":
                assert decision(shared, numbers[name], code, arguments) == ALLOW


def test_both_processors_have_the_same_rules() -> None:
    differing = set()
    (code_x, numbers_x), (code_a, numbers_a) = ARCHITECTURES.values()
    shared = sorted(numbers_x.keys() & numbers_a.keys())
    assert len(shared) > 90
    by_arguments = CALLS["checked"] | CALLS["shared"]
    for sockets, alone in ((SOCKETS, True), (NO_SOCKETS, False), (TCP_SOCKETS, False)):
        for_x, for_a = (program(m, sockets, alone=alone) for m in ARCHITECTURES)
        tries = product(shared, SAMPLES, (0, 1, 2, 4))
        for name, sample, at in (one for one in tries if one[0] in by_arguments or one[1] == 0):
            arguments = [1] * 6
            arguments[at] = sample
            answers = (
                decision(for_x, numbers_x[name], code_x, arguments),
                decision(for_a, numbers_a[name], code_a, arguments),
            )
            if answers[0] != answers[1]:
                differing.add(name)
    assert not differing


def test_calls_of_another_processor_and_unknown_ones_are_not_made() -> None:
    for machine, (code, _) in ARCHITECTURES.items():
        filter_ = program(machine, SOCKETS, alone=True)
        assert decision(filter_, 1, 0x40000003, [0] * 6) == KILL
        assert decision(filter_, 999, code, [0] * 6) not in (ALLOW, KILL)
        # getpid, which nothing refuses
        assert decision(filter_, {"x86_64": 39, "aarch64": 172}[machine], code, [0] * 6) == ALLOW
    x86 = program("x86_64", SOCKETS, alone=True)
    assert decision(x86, X32 | 39, ARCHITECTURES["x86_64"][0], [0] * 6) == KILL
