"""The table and the machine code as a program of the kernel's format (ELF)."""

from __future__ import annotations

import struct

from toolcrib.execution.sandbox.launcher.steps import BASE

MACHINES = {"x86_64": 62, "aarch64": 183}
# What `as` and `objcopy` make of x86_64.S and aarch64.S; a test does it again.
X86_64 = (
    "bb00025000488d6b08488b4500488b7d08488b7510488b55184c8b55204c8b45284c8b4d30"
    "0f05483d01f0ffff7306488b6d38ebd4f7d88903488b6d40ebca"
)
AARCH64 = (
    "134080d2130aa0f274220091880240a9810a41a9831242a9851a40f9010000d41ffc3fb1"
    "62000054941e40f9f8ffff17e003004b600200b9942240f9f4ffff17"
)
CODE = {"x86_64": bytes.fromhex(X86_64), "aarch64": bytes.fromhex(AARCH64)}
HEADER = struct.Struct("<16s2HI3QI6H")
SEGMENT = struct.Struct("<2I6Q")
IDENTITY = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
LOADED, STACK = 1, 0x6474E551
EXECUTE, WRITE, READ = 1, 2, 4
START, BEGIN = 0x400000, 0x100
"""Where the program is in memory, and where in it the code begins."""
TABLE = BASE & 0xFFFF
"""Where in the file the table begins: on each page size it must be at the same place of a page."""
PAGE = 0x10000


def program(table: bytes, machine: str) -> bytes:
    """A file to execute.

    Raises:
        KeyError: there is no code for this machine.
    """
    entry, sizes = START + BEGIN, (HEADER.size, SEGMENT.size, 3, 0, 0, 0)
    head = HEADER.pack(IDENTITY, 2, MACHINES[machine], 1, entry, HEADER.size, 0, 0, *sizes)
    size = len(table)
    head += SEGMENT.pack(LOADED, READ | EXECUTE, 0, START, START, TABLE, TABLE, PAGE)
    head += SEGMENT.pack(LOADED, READ | WRITE, TABLE, BASE, BASE, size, size, PAGE)
    head += SEGMENT.pack(STACK, READ | WRITE, 0, 0, 0, 0, 0, 16)
    return (head.ljust(BEGIN, b"\0") + CODE[machine]).ljust(TABLE, b"\0") + table
