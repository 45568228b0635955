"""Repositories in a folder of the workspace, named as models name them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.git.made import git, make_repository, on_a_side, write
from tests.tools.git.test_local import do, refused
from tests.tools.git.test_network import PUSH_FREELY
from toolcrib import Toolbox


@pytest.fixture
def proj(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "ws" / "proj")


@pytest.fixture
async def outside(proj: Path) -> AsyncIterator[Toolbox]:
    """A toolbox whose workspace is the folder above."""
    async with Toolbox(workspace=proj.parent) as opened:
        yield opened


@pytest.mark.parametrize("name", ["path", "repo", "repository", "repo_path", "cwd", "directory"])
async def test_tools_without_paths_take_the_folder(outside: Toolbox, proj: Path, name: str) -> None:
    folder = {name: "proj"}
    write(proj, **{"a.txt": "new\n"})
    await do(outside, "git_commit", message="second", all=True, **folder)
    assert git(proj, "log", "-1", "--format=%s").strip() == "second"
    await do(outside, "git_branch", action="create", branch="side", **folder)
    await do(outside, "git_tag", action="create", tag="v1", **folder)
    assert "side" in await do(outside, "git_branch", **folder)
    await do(outside, "git_merge", branch="side", **folder)
    await do(outside, "git_rebase", onto="side", **folder)
    write(proj, **{"a.txt": "newer\n"})
    assert "Put aside" in await do(outside, "git_stash", **folder)
    assert "stash@{0}" in await do(outside, "git_stash", action="list", **folder)
    await do(outside, "git_pick", commits=["HEAD"], revert=True, **folder)
    for remote in ("git_fetch", "git_pull"):
        assert "There is no remote" in await refused(outside, remote, **folder)


async def test_a_push_goes_out_of_the_folder(proj: Path) -> None:
    git(proj.parent, "clone", "-q", "--bare", "proj", "there.git")
    git(proj, "remote", "add", "origin", str(proj.parent / "there.git"))
    write(proj, **{"a.txt": "new\n"})
    git(proj, "commit", "-q", "-a", "-m", "second")
    async with Toolbox({"policy": PUSH_FREELY}, workspace=proj.parent) as box:
        assert "to main of origin" in await do(box, "git_push", path="proj")
    assert git(proj.parent / "there.git", "log", "-1", "--format=%s", "main").strip() == "second"


@pytest.mark.parametrize("name", ["repo", "repository", "cwd"])
async def test_paths_are_from_the_folder_that_is_named(
    outside: Toolbox, proj: Path, name: str
) -> None:
    folder = {name: "proj"}
    write(proj, **{"a.txt": "new\n", "b.txt": "b\n"})
    assert "b.txt" in await do(outside, "git_status", **folder)
    assert "a.txt" not in await do(outside, "git_status", path="b.txt", **folder)
    assert "+new" in await do(outside, "git_diff", path="a.txt", **folder)
    await do(outside, "git_add", paths=["a.txt", "proj/b.txt"], **folder)
    assert git(proj, "diff", "--cached", "--name-only").split() == ["a.txt", "b.txt"]
    await do(outside, "git_reset", paths=["b.txt"], **folder)
    await do(outside, "git_add", all=True, **folder)
    await do(outside, "git_commit", message="second", **folder)
    assert "second" in await do(outside, "git_log", path="b.txt", **folder)
    assert "second" in await do(outside, "git_show", **folder)
    assert await do(outside, "git_show", path="a.txt", **folder) == "new\n"
    assert "second" in await do(outside, "git_blame", path="a.txt", **folder)
    await do(outside, "git_reset", mode="soft", revision="HEAD~1", **folder)
    assert "first" in git(proj, "log", "-1", "--format=%s")
    assert "no conflicts" in await do(outside, "git_conflicts", **folder)


@pytest.mark.parametrize("name", ["repo", "path"])
async def test_a_branch_is_switched_to_in_the_folder(
    outside: Toolbox, proj: Path, name: str
) -> None:
    on_a_side(proj, **{"a.txt": "side\n"})
    write(proj, **{"b.txt": "b\n"})
    await do(outside, "git_checkout", branch="side", **{name: "proj"})
    assert git(proj, "branch", "--show-current").strip() == "side"
    await do(outside, "git_checkout", branch="more", create=True, **{name: "proj"})
    assert git(proj, "branch", "--show-current").strip() == "more"
    await do(outside, "git_checkout", branch="main", paths=["proj/a.txt"])
    assert git(proj, "branch", "--show-current").strip() == "more"
    assert git(proj, "diff", "--name-only", "main").split() == []


async def test_in_a_repository_its_top_is_a_path_like_another(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws")
    on_a_side(repo, **{"a.txt": "side\n"})
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_checkout", branch="side", paths=["."])
    assert git(repo, "branch", "--show-current").strip() == "main"
    assert (repo / "a.txt").read_text() == "side\n"


async def test_what_is_no_folder_is_no_repository(outside: Toolbox, proj: Path) -> None:
    assert "proj/a.txt is a file" in await refused(
        outside, "git_commit", message="m", path="proj/a.txt"
    )
    assert "There is no folder origin" in await refused(outside, "git_pull", repository="origin")
    assert "takes no paths" in await refused(
        outside, "git_reset", mode="soft", revision="HEAD", path="proj"
    )


async def test_the_error_names_the_repository_beneath(outside: Toolbox, proj: Path) -> None:
    for name, arguments in (("git_commit", {"message": "m"}), ("git_add", {"paths": ["a.txt"]})):
        assert "Repositories are there: proj; repo names one" in await refused(
            outside, name, **arguments
        )


async def test_the_folder_of_a_repository_costs_no_words(outside: Toolbox) -> None:
    for name in ("git_commit", "git_checkout"):
        assert "repo" not in outside.registry.resolve(name).schema["properties"]


async def test_a_path_beside_paths_is_their_folder(outside: Toolbox, proj: Path) -> None:
    write(proj, **{"b.txt": "b\n"})
    await do(outside, "git_add", path="proj", paths=["b.txt"])
    assert git(proj, "diff", "--cached", "--name-only").split() == ["b.txt"]
    await do(outside, "git_reset", path="proj", paths=["b.txt"])
    assert git(proj, "diff", "--cached", "--name-only").split() == []
