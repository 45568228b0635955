"""What is known to get out, by level: the data of the gate. A new name there fails the tests."""

from __future__ import annotations

import os

from toolcrib.execution.sandbox import resources

INSIDE = "Landlock cannot take a name out of a folder that it allows"
OWNER = "Landlock does not know of modes, times and attributes, and who runs it owns the file"
MEMORY = "/dev/shm is needed by locks of multiprocessing, and has no namespace of its own"

BURST = "before Linux 6.14 nothing refuses a process to root, and the watch comes after a burst"
OLD = os.getuid() == 0 and not resources.has_own_pid_max()

WATCHES = "Landlock does not know of watches on folders that the user may read"
LATER = "in a folder that is bound nothing can be covered, so it is found afterwards"
FURTHER_GAPS: dict[str, dict[str, str]] = {
    "strong": {},
    "kernel": {
        **{f"AI{number:02}": INSIDE for number in range(1, 15)},
        "AL33": LATER,
        "AL37": LATER,
        **{f"BM{number:02}": INSIDE for number in range(2, 10)},
        "BC02": OWNER,
        "BC03": LATER,
        "BC04": LATER,
        "BC05": OWNER,
        "BO11": WATCHES,
    },
}
"""Those of the second round and the third."""

GAPS: dict[str, dict[str, str]] = {
    "strong": dict.fromkeys(("F10", "F11"), BURST) if OLD else {},
    "kernel": {
        **(dict.fromkeys(("F10", "F11"), BURST) if OLD else {}),
        "R31": INSIDE,
        "R32": INSIDE,
        "R33": INSIDE,
        "R34": INSIDE,
        "J18": INSIDE,
        "W06": OWNER,
        "W07": OWNER,
        "W08": OWNER,
        "L13": MEMORY,
        "F04": MEMORY,
    },
}
"""The attempt, and why it is not stopped there."""
