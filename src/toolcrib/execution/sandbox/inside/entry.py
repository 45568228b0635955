"""The last step before a confined program: limits, Landlock, seccomp, and then the program.

All was worked out before, so only calls are made in here, by files that import nothing but
what is built into the interpreter: this stands in the way of every run. They come to it
compiled, through a descriptor (see `plan`), and not by their places.
"""

from __future__ import annotations

import marshal
import posix
import sys

from toolcrib.execution.sandbox.inside.confinement import run
from toolcrib.execution.sandbox.inside.supervisor import stage
from toolcrib.execution.sandbox.inside.syscalls import Plan, Refused, tell


def main() -> None:
    """Do it."""
    plan = read_plan(int(sys.argv[1]))
    status = plan["status"]
    try:
        if plan["stage"]:
            code = stage(plan, status)
        else:
            run(plan, status)
    except Refused as error:
        tell(status, "F", str(error))
        code = 126
    except OSError as error:
        tell(status, "F", f"{error.strerror or error} {error.filename or ''}".strip())
        code = 126
    posix._exit(code)  # noqa: SLF001


def read_plan(fd: int) -> Plan:
    """What to do."""
    posix.lseek(fd, 0, 0)
    size = posix.fstat(fd).st_size
    data = posix.read(fd, size)
    while len(data) < size:
        data += posix.read(fd, size - len(data))
    posix.close(fd)
    plan: Plan = marshal.loads(data)  # noqa: S302 - written by the server
    return plan


main()
