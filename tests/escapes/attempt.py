"""What one attempt is, and how its program is put together."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Language = Literal["python", "javascript", "shell"]

PYTHON = """
import ctypes, errno, mmap, os, signal, socket, struct, subprocess, sys, time
T = {k[2:]: v for k, v in os.environ.items() if k.startswith("T_")}
F = T.get("F", "")
libc = ctypes.CDLL(None, use_errno=True)
def sc(number, *a):
    done = libc.syscall(
        ctypes.c_long(number), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a]
    )
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
def say(x):
    sys.stdout.write(x if isinstance(x, str) else bytes(x).decode("latin-1"))
    sys.stdout.flush()
def hold(seconds=0.4):
    time.sleep(seconds)
def main():
BODY
try:
    main()
except BaseException as error:
    code = errno.errorcode.get(getattr(error, "errno", None), "")
    say("refused: %s %s" % (type(error).__name__, code))
"""
JAVASCRIPT = """
const T = Object.fromEntries(
  Object.entries(process.env).filter(([k]) => k.startsWith("T_")).map(([k, v]) => [k.slice(2), v]));
const F = T.F, fs = require("fs"), say = x => process.stdout.write(String(x));
process.on("uncaughtException", e => {
  say("refused: " + (e.code || e.message)); process.exit(0); });
(async () => {
BODY
})().catch(e => say("refused: " + (e.code || e.message)));
"""


@dataclass(frozen=True, slots=True)
class Twin:
    """What must work in the same sandbox: a program that ends with `ok`, or a place.

    With a place, the attempt's own program is pointed at it (`T_F`) in place of its target.
    """

    place: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Attributes:
        id, title: its name, and what it does in a few words.
        body: of the program, in its language. What it needs to know comes in `T_…`.
        twin: the benign use of the same mechanism.
        target: which place of the world `T_F` names.
        victim: whether another program must be there, that holds a secret.
        held: a descriptor that must not be seen open in it: a regular expression for its
            link, and whether it must be open for writing.
        sees: what else is looked for while it runs: "mount", "root", "uid".
        limits: of the run, smaller than usual.
        over: what it must not reach, by the name in `watcher.Seen`.
        alone: whether it is run while nothing else does.
        seconds: how long it may take.
        terminal: whether it is run in one.
        machine: the only processor that it is for; "" for any.
        background: whether it is run as a job on the files themselves.
        leaves: a name in the workspace that must not be there, or be as it was, afterwards.
    """

    id: str
    title: str
    language: Language
    body: str
    twin: Twin
    target: str = ""
    victim: bool = False
    held: tuple[str, bool] | None = None
    sees: frozenset[str] = frozenset()
    limits: Mapping[str, float] = field(default_factory=dict)
    over: Mapping[str, float] = field(default_factory=dict)
    alone: bool = False
    seconds: float = 12.0
    terminal: bool = False
    machine: str = ""
    background: bool = False
    leaves: str = ""


def command(language: Language, body: str, token: str, python: str = "") -> list[str]:
    """The words that run a program; the token is among them, so that it can be found."""
    body = textwrap.dedent(body).strip("\n")
    if language == "python":
        # Anything longer than an argument may be would not start.
        code = PYTHON.replace("BODY", textwrap.indent(body, "    "))
        return [python or sys.executable, "-S", "-B", "-c", code, token]
    if language == "javascript":
        return ["node", "-e", JAVASCRIPT.replace("BODY", body), token]
    return ["/bin/bash", "-c", body, token]
