"""Figures as bytes: what the learned tables look at has to fit into one."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

_LOG, _SIGNED_LOG = 22, 11.4
_LAST = [int(exp((code + 0.5) / _LOG) - 1) for code in range(256)]
LOGS = b"".join(
    bytes([code]) * (after - before) for code, (before, after) in enumerate(pairwise([-1, *_LAST]))
)
"""By number, its logarithm as a byte; small numbers stay apart."""
LIMIT = len(LOGS)
_REACH = 4096
SIGNED = [
    128 + round(_SIGNED_LOG * log(1 + abs(number))) * (1 if number > 0 else -1)
    for number in [*range(_REACH), *range(-_REACH, 0)]
]
"""By number, which may be negative, its logarithm with its sign."""
CLIPPED = [128 + max(-128, min(127, number)) for number in [*range(_REACH), *range(-_REACH, 0)]]
"""By number, which may be negative, itself within a byte."""
SHARE = 250
"""What stands for all of something."""
ROOTS: list[int] = [round(255 * (number / 1000) ** 0.5) for number in range(1001)]
"""By thousandths, a chance as a byte, finer where chances are small."""


def log_code(number: int) -> int:
    """LOGS, also for numbers that the table does not have."""
    return LOGS[number] if number < LIMIT else 255


def signed_code(number: int) -> int:
    """SIGNED, also for numbers that the table does not have."""
    if -_REACH <= number < _REACH:
        return SIGNED[number]
    return 255 if number > 0 else 0


def bit_columns(low: bytes, count: int) -> list[bytes]:
    """The lowest bits of bytes as columns of their own."""
    return [low.translate(table) for table in _BITS[:count]]


_BITS = [bytes(value >> bit & 1 for value in range(256)) for bit in range(8)]
