"""ripgrep: it names files and counts lines; nothing that it read is ever displayed.

It runs without any configuration of its own, with memory and time bounded. Asking for the
size of each file costs a quarter of a search, so the first attempt does not ask: it is bounded
more tightly, and where it fails the second one leaves large files alone. Asked to, it names each
file that it searched, also those without a line that fits: what is not among them was left out.
That takes as long again as a search, so in large trees `search` asks now and then. Names and counts
of what is protected are taken away from what it says: by `search`, which looks at each name
again, through checked paths. The usual protected names are not even opened.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from toolcrib.files.path_rules import GENERATED_FOLDERS, WINDOWS
from toolcrib.files.path_rules import PathPattern as Name
from toolcrib.files.paths import Workspace
from toolcrib.files.search.hits import BLOCK_BYTES
from toolcrib.files.search.pattern import Pattern
from toolcrib.files.search.scope import SKIPPED, SearchScope, is_open
from toolcrib.files.trees import walk_folders
from toolcrib.system.processes import Processes
from toolcrib.system.threads import in_thread

OLDEST_RIPGREP = 14
MEMORY_KB = 4 << 20
MAX_OUTPUT_BYTES = 64_000_000
THREADS = 8
SHELL = "/bin/sh"
OUTPUT_PAUSE_SECONDS = 0.005
"""Seconds in which its output gathers: it writes a line for each file."""
_RECORD = re.compile(r"(?:\./)?([^\0]+)\0([0-9]+)\n")
_LIMITED = f'ulimit -v {MEMORY_KB} 2>/dev/null; exec "$@"'
FIRST_KB, FIRST_SECONDS = 1 << 20, 3
"""Memory, and seconds of a processor, for an attempt that reads files of any size."""
_FIRST = f'ulimit -v {FIRST_KB} 2>/dev/null; ulimit -t {FIRST_SECONDS}; exec "$@"'
_SETTINGS = (
    *("--no-config", "--color=never", "--no-messages", "--hidden", "--no-ignore-dot"),
    *("--no-ignore-global", "--no-ignore-exclude", "--no-ignore-parent", "--no-require-git"),
    *("--no-mmap", "--count", "--with-filename", "--null"),
)
_HIDDEN = frozenset([".config", ".local", ".npm", ".cargo", ".rustup", ".vscode", ".idea", ".yarn"])
"""Hidden folders that are often there and large, beside those of `GENERATED_FOLDERS`."""

NOT_UTF8 = Pattern(
    "",
    rust=(
        r"(?-u:[\xC0\xC1\xF5-\xFF]|(?:^|[\x01-\x09\x0B-\x7F])[\x80-\xBF]"
        r"|[\xC2-\xF4](?:$|[\x01-\x09\x0B-\x7F\xC0-\xFF])|[\xC2-\xDF][\x80-\xBF]{2}"
        r"|[\xE0-\xEF][\x80-\xBF](?:$|[\x01-\x09\x0B-\x7F\xC0-\xFF])|[\xE0-\xEF][\x80-\xBF]{3}"
        r"|[\xF0-\xF4][\x80-\xBF]{1,2}(?:$|[\x01-\x09\x0B-\x7F\xC0-\xFF])|[\xF0-\xF4][\x80-\xBF]{4}"
        r"|\x1B)"
    ),
)
"""Fits lines that are not UTF-8, and those with an escape, as of ISO-2022-JP."""

PROGRAM = "rg.exe" if WINDOWS else "rg"


@dataclass(frozen=True, slots=True)
class RipgrepCounts:
    """What it said: files with the number of their lines that fit; `ended` within its time.

    `searched`: all files that it read to their end, and some that are not wanted; None where it
    was not asked. Larger ones than `max_bytes` were left alone.
    """

    files: list[tuple[str, int]]
    ended: bool
    searched: frozenset[str] | None
    max_bytes: int | None


async def find_program(workspace: Workspace, processes: Processes) -> str:
    """Where ripgrep is: on PATH, else beside this Python; "" for nowhere.

    A place inside the workspace does not count: what lies there may be anybody's. Nor does
    a version that a `.rgignore` file in the workspace can configure.
    """
    for place in _places(workspace):
        ran = await processes.run([place, "--version"], cwd="/", timeout=5, passed_on=())
        found = re.match(r"ripgrep (\d+)\.", str(ran.stdout))
        if not ran.exit_code and found and int(found[1]) >= OLDEST_RIPGREP:
            return place
    return ""


def _places(workspace: Workspace) -> list[str]:
    folders = (*workspace.search_path(), str(Path(sys.executable).parent))
    return [
        place
        for place in dict.fromkeys(f"{folder}/{PROGRAM}" for folder in folders)
        if os.path.isfile(place) and os.access(place, os.X_OK) and workspace.is_outside(place)  # noqa: PTH113
    ]


def can_serve(scope: SearchScope, pattern: Pattern) -> bool:
    """Whether it can do exactly what is asked for."""
    has_shell = not WINDOWS and Path(SHELL).exists()
    return pattern.rust is not None and not scope.named and has_shell


async def ripgrep_counts(
    program: str,
    scope: SearchScope,
    pattern: Pattern,
    processes: Processes,
    seconds: float,
    *,
    sized: bool,
    each: bool = True,
) -> RipgrepCounts | None:
    """The files beneath a folder with lines that fit; None where it failed.

    The names may be some more than are wanted; see the module.

    Args:
        program: where it is.
        scope: where to search.
        pattern: what for.
        processes: starts it.
        seconds: its time.
        sized: leave large files unread. Without it, memory and time are short.
        each: name all files that were searched.
    """
    shut = await in_thread(lambda _: [*_shut(scope), *([".*/"] if _has_others(scope) else [])])
    assert pattern.rust is not None
    above = "\n".join(map(str, scope.above)).encode("utf-8", "replace")
    argv = [
        *(SHELL, "-c", _LIMITED if sized else _FIRST, "rg", program, *_SETTINGS),
        *((f"--max-filesize={BLOCK_BYTES}",) if sized else ()),
        *(("--include-zero",) if each else ()),
        f"--threads={min(THREADS, os.cpu_count() or 1)}",
        *(f"--glob=!{glob}" for glob in shut),
        *_types(scope),
        *(("--ignore-file=/dev/stdin",) if above else ()),
        "--ignore-case" if pattern.ignore_case else "--case-sensitive",
        *("-e", pattern.rust, "--", "./"),
    ]
    ran = await processes.run(
        argv,
        cwd=scope.real,
        stdin=above or None,
        timeout=seconds,
        max_output=MAX_OUTPUT_BYTES,
        passed_on=(),
        gather=OUTPUT_PAUSE_SECONDS,
    )
    if not ran.timed_out and (ran.exit_code not in (0, 1, 2) or ran.stderr.size):
        return None
    records = _RECORD.findall(os.fsdecode(bytes(ran.stdout)))
    files = [(name, int(number)) for name, number in records if number != "0"]
    return RipgrepCounts(
        _wanted(files),
        ended=not ran.timed_out and not ran.stdout.dropped,
        searched=frozenset(name for name, _ in records) if each else None,
        max_bytes=BLOCK_BYTES if sized else None,
    )


def _types(scope: SearchScope) -> list[str]:
    """The wanted globs as a file type, which narrows and does not overrule .gitignore."""
    lasts = {glob.rstrip("/").rpartition("/")[2] for glob in scope.globs.wanted}
    if not lasts or any(not last or last == "**" or "{" in last for last in lasts):
        return []
    if any(g.endswith("/") or ("/" in g and not _has_star(g)) for g in scope.globs.wanted):
        return []  # it names a folder, perhaps
    added = [f"--type-add=wanted:{_any_case(last)}" for last in sorted(lasts)]
    return [*added, "--type=wanted"]


def _has_star(glob: str) -> bool:
    return "*" in glob.rpartition("/")[2]


def _any_case(glob: str) -> str:
    """A glob in which case does not matter; what cannot be said so is any character."""
    out, inside = [], False
    for char in glob:
        inside = (inside or char == "[") and char != "]"
        if inside or char in "*?[]":
            out.append(char)
        elif char.isascii() and char.isalpha():
            out.append(f"[{char.lower()}{char.upper()}]")
        elif char.isascii() and (char.isalnum() or char in "._-"):
            out.append(char)
        else:
            out.append("*")
    return "".join(out)


def _shut(scope: SearchScope) -> list[str]:
    """Globs that keep it from most of what is left out, each looked up at once.

    The rest is taken away from what it names: a glob that has to be compared with every
    path costs a tenth of a search.
    """
    protection = scope.real.gate.protection
    found = [f"{name}/" for name in sorted({*SKIPPED, *GENERATED_FOLDERS, *_HIDDEN})]
    found = [name for name in found if not is_open(name[:-1])]
    found += _plain_names(protection.patterns("read"), protection.exceptions)
    return found


@lru_cache(maxsize=16)
def _plain_names(patterns: tuple[Name, ...], exceptions: tuple[Name, ...]) -> list[str]:
    """The protected names without signs of which no exception may speak."""
    names = {p.names[0] for p in patterns if len(p.names) == 1 and not p.anchored}
    lifted = [part for exception in exceptions for part in exception.names]
    plain = (n for n in sorted(names) if not set(n) & set("*?[{}\\,!#"))
    return [n for n in plain if not any(fnmatchcase(n, part) for part in lifted)]


def _has_others(scope: SearchScope) -> bool:
    """Whether the folder holds hidden folders beside the usual ones: then all are left out."""
    known = {*GENERATED_FOLDERS, *_HIDDEN, *_shut(scope), ".github"}
    with scope.real.open() as top:
        first = next(walk_folders(top))
        return any(name.startswith(".") and name not in known for name in first.folders)


def _wanted(files: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Without what lies in folders that are left out."""
    folders = [name.rpartition("/")[0] for name, _ in files]
    parts = {folder: folder.split("/") for folder in dict.fromkeys(folders) if folder}
    shut = {name for name in set().union(*parts.values()) if not is_open(name)}
    closed = {folder for folder, names in parts.items() if not shut.isdisjoint(names)}
    if not closed:
        return files
    return [item for item, folder in zip(files, folders, strict=True) if folder not in closed]
