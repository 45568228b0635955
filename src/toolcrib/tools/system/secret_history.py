"""Secrets in what commits added: all commits of all branches, each secret told once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import TooLarge
from toolcrib.files.paths import SafePath
from toolcrib.files.search.globs import Globs
from toolcrib.git.patches import PATCH_OPTIONS
from toolcrib.git.repository import Repository, open_repository, text_of
from toolcrib.state.secret_finder import find_secrets
from toolcrib.system.threads import in_thread

MAX_COMMITS = 20_000
BATCH = 200
"""Commits whose patches are read at once."""
_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z")
_HUNK = re.compile(r"@@ -\S+ \+(\d+)")


@dataclass(frozen=True, slots=True)
class OldSecret:
    """A secret that a commit added: the first commit that did."""

    commit: str
    file: str
    line: int
    kind: str
    value: str

    def to_json(self, *, now: bool) -> dict[str, Any]:
        """Where it is, without itself; `now`: whether a file still holds it."""
        place = {"commit": self.commit, "file": self.file, "line": self.line}
        return {**place, "kind": self.kind, "in_files_now": now}


async def scan_history(ctx: Ctx, start: SafePath, unwanted: Globs) -> list[OldSecret]:
    """The secrets that the commits of a repository added, oldest first.

    Raises:
        NotFound: there is no repository.
    """
    async with open_repository(ctx, start) as repository:
        listed = await repository.read("rev-list", "--all", f"--max-count={MAX_COMMITS + 1}")
        commits = text_of(listed).split()
        if len(commits) > MAX_COMMITS:
            ctx.warn(f"Only the newest {MAX_COMMITS:,} commits were looked at.")
        commits = commits[:MAX_COMMITS][::-1]
        found: dict[str, OldSecret] = {}
        skipped = 0
        for first in range(0, len(commits), BATCH):
            batch = commits[first : first + BATCH]
            await ctx.progress("Looking at commits", first, len(commits))
            for patch in await _patches(repository, batch):
                if patch is None:
                    skipped += 1
                    continue
                text = patch
                for one in await in_thread(lambda _, t=text: list(_secrets(t)), ctx.deadline):  # type: ignore[misc]
                    if unwanted.fits(one.file):
                        found.setdefault(one.value, one)
    if skipped:
        ctx.warn(f"{skipped:,} commits were too large to be looked at.")
    return list(found.values())


async def _patches(repository: Repository, commits: list[str]) -> list[str | None]:
    """The patches of some commits; None for a single one that is too large."""
    try:
        data = await repository.read(
            *("diff-tree", "--stdin", "--root", "-r", "-p", "-U0", "--no-renames"),
            *("--diff-filter=AM", *PATCH_OPTIONS),
            stdin="".join(f"{commit}\n" for commit in commits).encode(),
        )
    except TooLarge:
        if len(commits) == 1:
            return [None]
        middle = len(commits) // 2
        first = await _patches(repository, commits[:middle])
        return first + await _patches(repository, commits[middle:])
    return [text_of(data)]


def _secrets(patch: str) -> Iterator[OldSecret]:
    commit, file, line = "", "", 0
    block: list[str] = []

    def ended() -> Iterator[OldSecret]:
        text = "\n".join(block)
        for found in find_secrets(text):
            at = line + text.count("\n", 0, found.start)
            yield OldSecret(commit, file, at, found.kind, text[found.start : found.end])
        block.clear()

    for raw in patch.split("\n"):
        if raw.startswith("+") and not raw.startswith("+++ "):
            block.append(raw[1:].rstrip("\r"))
            continue
        yield from ended()
        if raw.startswith("+++ "):
            name = raw[4:].strip().strip('"')
            file = name.removeprefix("b/")
        elif raw.startswith("@@"):
            hunk = _HUNK.match(raw)
            line = int(hunk[1]) if hunk else 0
        elif _COMMIT.match(raw):
            commit = raw
    yield from ended()
