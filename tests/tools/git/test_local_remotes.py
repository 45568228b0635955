"""Remotes that are folders of the workspace: no server learns anything of them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, make_repository, on_a_side, write
from tests.tools.git.test_local import do, refused
from toolcrib import Toolbox
from toolcrib.core.context import Caller, Question
from toolcrib.state.sessions import Sessions


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """A repository `r`, and `o.git`, which it has for its origin."""
    repo = make_repository(tmp_path / "ws/r")
    git(tmp_path / "ws", "clone", "-q", "--bare", "r", "o.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "ws/o.git"))
    git(repo, "fetch", "-q", "origin")
    return tmp_path / "ws"


async def test_nobody_is_asked_to_read_from_them(ws: Path) -> None:
    git(ws / "o.git", "branch", "topic")
    seen: list[Question] = []

    async def ask(question: Question) -> bool:
        seen.append(question)
        return False

    async with Toolbox(workspace=ws) as box:
        call = partial(box.call, session="one", caller=Caller("test", ask=ask))
        (await box.use(Sessions).load("one")).taint(private=True, untrusted=True)
        for name, arguments in (
            ("git_clone", {"url": "o.git", "path": "a"}),
            ("git_clone", {"url": "./o.git", "path": "b", "branch": "topic"}),
            ("git_fetch", {"repo": "r", "branch": "topic"}),
            ("git_pull", {"repo": "r", "branch": "topic"}),
        ):
            done = await call(name, arguments)
            assert done.error is None, done.render()
        assert not seen
        await call("git_clone", {"url": "https://o.example/o.git", "path": "c"})
    assert [question.site for question in seen] == ["https://o.example"]


async def test_a_push_of_nothing_new_is_asked_about_in_words(ws: Path) -> None:
    seen: list[Question] = []

    async def ask(question: Question) -> bool:
        seen.append(question)
        return True

    async with Toolbox(workspace=ws) as box:
        call = partial(box.call, caller=Caller("test", ask=ask))
        done = await call("git_push", {"repo": "r"})
        assert "has all of it already" in done.text, done.render()
        write(ws / "r", **{"a.txt": "x\n"})
        commit(ws / "r", "a subject")
        await call("git_push", {"repo": "r"})
    nothing, one = (question.reason for question in seen)
    head = git(ws / "r", "rev-parse", "HEAD~").strip()[:12]
    where = f"to main of origin ({ws}/o.git)"
    assert nothing.endswith(f"it pushes no new commit {where}, up to {head}")
    assert f"it pushes 1 commit {where}: a subject, up to" in one


async def test_nobody_is_asked_about_what_would_be_refused(box: Toolbox, repo: Path) -> None:
    for arguments in ({}, {"remote": "origin"}, {"force": True}):
        assert (await refused(box, "git_push", **arguments)).startswith("not_found")
    write(repo, **{"taken/a.txt": "1\n"})
    url = "https://example.com/taken.git"
    for arguments in ({}, {"path": "taken"}):
        text = await refused(box, "git_clone", url=url, **arguments)
        assert "taken is there and not empty" in text
    git(repo, "remote", "add", "origin", url)
    assert "git_fetch first" in await refused(box, "git_push", force=True)
    assert (await refused(box, "git_push")).startswith("needs_approval")


@pytest.mark.parametrize(
    "place",
    [".git/refs/replace", ".git/rr-cache/abc", ".git/info", ".git/objects/info", ".git/remotes"],
)
async def test_nothing_is_cloned_into_a_repository_itself(ws: Path, place: str) -> None:
    async with Toolbox(workspace=ws) as box:
        text = await refused(box, "git_clone", url="o.git", path=f"r/{place}")
        assert "git repository's own folder" in text, text
        text = await refused(box, "git_clone", url="o.git", path="o.git/refs/heads/x")
        assert "git repository's own folder" in text, text
    assert not (ws / "r" / place / "a.txt").exists()


@pytest.mark.parametrize(
    "place", ["scripts", "tools", ".venv", "node_modules/x", "bin", ".cargo", ".github"]
)
async def test_a_clone_where_programs_act_is_asked_about(
    ws: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{ws}/r/bin:{os.environ['PATH']}")
    (ws / "r" / "node_modules").mkdir()
    git(ws / "r", "config", "core.hooksPath", "scripts")
    git(ws / "r", "config", "core.attributesFile", "tools/git/attributes")
    seen: list[Question] = []

    async def ask(question: Question) -> bool:
        seen.append(question)
        return len(seen) > 1

    async with Toolbox(workspace=ws) as box:
        call = partial(box.call, caller=Caller("test", ask=ask))
        arguments = {"url": "o.git", "path": f"r/{place}"}
        assert (await call("git_clone", arguments)).error is not None
        assert not (ws / "r" / place / "a.txt").exists()
        done = await call("git_clone", arguments)
        assert done.error is None, done.render()
        plain = await call("git_clone", {"url": "o.git", "path": "r/plain"})
        assert plain.error is None, plain.render()
    assert place.removesuffix("/x") in seen[0].reason
    assert str(ws) not in seen[0].reason
    assert len(seen) == 2


async def test_a_clone_says_on_what_in_it_programs_act(ws: Path) -> None:
    on_a_side(ws / "r", **{"a.txt": "x\n", ".venv/bin/python": "x"})
    async with Toolbox(workspace=ws) as box:
        done = await box.call("git_clone", {"url": "r", "path": "c", "branch": "side"})
        assert "act on .venv/bin/python" in done.text, done.render()


@pytest.mark.parametrize(
    "work", [("notes", "add", "-m", "mine"), ("tag", "-a", "v1", "-m", "mine"), ("worktree",)]
)
async def test_undo_leaves_a_clone_with_new_work_whole(ws: Path, work: tuple[str, ...]) -> None:
    on_a_side(ws / "r", **{"b.txt": "b\n"})
    async with Toolbox(workspace=ws) as box:
        await do(box, "git_clone", url="r", path="c")
        if work == ("worktree",):
            git(ws / "c", "worktree", "add", "-q", "../tree", "-b", "mine")
            commit(ws / "tree", "mine")
        else:
            git(ws / "c", *work)
        assert "came into the repository since" in await refused(box, "undo_changes")
    assert git(ws / "c", "fsck") == ""
    assert git(ws / "c", "status", "--porcelain") == ""


async def test_undo_takes_a_clone_away_until_somebody_worked_in_it(ws: Path) -> None:
    on_a_side(ws / "r", **{".env": "A=1\n", "run.sh": "x\n", "deep/er/b.txt": "b\n"})
    before = set(ws.iterdir())
    arguments = {"url": "r", "path": "c", "branch": "side"}
    async with Toolbox(workspace=ws) as box:
        await do(box, "git_clone", **arguments)
        git(ws / "c", "status")
        await do(box, "undo_changes")
        assert set(ws.iterdir()) == before
        await do(box, "undo_changes", id=2)
        assert git(ws / "c", "status", "--porcelain") == ""
        commit(ws / "c", "mine")
        assert "conflict" in await refused(box, "undo_changes", id=3)
    assert git(ws / "c", "log", "--format=%s").split() == ["mine", "side", "first"]
