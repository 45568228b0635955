"""Confining a process step by step and becoming the program, as `inside.confining` does it."""

from __future__ import annotations

import os
import struct

from toolcrib.execution.sandbox.cgroups import ENTER
from toolcrib.execution.sandbox.launcher.program import CODE, program
from toolcrib.execution.sandbox.launcher.steps import Label, Steps
from toolcrib.execution.sandbox.plan import Plan

NUMBERS = {
    "x86_64": {
        "close": 3,
        "ioctl": 16,
        "writev": 20,
        "execve": 59,
        "fcntl": 72,
        "chdir": 80,
        "umask": 95,
        "setsid": 112,
        "setpriority": 141,
        "prctl": 157,
        "exit_group": 231,
        "openat": 257,
        "faccessat": 269,
        "dup3": 292,
        "prlimit64": 302,
        "seccomp": 317,
    },
    "aarch64": {
        "close": 57,
        "ioctl": 29,
        "writev": 66,
        "execve": 221,
        "fcntl": 25,
        "chdir": 49,
        "umask": 166,
        "setsid": 157,
        "setpriority": 140,
        "prctl": 167,
        "exit_group": 94,
        "openat": 56,
        "faccessat": 48,
        "dup3": 24,
        "prlimit64": 261,
        "seccomp": 277,
    },
}
EVERYWHERE = {"close_range": 436, "create_ruleset": 444, "add_rule": 445, "restrict_self": 446}

HERE = -100
PATH_ONLY, FOLDER, CLOSED_BY_EXEC = 0x200000, {"x86_64": 0x10000, "aarch64": 0x4000}, 0x80000
EXISTS, RUNS, WRITE_ONLY = 0, 1, 1
SET_FLAGS, TAKE_TERMINAL, NO_NEW_PRIVS, FILTER = 2, 0x540E, 38, 1
UNDER_PATH, OF_PORT = 1, 2
STATUS, RULESET, RULE = 3, 4, 5
SETTINGS, SETTING = 4, 5
"""Descriptors: all others are closed, so that the next one opened has the next number."""
LAST = 0xFFFFFFFF
CANNOT, MISSING = 126, 127


def knows(machine: str) -> bool:
    """Whether there is code for a machine."""
    return machine in CODE


def image(plan: Plan, machine: str) -> bytes:
    """A program that does what a plan says, which has no stage and no relay."""
    return program(_Writer(plan, machine).table(), machine)


class _Writer:
    """Writes the steps of one plan."""

    def __init__(self, plan: Plan, machine: str) -> None:
        self._plan = plan
        self._numbers = NUMBERS[machine] | EVERYWHERE
        self._folder = FOLDER[machine]
        self._steps = Steps()
        self._ends: dict[bytes, Label] = {}

    def table(self) -> bytes:
        """All of it, in the order in which it happens."""
        plan = self._plan
        if plan.group >= 0:
            # The watchdog looks at all runs, also at one that could not enter.
            self._any("writev", plan.group, self._steps.parts((self._steps.data(ENTER), 1)), 1)
        self._keep_only_status()
        if plan.settings >= 0:
            self._end_numbers(plan.highest)
        if plan.terminal:
            self._any("setsid")  # it may lead its session already
            self._must("terminal", "ioctl", 0, TAKE_TERMINAL, 0)
        self._any("umask", 0o022)
        self._call("chdir", self._steps.text(plan.cwd), failed=self._end(b"D"))
        if plan.nice:
            self._any("setpriority", 0, 0, min(os.nice(0) + plan.nice, 19))
        for which, soft, hard in plan.limits:
            pair = self._steps.data(struct.pack("<2Q", soft, hard))
            self._must("limit", "prlimit64", 0, which, pair, 0)
        self._must("no new privileges", "prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
        if plan.landlock:
            self._landlock(*plan.landlock)
        if plan.filter:
            self._seccomp(plan.filter)
        self._become()
        for message, label in self._ends.items():
            self._steps.place(label)
            self._write(message + b"\0", with_error=True)
            self._call("exit_group", CANNOT)
        return self._steps.packed()

    def _call(
        self, name: str, *arguments: int, done: Label | None = None, failed: Label | None = None
    ) -> None:
        self._steps.call(self._numbers[name], *arguments, done=done, failed=failed)

    def _any(self, name: str, *arguments: int) -> None:
        """A call that may fail."""
        self._call(name, *arguments)

    def _must(self, what: str, name: str, *arguments: int) -> None:
        """A call without which nothing is run."""
        self._call(name, *arguments, failed=self._end(b"F" + os.fsencode(what)))

    def _end(self, message: bytes) -> Label:
        """Where something is told, with the last error, and then the end."""
        return self._ends.setdefault(message, Label())

    def _write(self, message: bytes, *, with_error: bool) -> None:
        """Tell the server, and the last error number with it."""
        parts = [(self._steps.data(message), len(message))]
        parts += [(self._steps.error, 4)] * with_error
        self._any("writev", STATUS, self._steps.parts(*parts), len(parts))

    def _keep_only_status(self) -> None:
        if self._plan.status != STATUS:
            self._must("status", "dup3", self._plan.status, STATUS, 0)
        self._must("status", "fcntl", STATUS, SET_FLAGS, 1)  # closed by the program's begin
        first = STATUS + 1
        if self._plan.settings >= 0:
            self._must("settings", "dup3", self._plan.settings, SETTINGS, CLOSED_BY_EXEC)
            first = SETTINGS + 1
        self._must("descriptors", "close_range", first, LAST, 0)

    def _end_numbers(self, highest: bytes) -> None:
        """Let the processes of the namespace have no higher number."""
        name = self._steps.text("pid_max")
        self._any("openat", SETTINGS, name, WRITE_ONLY | CLOSED_BY_EXEC, 0)
        self._any(
            "writev", SETTING, self._steps.parts((self._steps.data(highest), len(highest))), 1
        )
        self._any("close", SETTING)
        self._any("close", SETTINGS)

    def _landlock(
        self, attributes: bytes, paths: list[tuple[str, int]], ports: list[tuple[int, int]]
    ) -> None:
        where = self._steps.data(attributes)
        self._must("Landlock", "create_ruleset", where, len(attributes), 0)
        for path, access in paths:
            absent = Label()
            name = self._steps.text(path)
            self._call("openat", HERE, name, PATH_ONLY | CLOSED_BY_EXEC, 0, failed=absent)
            rule = self._steps.data(struct.pack("<QI", access, RULE))
            self._must(f"Landlock for {path}", "add_rule", RULESET, UNDER_PATH, rule, 0)
            self._any("close", RULE)
            self._steps.place(absent)
        for port, access in ports:
            rule = self._steps.data(struct.pack("<2Q", access, port))
            self._must("Landlock for a port", "add_rule", RULESET, OF_PORT, rule, 0)
        self._must("Landlock", "restrict_self", RULESET, 0)
        self._any("close", RULESET)

    def _seccomp(self, lines: bytes) -> None:
        where = self._steps.data(lines)
        whole = self._steps.data(struct.pack("<2Q", len(lines) // 8, where))
        self._must("seccomp", "seccomp", FILTER, 0, whole)

    def _become(self) -> None:
        """Take the first program of the name that can be run."""
        plan = self._plan
        name = plan.argv[0]
        arguments = self._steps.texts(plan.argv)
        variables = self._steps.texts([f"{key}={value}" for key, value in plan.env.items()])
        if "/" in name:
            places, wanted = [name], EXISTS
        else:
            folders = plan.env.get("PATH", "").split(":")
            places, wanted = [f"{folder or '.'}/{name}" for folder in folders], RUNS
        for place in places:
            other = Label()
            path = self._steps.text(place)
            self._call("faccessat", HERE, path, wanted, failed=other)
            if wanted == RUNS:
                # Folders may be run too, in the eyes of the system.
                found = Label()
                how = PATH_ONLY | self._folder | CLOSED_BY_EXEC
                self._call("openat", HERE, path, how, 0, done=other, failed=found)
                self._steps.place(found)
            self._write(b"R", with_error=False)
            wrong = self._end(b"X" + os.fsencode(place))
            self._call("execve", path, arguments, variables, failed=wrong)
            self._steps.place(other)
        self._write(b"M", with_error=False)
        self._call("exit_group", MISSING)
