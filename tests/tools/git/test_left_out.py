"""Undo where an index says that files are left out of the working tree, or taken for unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, write
from tests.tools.git.test_local import do, state
from toolcrib import Toolbox


@pytest.mark.parametrize("ours", ["other", "same"])
@pytest.mark.parametrize("mode", ["--cone", "--no-cone"])
async def test_a_merge_is_undone_in_a_sparse_checkout(
    box: Toolbox, repo: Path, mode: str, ours: str
) -> None:
    write(repo, **{"in/a": "1\n", "out/b": "1\n"})
    commit(repo, "base")
    git(repo, "checkout", "-q", "-b", "side")
    write(repo, **{"in/a": "2\n", "out/b": "2\n"})
    commit(repo, "theirs")
    git(repo, "checkout", "-q", "main")
    write(repo, **{"out/b" if ours == "same" else "in/c": "3\n"})
    commit(repo, "ours")
    git(repo, "sparse-checkout", "set", mode, "in")
    before = state(repo), git(repo, "ls-files", "-v")
    await do(box, "git_merge", branch="side")
    assert (repo / "out").exists() == (ours == "same")  # git writes what is in conflict
    git(repo, "status")  # looks at the files again, and writes the index
    await do(box, "undo_changes")
    assert (state(repo), git(repo, "ls-files", "-v")) == before
    assert not (repo / "out").exists()


async def test_undo_keeps_what_an_index_is_told_of_files(box: Toolbox, repo: Path) -> None:
    write(repo, one="1\n", two="2\n")
    commit(repo, "two files")
    git(repo, "update-index", "--assume-unchanged", "one")
    git(repo, "update-index", "--skip-worktree", "two")
    before = git(repo, "ls-files", "-v")
    write(repo, new="x\n", two="ours alone\n")
    await do(box, "git_add", paths=["new"])
    await do(box, "undo_changes")
    assert git(repo, "ls-files", "-v") == before
    await do(box, "git_add", paths=["new"])
    await do(box, "git_commit", message="new")
    await do(box, "undo_changes")
    await do(box, "undo_changes")
    assert git(repo, "ls-files", "-v") == before
    assert (repo / "two").read_text() == "ours alone\n"


async def test_what_the_user_changed_of_what_is_left_out_comes_back(
    box: Toolbox, repo: Path
) -> None:
    write(repo, **{"in/f": "1\n", "out/f": "1\n"})
    commit(repo, "base")
    git(repo, "sparse-checkout", "set", "in")
    write(repo, **{"in/f": "mine\n", "out/f": "mine too\n"})
    git(repo, "update-index", "--no-skip-worktree", "out/f")
    await do(box, "git_stash")
    await do(box, "undo_changes")
    assert (repo / "in/f").read_text() == "mine\n"
    assert (repo / "out/f").read_text() == "mine too\n"
