"""What git writes is what was judged: no other commit of that name, nothing that an index hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, write
from tests.tools.git.test_local import refused
from toolcrib import Toolbox

HOOK = "hooks/pre-commit"


@pytest.fixture
def hooked(repo: Path) -> Path:
    """A repository whose hooks lie among its files, and a branch `acts` that brings one."""
    write(repo, **{"hooks/README": "x\n"})
    commit(repo, "hooks")
    git(repo, "config", "core.hooksPath", "hooks")
    git(repo, "checkout", "-q", "-b", "acts")
    write(repo, **{HOOK: "#!/bin/sh\ntouch ran\n"})
    commit(repo, "acts")
    git(repo, "checkout", "-q", "main")
    return repo


def lead(repo: Path, ref: str, to: str) -> None:
    git(repo, "update-ref", ref, to)


async def test_the_branch_that_is_checked_out_is_judged(box: Toolbox, hooked: Path) -> None:
    """Of names that a remote has too, git takes the branch."""
    lead(hooked, "refs/heads/origin/x", "acts")
    lead(hooked, "refs/remotes/origin/x", "main")
    text = await refused(box, "git_checkout", branch="origin/x")
    assert f"it writes {HOOK}" in text and "approv" in text
    assert not (hooked / HOOK).exists()


async def test_what_nobody_was_asked_about_is_taken_back(box: Toolbox, hooked: Path) -> None:
    lead(hooked, "refs/heads/refs/heads/x", "main")
    lead(hooked, "refs/heads/x", "acts")
    before = git(hooked, "rev-parse", "HEAD")
    text = await refused(box, "git_checkout", branch="refs/heads/x")
    assert f"It would have written {HOOK}" in text
    assert not (hooked / HOOK).exists()
    assert git(hooked, "rev-parse", "HEAD") == before
    assert git(hooked, "status", "--porcelain") == ""


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("tool", ["git_checkout", "git_stash"])
async def test_what_an_index_hides_is_judged(
    box: Toolbox, hooked: Path, tool: str, flag: str
) -> None:
    if tool == "git_stash":
        git(hooked, "reset", "-q", "--soft", "acts")
        (hooked / "a.txt").write_text("changed\n")
    git(hooked, "restore", "--staged", "--source=acts", "--", HOOK)
    git(hooked, "update-index", flag, HOOK)
    arguments = {"paths": [HOOK]} if tool == "git_checkout" else {}
    assert f"it writes {HOOK}" in await refused(box, tool, **arguments)
    assert not (hooked / HOOK).exists()


async def test_the_side_of_a_conflict_that_acts_is_asked_about(box: Toolbox, hooked: Path) -> None:
    digest = git(hooked, "rev-parse", f"acts:{HOOK}").strip()
    other = git(hooked, "rev-parse", "main:hooks/README").strip()
    stages = f"100644 {other} 2\t{HOOK}\n100755 {digest} 3\t{HOOK}\n"
    git(hooked, "update-index", "--index-info", stdin=stages)
    text = await refused(box, "git_conflicts", path=HOOK, take="theirs")
    assert f"it writes {HOOK}" in text
    assert not (hooked / HOOK).exists()


async def test_a_merge_that_moves_our_file_among_hooks_is_asked_about_that(
    box: Toolbox, repo: Path
) -> None:
    """Git puts what is new in a folder where the other side has moved that."""
    write(repo, **{"old/README": "x\nmore\nlines\n", "old/b": "lots\nof\nlines\n"})
    commit(repo, "before")
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "mv", "old", "hooks")
    commit(repo, "moved")
    git(repo, "checkout", "-q", "main")
    write(repo, **{"old/pre-commit": "#!/bin/sh\n"})
    commit(repo, "ours")
    git(repo, "config", "core.hooksPath", "hooks")
    assert HOOK in await refused(box, "git_merge", branch="side")
    assert git(repo, "status", "--porcelain") == ""
