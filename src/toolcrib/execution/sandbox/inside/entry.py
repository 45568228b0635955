"""Runs inside the sandbox: the last step before a confined program.

It sets limits, Landlock and seccomp, and then becomes the program.

All was worked out before, so only calls are made in here, by files that import nothing but
what is built into the interpreter: this stands in the way of every run. They come to it
compiled, through a descriptor (see `plan`), and not by their places.
"""

from __future__ import annotations

import marshal
import posix
import sys

from toolcrib.execution.sandbox.inside.confinement import confine_and_exec
from toolcrib.execution.sandbox.inside.supervisor import supervise
from toolcrib.execution.sandbox.inside.syscalls import LaunchPlan, StepFailed, send_status


def main() -> None:
    """Follow the plan to the program, or report why not."""
    plan = read_plan(int(sys.argv[1]))
    status = plan["status"]
    try:
        if plan["supervised"]:
            code = supervise(plan, status)
        else:
            confine_and_exec(plan, status)
    except StepFailed as error:
        send_status(status, "F", str(error))
        code = 126
    except OSError as error:
        send_status(status, "F", f"{error.strerror or error} {error.filename or ''}".strip())
        code = 126
    posix._exit(code)  # noqa: SLF001


def read_plan(fd: int) -> LaunchPlan:
    """The plan that the server wrote."""
    posix.lseek(fd, 0, 0)
    size = posix.fstat(fd).st_size
    data = posix.read(fd, size)
    while len(data) < size:
        data += posix.read(fd, size - len(data))
    posix.close(fd)
    plan: LaunchPlan = marshal.loads(data)  # noqa: S302 - written by the server
    return plan


main()
