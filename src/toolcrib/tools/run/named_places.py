"""Hints on places that the output of a run names: protected ones, and those beneath its home."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.execution.runs.outcome import RunResult
from toolcrib.execution.sandbox.layout import HOME
from toolcrib.execution.toolchains import home
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.text.display import printable, some_of

MAX_LINES = 50
MAX_LINE_CHARS = 500
MAX_NAMED = 3
DENIED = "permission denied"
QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
CHANGED_IN_GIT = re.compile(r"\s*modified:\s+(.+)|[ MADRC][MT] (.+)")
"""How `git status` shows a file that it takes for changed."""
GONE = "No such file"
AT_HOME = re.compile(rf"{re.escape(HOME)}(?:/[^\s:'\"]+)+")


def place_hints(
    ctx: Ctx, ran: RunResult, output: str, folder: SafePath, *, git: bool = False
) -> Iterator[str]:
    """What is to be known of the places that a run could not read. It looks at the disk.

    Args:
        ctx: the call.
        ran: how it ended.
        output: the end of what it wrote.
        folder: where it began.
        git: whether the program git was among its commands.
    """
    if ran.level != "strong":
        return  # nothing is hidden, and no home is made
    lines = [line[:MAX_LINE_CHARS] for line in output.splitlines()[-MAX_LINES:]]
    refused = [line for line in lines if DENIED in line.lower()]
    if names := _protected(ctx, folder, _words(refused)):
        listed = some_of(names, MAX_NAMED)
        yield f"protected from runs: {listed}; the user can change that{_but(names) * git}"
    elif git:
        matches = filter(None, map(CHANGED_IN_GIT.match, lines))
        found = (next(filter(None, match.groups())).strip('"') for match in matches)
        if names := _protected(ctx, folder, found):
            listed = some_of(names, MAX_NAMED)
            yield f"git cannot tell whether these changed, as runs cannot read them: {listed}"
    for line in lines:
        if place := _meant_at_home(ctx, line, folder):
            yield f"~ is another folder in runs: write {printable(place)}"
            return


def _words(lines: Iterable[str]) -> Iterator[str]:
    """What may be the path in a message, as programs write it: quoted, or between colons."""
    for line in lines:
        yield from (match[1] or match[2] for match in QUOTED.finditer(line))
        for part in line.split(": "):
            yield from (part.strip(), part.rpartition(" ")[2])


def _protected(ctx: Ctx, folder: SafePath, words: Iterable[str]) -> list[str]:
    """Those that name something here that no run reads."""
    found = []
    for word in dict.fromkeys(filter(None, words)):
        try:
            place = ctx.use(Workspace).resolve(word, folder.absolute)
        except ToolError:
            continue
        if place.gate.pattern(place, "read"):
            found.append(word)
    return found


def _but(names: list[str]) -> str:
    """How git leaves them out: it names them from the top of the repository."""
    but = " ".join(shlex.quote(f":/!{name}") for name in names[:MAX_NAMED])
    return f"; leave it out, as in git add -A -- {printable(but)}"


def _meant_at_home(ctx: Ctx, line: str, folder: SafePath) -> str:
    """The place of the workspace that was written with ~, which runs have for themselves."""
    gone = AT_HOME.search(line)
    if gone is None or GONE not in line:
        return ""
    place = ctx.use(Workspace).find(f"{home()}{gone[0].removeprefix(HOME)}")
    if place is None or not os.path.lexists(place.absolute):
        return ""
    return os.path.relpath(place.absolute, folder.absolute)
