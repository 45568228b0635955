"""Patches as git prints them: read into files, shown in fewer words, without protected files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.files.content.display import counted, printable
from toolcrib.git.repository import Repository, text_of

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
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_START = re.compile(r"^diff --(?:git|cc|combined) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """One file of a patch.

    Attributes:
        name: as git names it; that of before for a file that is gone.
        note: what happened beside changed lines: "new", "deleted", "renamed from x", "binary".
        hunks: the changed lines, from the first `@@` on.
        added, removed: how many.
    """

    name: str
    note: str
    hunks: str
    added: int
    removed: int

    @property
    def headline(self) -> str:
        """Its name, note and counts."""
        counts = [f"+{self.added}"] * bool(self.added) + [f"-{self.removed}"] * bool(self.removed)
        note = [f"({self.note})"] if self.note else []
        return " ".join([printable(self.name), *counts, *note])


def unquoted(text: str) -> str:
    """A name as git quotes it where it has unusual characters."""
    if not (text.startswith('"') and text.endswith('"') and len(text) > 1):
        return text
    data = bytearray()
    position, inner = 0, text[1:-1]
    for match in _ESCAPED.finditer(inner):
        data += inner[position : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        data += bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code).encode()
        position = match.end()
    data += inner[position:].encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


def parse_patch(text: str) -> Iterator[PatchedFile]:
    """The files of a patch, in its order."""
    starts = [match.start() for match in _START.finditer(text)]
    ends = [*starts[1:], len(text)]
    for number, start in enumerate(starts):
        yield _file_patch(text[start : ends[number]])


def _file_patch(section: str) -> PatchedFile:
    at = section.find("\n@@")
    header, hunks = (section, "") if at < 0 else (section[:at], section[at + 1 :])
    lines = header.split("\n")
    names = {line[:4]: _name(line[4:]) for line in lines[1:] if line.startswith(("--- ", "+++ "))}
    name = names.get("+++ ") or names.get("--- ") or _name_of_first(lines[0])
    notes = []
    for line in lines[1:]:
        if line.startswith("rename to "):
            name = unquoted(line.removeprefix("rename to "))
        elif line.startswith(("rename from ", "copy from ")):
            verb, _, old = line.partition(" from ")
            notes.append(f"{verb.replace('copy', 'copi').removesuffix('e')}ed from {unquoted(old)}")
        elif line.startswith("new file mode"):
            notes.append("new link" if line.endswith("120000") else "new")
        elif line.startswith("deleted file mode"):
            notes.append("deleted")
        elif line.startswith("new mode "):
            notes.append(f"mode {line.removeprefix('new mode ')}")
        elif line.startswith(("Binary files", "GIT binary")):
            notes.append("binary")
    added, removed = _counts(hunks, combined=lines[0].startswith("diff --c"))
    return PatchedFile(name, ", ".join(notes), hunks, added, removed)


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


def rendered(
    repository: Repository, files: Sequence[PatchedFile], *, stat: bool = False
) -> tuple[str, int]:
    """A patch as a model reads it, and how many protected files were left out."""
    visible = [f for f in files if not repository.is_hidden(f.name)]
    hidden = len(files) - len(visible)
    parts = []
    if len(visible) > 1 or stat:
        added, removed = sum(f.added for f in visible), sum(f.removed for f in visible)
        parts.append(f"{counted(len(visible), 'file')}, +{added} -{removed}")
    for number, file in enumerate(visible):
        if stat and number >= MAX_LISTED:
            parts.append(f"and {len(visible) - number:,} more")
            break
        parts.append(file.headline)
        if file.hunks and not stat:
            parts.append(_hunks(file.hunks))
    if hidden:
        parts.append(f"({counted(hidden, 'protected file')} left out)")
    return "\n".join(parts), hidden


def _hunks(text: str) -> str:
    """Changed lines, without the count in `@@ -1,4 +1,6 @@` that a reader does not need."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
        if len(line) > MAX_LINE_CHARS:
            lines.append(f"{line[:MAX_LINE_CHARS]}… ({len(line):,} characters)")
        else:
            lines.append(line)
    return "\n".join(lines)


async def patch_of(repository: Repository, *args: str) -> list[PatchedFile]:
    """The files of a patch that a command of git prints; see `PATCH_OPTIONS`."""
    output = await repository.read(*args)
    return list(parse_patch(text_of(output).replace("\r\n", "\n")))
