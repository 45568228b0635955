"""The branch and the last commits of a repository, read without git."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass

from toolcrib.core.errors import ToolError
from toolcrib.files.paths import SafePath
from toolcrib.text.cleaner import one_line

MAX_GIT_FILE_BYTES = 1_000_000
MAX_LOG_BYTES = 8_000_000
SUBJECT_CHARS = 100
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/[\w./@+-]{1,250}")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its short id, the first line of its message, who made it."""

    id: str
    subject: str
    author: str


@dataclass(frozen=True, slots=True)
class RepositorySummary:
    """The branch that is checked out, or "" where none is, and the last commits."""

    branch: str
    commits: tuple[Commit, ...]


def repository_of(folder: SafePath, limit: int = 5) -> RepositorySummary | None:
    """The repository whose top folder this is; None for none that can be read. It blocks."""
    git = folder.child(".git")
    head = _text(git, "HEAD").strip()
    if not head:
        return None
    ref = head.removeprefix("ref:").strip()
    if ref == head:
        sha, branch = (head if _SHA.fullmatch(head) else ""), ""
    else:
        branch = ref.removeprefix("refs/heads/")
        sha = _resolved(git, ref)
    return RepositorySummary(one_line(branch, SUBJECT_CHARS), tuple(_commits(git, sha, limit)))


def _resolved(git: SafePath, ref: str) -> str:
    if not _REF.fullmatch(ref) or ".." in ref:
        return ""
    sha = _text(git, *ref.split("/")).strip()
    if _SHA.fullmatch(sha):
        return sha
    for line in _text(git, "packed-refs").splitlines():
        sha, _, name = line.partition(" ")
        if name == ref and _SHA.fullmatch(sha):
            return sha
    return ""


def _commits(git: SafePath, sha: str, limit: int) -> list[Commit]:
    """By first parents, as long as commits lie in files of their own; then by the log."""
    found: list[Commit] = []
    while sha and len(found) < limit:
        body = _object(git, sha)
        if body is None:
            return found + _logged(git, sha, limit - len(found))
        header, _, message = body.partition("\n\n")
        author = re.search(r"^author (.*?) <", header, re.MULTILINE)
        parent = re.search(r"^parent ([0-9a-f]+)$", header, re.MULTILINE)
        found.append(_commit(sha, message, author[1] if author else ""))
        sha = parent[1] if parent else ""
    return found


def _commit(sha: str, message: str, author: str) -> Commit:
    lines = message.strip().splitlines() or [""]
    return Commit(sha[:8], one_line(lines[0], SUBJECT_CHARS), one_line(author, SUBJECT_CHARS))


def _object(git: SafePath, sha: str) -> str | None:
    if not _SHA.fullmatch(sha):
        return None
    packed = _bytes(git, MAX_GIT_FILE_BYTES, "objects", sha[:2], sha[2:])
    if not packed:
        return None
    with suppress(zlib.error):
        raw = zlib.decompressobj().decompress(packed, MAX_GIT_FILE_BYTES)
        kind, _, body = raw.partition(b"\0")
        if kind.startswith(b"commit "):
            return body.decode("utf-8", "replace")
    return None


def _logged(git: SafePath, sha: str, limit: int) -> list[Commit]:
    """Commits of the log of HEAD that lead to one; those in packs have no file of their own."""
    lines = _bytes(git, MAX_LOG_BYTES, "logs", "HEAD").decode("utf-8", "replace").splitlines()
    found: list[Commit] = []
    for line in reversed(lines):
        state, _, message = line.partition("\t")
        words = state.split(" ", 2)
        action, _, subject = message.partition(": ")
        if len(words) != 3 or not action.startswith(("commit", "merge", "pull", "clone")):
            continue
        if words[1] == sha and len(found) < limit:
            found.append(_commit(sha, subject or message, words[2].partition(" <")[0]))
            sha = words[0]
    return found


def _text(git: SafePath, *parts: str) -> str:
    return _bytes(git, MAX_GIT_FILE_BYTES, *parts).decode("utf-8", "replace")


def _bytes(git: SafePath, limit: int, *parts: str) -> bytes:
    path = git
    try:
        for part in parts:
            path = path.child(part)
        return path.read_bytes(limit)
    except ToolError:
        return b""
