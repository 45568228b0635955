"""`git.auto_commit`: each call that changes files in a clean repository is a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.git.made import git, write
from tests.tools.git.test_local import do
from toolcrib import Toolbox

ON = {"git": {"auto_commit": True}}


def subjects(repo: Path) -> list[str]:
    return git(repo, "log", "--format=%s").splitlines()


@pytest.mark.rows("C066")
async def test_calls_become_commits(repo: Path) -> None:
    write(repo, **{"untracked.txt": "not ours\n"})
    async with Toolbox(ON, workspace=repo) as box:
        await do(box, "write_file", path="new.txt", content="x\n")
        await do(box, "edit_file", path="a.txt", old="two", new="2")
        await do(box, "read_file", path="a.txt")
        assert subjects(repo) == ["edit_file: a.txt", "write_file: new.txt", "first"]
        assert git(repo, "status", "--short") == "?? untracked.txt\n"

        token = "ghp_" + "a1B2c3D4e5" * 4
        result = await box.call("write_file", {"path": "b.txt", "content": f"key = '{token}'\n"})
        assert "looks like a secret" in result.render()
        assert len(subjects(repo)) == 3
        (repo / "b.txt").unlink()

        write(repo, **{"a.txt": "staged\n"})
        git(repo, "add", "a.txt")
        write(repo, **{"a.txt": "staged and more\n"})
        result = await box.call("write_file", {"path": "c.txt", "content": "x\n"})
        assert "other changes" in result.render()
        assert git(repo, "diff", "--cached", "--name-only") == "a.txt\n"
    assert len(subjects(repo)) == 3


async def test_off_by_default_and_outside_of_repositories(repo: Path, tmp_path: Path) -> None:
    async with Toolbox(workspace=repo) as box:
        await do(box, "write_file", path="new.txt", content="x\n")
    assert subjects(repo) == ["first"]
    (tmp_path / "plain").mkdir()
    async with Toolbox(ON, workspace=tmp_path / "plain") as box:
        await do(box, "write_file", path="new.txt", content="x\n")
