"""Commands of which the words show that they only read: a list of what is known, no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolcrib.execution.shell.script import Command, Word

SHOWN = 80


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a program.

    Attributes:
        never: options (or their beginnings, where they end in `*`) with which it does more
            than read what its words name.
        only: its first word must be one of these, where there are any.
        most: how many words that are no options it may have.
        values: whether it shows what its words say, and reads no file by them.
    """

    never: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    most: int = 1000
    values: bool = False


VERSIONS = ("--version", "-V")
SHOWS_GIT = (
    *("status", "log", "diff", "show", "rev-parse", "ls-files", "ls-tree", "blame", "describe"),
    *("shortlog", "rev-list", "merge-base", "cat-file", "name-rev", "whatchanged", "count-objects"),
    "diff-tree",
)
NEVER_GIT: tuple[str, ...] = (
    "--output*",
    "--ext-diff",
    "--textconv",
    "-O*",
    "--open-files*",
    "--no-index",
)
NEVER_GIT += ("--exec*", "--upload-pack*", "--filters", "--batch*", "--contents*")
EXACTLY = frozenset(
    (
        *("git --version", "git branch", "git branch -a", "git branch --show-current"),
        *("git remote", "git remote -v", "git tag", "git tag -l", "git tag --list"),
        *("git stash list", "git branch --list", "git branch -v", "git branch -vv", "node -v"),
        *("npm -v", "npx -v", "ruby -v", "perl -v", "php -v"),
    )
)
RECURSIVE = ("-r*", "-R*", "--recursive", "--dereference-recursive", "-d*", "--directories*")

KNOWN: Mapping[str, Known] = {
    **dict.fromkeys(("pwd", "true", "false", ":", "whoami", "id", "groups", "arch"), Known()),
    **dict.fromkeys(("echo", "basename", "dirname", "seq", "expr"), Known(values=True)),
    **dict.fromkeys(("nproc", "uptime", "tty", "logname"), Known(most=0)),
    "printf": Known(never=("-v*",), values=True),
    "uname": Known(most=0),
    "hostname": Known(most=0, never=("-b*", "-F*", "--boot", "--file*")),
    "date": Known(never=("-s*", "--set*", "-f*", "--file*"), values=True),
    "cal": Known(values=True),
    "sleep": Known(values=True),
    "cd": Known(most=1),
    "ls": Known(),
    "dir": Known(),
    **dict.fromkeys(("cat", "tac", "head", "nl", "rev", "fold", "expand", "unexpand"), Known()),
    **dict.fromkeys(("cut", "paste", "comm", "join", "cmp", "od", "xxd", "hexdump"), Known()),
    **dict.fromkeys(("tail", "strings", "stat", "df", "readlink", "realpath", "column"), Known()),
    **dict.fromkeys(
        ("md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "b2sum", "sum"), Known()
    ),
    "wc": Known(never=("--files0*",)),
    "du": Known(never=("--files0*", "-X*", "--exclude-from*")),
    "sort": Known(never=("-o*", "--o*", "-T*", "--te*", "--com*", "--files0*")),
    "uniq": Known(most=1),
    "tr": Known(values=True),
    "file": Known(never=("-C*", "--compile", "-m*", "--magic*", "-f*", "--files-from*", "-z*")),
    "tree": Known(never=("-o*", "--fromfile", "--output*", "-R*")),
    "diff": Known(never=("-r*", "--recursive")),
    **dict.fromkeys(("grep", "egrep", "fgrep"), Known(never=RECURSIVE)),
    "find": Known(
        never=("-exec*", "-ok*", "-delete", "-fprint*", "-fls*", "-files0*", "-L*", "-follow")
    ),
    "which": Known(values=True),
    "type": Known(values=True),
    "sed": Known(),
    "git": Known(never=NEVER_GIT, only=SHOWS_GIT),
    **dict.fromkeys(
        (
            *("python", "python3", "node", "npm", "deno", "gcc", "g++", "clang", "make", "cmake"),
            *("java", "javac", "ruby", "perl", "php", "pip", "pip3", "uv", "ruff", "curl"),
            *("wget", "jq", "psql", "sqlite3"),
        ),
        Known(only=VERSIONS, most=1),
    ),
}
"""Bare names only: what stands at a path may be anything. Left out are those that a file of
the workspace makes run something even for this (`yarn --version`, `pytest --version`), and
those that read whole trees, protected files included (`rg`).
"""


def only_reads(command: Command, may_read: Callable[[str], bool]) -> str:
    """Why a command is not known to only read; empty where it is.

    Args:
        command: one whose name is written.
        may_read: whether a word may name a file that is read.
    """
    words = command.words
    first = words[0]
    known = KNOWN.get(first.value or "")
    if known is None or not first.plain or first.glob:
        return f"{first.text[:SHOWN]} is not known to only read"
    for word in words[1:]:
        if word.value is None or not word.plain:
            return f"{word.text[:SHOWN]} is not written out"
    values = [word.value or "" for word in words[1:]]
    if " ".join([first.value or "", *values]) in EXACTLY:
        return ""
    wrong = _wrong_words(known, values)
    if wrong or (first.value == "sed" and not _is_print(values)):
        return f"{first.value} with {(wrong or 'this')[:SHOWN]} may do more than read"
    if known.only is VERSIONS or known.values:
        return ""
    for word in words[1:]:
        if not _may_name(word, may_read):
            return f"{word.text[:SHOWN]} is not a file that may be read"
    return ""


def _wrong_words(known: Known, values: list[str]) -> str:
    if known.only and (not values or values[0] not in known.only):
        return values[0] if values else "no word"
    if known.only is VERSIONS and len(values) > 1:
        return values[1]
    for value in values:
        for option in known.never:
            if value == option or (option[-1] == "*" and _begins(value, option[:-1])):
                return value
    plain = [value for value in values if not value.startswith("-")]
    return "so many words" if len(plain) > known.most and not known.only else ""


def _begins(value: str, option: str) -> bool:
    """Whether a word gives an option, also among other letters behind one dash."""
    if value.startswith(option):
        return True
    short = len(option) == 2 and option[1] != "-"
    return short and value[:1] == "-" and value[1:2] not in ("-", "") and option[1] in value


def _is_print(values: list[str]) -> bool:
    """Whether sed is given `-n` and a range to print, and nothing else but files."""
    if len(values) < 2 or values[0] != "-n":
        return False
    script = values[1]
    numbers = script.removesuffix("p").split(",")
    return (
        script.endswith("p")
        and len(numbers) <= 2
        and all(number.isdigit() or number == "$" for number in numbers)
        and not any(value.startswith("-") for value in values[2:])
    )


def _may_name(word: Word, may_read: Callable[[str], bool]) -> bool:
    """Whether all that a word may name is within what may be read."""
    value = word.value or ""
    if word.glob:
        # A glob that could stand for a hidden name could stand for a protected one.
        last = value.rpartition("/")[2]
        if last.startswith((".", "[", "?")) or "." not in last.rstrip("*?]"):
            return False
        value = value.replace("*", "x").replace("?", "x").replace("[", "x").replace("]", "x")
    if value.startswith("-"):
        head, sign, tail = value.partition("=")
        if sign:
            return may_read(tail) if tail else True
        return "/" not in head and "~" not in head and ".." not in head
    return may_read(value) if value else True
