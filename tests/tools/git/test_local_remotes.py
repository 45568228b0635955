"""Remotes that are folders of the workspace: no server learns anything of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, make_repository, write
from tests.tools.git.test_local import refused
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
