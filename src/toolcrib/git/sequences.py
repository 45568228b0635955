"""How merges, rebases and picks end: done, nothing to do, or stopped at a conflict."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.git.attributes import note_as_stored
from toolcrib.git.failures import without_quotes
from toolcrib.git.layout import read_own
from toolcrib.git.program import checked
from toolcrib.git.repository import Head, Repository, text_of
from toolcrib.git.status import status_of
from toolcrib.system.processes import Finished
from toolcrib.text.display import counted, printable, some_of

OPEN = (
    "git_conflicts shows the sides and takes a choice; then {next}. git_conflicts with abort=true "
    "goes back."
)
LEFT_OVER = (
    "git_conflicts shows the sides and takes a choice for each file; with abort=true those files "
    "are as in the last commit again, and a stash stays."
)
"""For conflicts that no operation waits for, as `git stash pop` leaves them."""
GOING_ON = {
    "merge": "git_commit",
    "rebase": "git_rebase with action=continue",
    "cherry-pick": "git_pick with action=continue",
    "revert": "git_pick with revert=true and action=continue",
}

MAX_STATE_BYTES = 1_000_000
_PICK = re.compile(r"[ \t]*(?:pick|p|reword|r|edit|e)\s", re.ASCII)


@dataclass(frozen=True, slots=True)
class OpenRebase:
    """What a rebase that stopped was to do.

    Attributes:
        onto: the commit that it puts the others on.
        picks: how many those are.
    """

    onto: str
    picks: int

    async def left_out(self, repository: Repository) -> int:
        """How many of them came to nothing, once it is over."""
        made = await repository.line("rev-list", "--count", f"{self.onto}..HEAD")
        return max(self.picks - int(made or 0), 0)


async def open_rebase(repository: Repository) -> OpenRebase | None:
    """The rebase that git is in the middle of; None for none."""
    place = f"{repository.layout.git_dir}/rebase-merge"
    names = ("onto", "done", "git-rebase-todo")
    onto, *lists = [
        text_of(await asyncio.to_thread(read_own, f"{place}/{name}", MAX_STATE_BYTES))
        for name in names
    ]
    commits = await repository.commits_among([onto.strip()] if onto.strip() else [])
    orders = [line for text in lists for line in text.split("\n")]
    return OpenRebase(commits[0], len([*filter(_PICK.match, orders)])) if commits else None


def going_on(in_progress: str) -> str:
    """What ends a merge or goes on with another operation, as a sentence; "" for none."""
    tool = GOING_ON.get(in_progress)
    verb = "ends the merge" if in_progress == "merge" else "goes on"
    return f"{tool} {verb}." if tool else ""


async def refuse_while_open(repository: Repository, *, within_rebase: bool = False) -> None:
    """Refuse to begin a merge, rebase or pick while another is not finished, or conflicts are left.

    Args:
        repository: an open one.
        within_rebase: whether it may be one of the steps of a rebase that stopped without changes.

    Raises:
        Conflict: saying what is open, and how it ends.
    """
    status = await status_of(repository, untracked="no")
    what = status.in_progress
    names = [printable(file.name) for file in status.unmerged]
    if what not in GOING_ON and names:
        raise Conflict(
            f"Nothing was begun: there are conflicts in {some_of(names, 10)}.", hint=LEFT_OVER
        )
    if what not in GOING_ON or (within_rebase and what == "rebase" and not status.tracked):
        return
    where = f", with conflicts in {some_of(names, 10)}" if names else ""
    raise Conflict(
        f"Nothing was begun: a {what} is not finished{where}.",
        hint=OPEN.format(next=GOING_ON[what]),
    )


async def outcome(
    repository: Repository,
    command: str,
    done: Finished,
    before: Head,
    rebase: OpenRebase | None = None,
) -> Result:
    """What came of it, for the reader.

    Args:
        repository: an open one.
        command: of git.
        done: how it ended.
        before: what was checked out before it.
        rebase: the one that it went on with.

    Raises:
        ToolError: it failed, and nothing is open.
    """
    status = await status_of(repository, untracked="no")
    names = [printable(file.name) for file in status.unmerged]
    if not names and " is now empty" in str(done.stderr):
        tool = GOING_ON.get(status.in_progress, "git_pick with action=continue")
        return Result(
            text="Nothing of this commit is left: its changes are here already. "
            f"{tool.replace('=continue', '=skip')} leaves it out.",
            data={"conflicts": [], "commit": status.commit},
        )
    if names or (done.exit_code and status.in_progress):
        following = GOING_ON.get(status.in_progress, "git_commit")
        what = f"Stopped at conflicts in {some_of(names, 10)}" if names else "Stopped"
        stderr_text = "" if names else f": {without_quotes(str(done.stderr)).strip()[:300]}"
        return Result(
            text=f"{what}{stderr_text}. {OPEN.format(next=following)}",
            data={"conflicts": names, "commit": status.commit},
        )
    checked([command], done)
    after = await repository.head()
    if after == before:
        return Result(text="Nothing had to be done.", data={"commit": after.commit})
    stat = ""
    if before.commit:
        stat = text_of(
            await repository.read("diff", "--shortstat", before.commit, after.commit)
        ).strip()
    subject = await repository.line("log", "-1", "--format=%h %s")
    note = await note_as_stored(repository, before.commit, after.commit)
    left_out = await rebase.left_out(repository) if rebase else 0
    if left_out:
        commits = counted(left_out, "commit")
        note = f"{commits} left out: skipped, or nothing of it was new.\n{note}".strip()
    return Result(
        text=f"{after.name} is at {subject}"
        + (f" ({stat})" if stat else "")
        + (f"\n{note}" if note else ""),
        data={"commit": after.commit, "branch": after.branch, "conflicts": []},
    )
