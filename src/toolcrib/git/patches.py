"""Patches as git prints them: read into files, shown in fewer words, without protected files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.files.edits.patch_parser import unquoted
from toolcrib.git.repository import Repository, text_of
from toolcrib.text.display import counted, printable

PATCH_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=dirty",
)
MAX_LISTED = 200
MAX_LINE_CHARS = 2_000
_START = re.compile(r"^diff --(?:git|cc|combined) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """One file of a patch.

    Attributes:
        name: as git names it; that of before for a file that is gone.
        note: what happened beside changed lines: "new", "deleted", "renamed from x", "binary".
        hunks: the changed lines, from the first `@@` on.
        added, removed: how many.
        old_name: where it was renamed or copied from.
    """

    name: str
    note: str
    hunks: str
    added: int
    removed: int
    old_name: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """Its name, and that of before."""
        return self.name, self.old_name

    @property
    def headline(self) -> str:
        """Its name, note and counts."""
        counts = [f"+{self.added}"] * bool(self.added) + [f"-{self.removed}"] * bool(self.removed)
        note = [f"({self.note})"] if self.note else []
        return " ".join([printable(self.name), *counts, *note])


def parse_patch(text: str, *, words: bool = False) -> Iterator[PatchedFile]:
    """The files of a patch, in its order; `words` is for `--word-diff=porcelain`."""
    starts = [match.start() for match in _START.finditer(text)]
    ends = [*starts[1:], len(text)]
    for number, start in enumerate(starts):
        yield _file_patch(text[start : ends[number]], words=words)


def _file_patch(section: str, *, words: bool) -> PatchedFile:
    at = section.find("\n@@")
    header, hunks = (section, "") if at < 0 else (section[:at], section[at + 1 :])
    lines = header.split("\n")
    names = {line[:4]: _name(line[4:]) for line in lines[1:] if line.startswith(("--- ", "+++ "))}
    name = names.get("+++ ") or names.get("--- ") or _name_of_first(lines[0])
    notes, old = [], ""
    for line in lines[1:]:
        if line.startswith("rename to "):
            name = unquoted(line.removeprefix("rename to "))
        elif line.startswith(("rename from ", "copy from ")):
            verb, _, quoted = line.partition(" from ")
            old = unquoted(quoted)
            notes.append(f"{verb.replace('copy', 'copi').removesuffix('e')}ed from {old}")
        elif line.startswith("new file mode"):
            notes.append("new link" if line.endswith("120000") else "new")
        elif line.startswith("deleted file mode"):
            notes.append("deleted")
        elif line.startswith("new mode "):
            notes.append(f"mode {line.removeprefix('new mode ')}")
        elif line.startswith(("Binary files", "GIT binary")):
            notes.append("binary")
    if words:
        hunks, added, removed = _marked_words(hunks)
    else:
        added, removed = _counts(hunks, combined=lines[0].startswith("diff --c"))
    if not words and _changes_line_ends(hunks):
        notes.append("line ends change: ^M is a carriage return")
    return PatchedFile(name, ", ".join(notes), hunks, added, removed, old)


def _marked_words(hunks: str) -> tuple[str, int, int]:
    """Lines with their changed words marked, and how many have new ones and lost some.

    git prints each piece of a line on one of its own, and `~` where the line ends: nothing in a
    file can look like the start of another one.
    """
    lines: list[str] = []
    added = removed = 0
    pieces: list[str] = []
    marks: set[str] = set()
    for line in hunks.rstrip("\n").split("\n"):
        mark, text = line[:1], line[1:].removesuffix("\r")
        if mark == "~":
            lines.append("".join(pieces))
            added, removed = added + ("+" in marks), removed + ("-" in marks)
            pieces, marks = [], set()
        elif mark in ("@", "\\"):
            lines.append(line)
        elif text:
            marks.add(mark)
            pieces.append({"+": f"{{+{text}+}}", "-": f"[-{text}-]"}.get(mark, text))
    return "\n".join(lines), added, removed


def _changes_line_ends(hunks: str) -> bool:
    ends = {line.endswith("\r") for line in hunks.split("\n") if line[:1] in ("+", "-")}
    return len(ends) > 1


def _name(text: str) -> str:
    plain = unquoted(text.rstrip("\t"))
    return "" if plain == "/dev/null" else plain[2:] if plain[:2] in ("a/", "b/") else plain


def _name_of_first(line: str) -> str:
    """The name in `diff --git a/x b/x`, where both are the same; or in `diff --cc x`."""
    rest = line.split(" ", 2)[2]
    if line.startswith("diff --c"):
        return unquoted(rest)
    half = rest[: (len(rest) - 1) // 2]
    return _name(half)


def _counts(hunks: str, *, combined: bool) -> tuple[int, int]:
    added = removed = 0
    for line in hunks.split("\n"):
        marks = line[:2] if combined else line[:1]
        added += "+" in marks
        removed += "-" in marks and "+" not in marks
    return added, removed


def rendered(repository: Repository, files: Sequence[PatchedFile], *, stat: bool = False) -> str:
    """A patch as a model reads it, which says how many protected files were left out."""
    visible = [f for f in files if not any(map(repository.is_hidden, filter(None, f.names)))]
    hidden = len(files) - len(visible)
    parts = []
    if len(visible) > 1 or stat:
        added, removed = sum(f.added for f in visible), sum(f.removed for f in visible)
        # A file that became a link, or the other way around, stands there twice.
        number_of_files = len({file.name for file in visible})
        parts.append(f"{counted(number_of_files, 'file')}, +{added} -{removed}")
    for number, file in enumerate(visible):
        if stat and number >= MAX_LISTED:
            parts.append(f"and {len(visible) - number:,} more")
            break
        parts.append(file.headline)
        if file.hunks and not stat:
            parts.append(_hunks(file.hunks))
    if hidden:
        parts.append(f"({counted(hidden, 'protected file')} left out)")
    return "\n".join(parts)


def _hunks(text: str) -> str:
    """Changed lines, without the count in `@@ -1,4 +1,6 @@` that a reader does not need."""
    lines = []
    end = "^M" if _changes_line_ends(text) else ""
    for whole in text.rstrip("\n").split("\n"):
        line = whole.removesuffix("\r") + end if whole.endswith("\r") else whole
        if len(line) > MAX_LINE_CHARS:
            lines.append(f"{line[:MAX_LINE_CHARS]}… ({len(line):,} characters)")
        else:
            lines.append(line)
    return "\n".join(lines)


async def patch_of(repository: Repository, *args: str, words: bool = False) -> list[PatchedFile]:
    """The files of a patch that a command of git prints; see `PATCH_OPTIONS`."""
    output = await repository.read(*args)
    return list(parse_patch(text_of(output), words=words))
