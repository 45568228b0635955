"""Changes of a repository by the tools, each as plain git sees it, and taken back."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.made import commit, git, write
from toolcrib import Toolbox

Did = Callable[..., Awaitable[str]]


async def do(box: Toolbox, name: str, /, **arguments: Any) -> str:
    """The text of a call that has to work."""
    result = await box.call(name, arguments)
    assert result.error is None, result.render()
    return result.text


async def refused(box: Toolbox, name: str, /, **arguments: Any) -> str:
    result = await box.call(name, arguments)
    assert result.error is not None, result.render()
    assert result.error.hint
    return f"{result.error.code}: {result.error.message} {result.error.hint}"


def state(repo: Path) -> tuple[str, ...]:
    """All of a repository that somebody could miss."""
    refs = git(repo, "for-each-ref", "refs/heads", "refs/tags")
    head = (repo / ".git" / "HEAD").read_text()
    files = {
        path.relative_to(repo).as_posix(): path.read_bytes()
        for path in sorted(repo.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repo).parts
    }
    listed = git(repo, "status", "--porcelain=v2", "--untracked-files=all")
    return refs, head, git(repo, "stash", "list"), git(repo, "ls-files", "-s"), str(files), listed


@pytest.mark.parametrize("tracked", [True, False])
async def test_another_name_of_a_protected_file_is_not_stored(
    box: Toolbox, repo: Path, tracked: bool
) -> None:
    (repo / "d").mkdir()
    if tracked:
        write(repo, **{"d/plain.txt": "old\n"})
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "x")
        (repo / "d/plain.txt").unlink()
    write(repo, **{".env": "KEY=SECRET9\n", "a.txt": "changed\n"})
    os.link(repo / ".env", repo / "d/plain.txt")
    for name, arguments in (
        ("git_diff", {}),
        ("git_add", {"paths": ["d"]}),
        ("git_add", {"all": True}),
        ("git_diff", {"staged": True}),
        ("git_checkout", {"branch": "new", "create": True}),
        ("git_stash", {"untracked": True}),
        ("git_stash", {"action": "pop"}),
        ("git_commit", {"message": "x", "all": True}),
    ):
        result = await box.call(name, arguments)
        assert "SECRET9" not in result.text, name
    objects = git(repo, "cat-file", "--batch-all-objects", "--batch")
    assert "changed" in objects
    assert "SECRET9" not in objects
    assert (repo / "d/plain.txt").read_text() == "KEY=SECRET9\n"


async def test_a_merge_stores_no_protected_change(box: Toolbox, repo: Path) -> None:
    """Git keeps all changes in objects while it merges."""
    write(repo, **{".env": "KEY=old\n"})
    git(repo, "add", "-Af")
    git(repo, "commit", "-qm", "env")
    git(repo, "checkout", "-qb", "side")
    write(repo, **{"side.txt": "x\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "side")
    git(repo, "checkout", "-q", "main")
    write(repo, **{"other.txt": "x\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "other")
    write(repo, **{".env": "KEY=SECRET9\n"})
    result = await box.call("git_merge", {"branch": "side"})
    assert result.error is not None
    assert result.error.code == "denied"
    assert "SECRET9" not in git(repo, "cat-file", "--batch-all-objects", "--batch")
    git(repo, "checkout", ".env")
    await do(box, "git_merge", branch="side")


@pytest.mark.rows("C050", "C052", "C054", "E62", "E64")
async def test_a_change_is_staged_and_committed(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a.txt": "one\n2\nthree\n", "new/b.txt": "b\n", ".env": "KEY=1\n"})
    assert "?? new/" in await do(box, "git_status")
    text = await do(box, "git_add", all=True)
    assert "2 files" in text
    assert "protected: .env" in text
    text = await do(box, "git_commit", message="Second\n\nwith a body")
    assert text.startswith("[main] ")
    assert git(repo, "log", "-1", "--format=%an <%ae> %B").strip() == (
        "Ann <ann@example.com> Second\n\nwith a body"
    )
    assert git(repo, "ls-files").split() == ["a.txt", "new/b.txt"]
    await do(box, "git_commit", message=r"Better\n\n- one\n- two", amend=True)
    assert git(repo, "log", "-1", "--format=%B").rstrip() == "Better\n\n- one\n- two"
    await do(box, "git_commit", message="Better", amend=True)
    assert git(repo, "log", "--format=%s").split() == ["Better", "first"]


SCENES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "add": [("git_add", {"all": True})],
    "commit all": [("git_commit", {"message": "x", "all": True})],
    "amend": [("git_commit", {"message": "y", "amend": True, "all": True})],
    "new branch": [("git_checkout", {"branch": "new", "create": True})],
    "restored file": [("git_checkout", {"paths": ["a.txt"]})],
    "stash": [("git_stash", {"action": "push"})],
    "stash with new files": [("git_stash", {"action": "push", "untracked": True})],
    "stash pop": [("git_stash", {"untracked": True}), ("git_stash", {"action": "pop"})],
    "stash drop": [("git_stash", {}), ("git_stash", {"action": "drop"})],
    "tag": [("git_tag", {"action": "create", "name": "v1", "message": "one"})],
    "branch deleted": [("git_branch", {"action": "delete", "name": "other", "force": True})],
    "branch renamed": [("git_branch", {"action": "rename", "name": "main", "new_name": "m2"})],
    "reset": [("git_reset", {"revision": "HEAD~1"})],
    "soft reset": [("git_reset", {"revision": "HEAD~1", "mode": "soft"})],
    "stash, then another branch": [
        ("git_stash", {"untracked": True}),
        ("git_checkout", {"branch": "other"}),
    ],
    "stash, then a merge": [("git_stash", {"untracked": True}), ("git_merge", {"branch": "side"})],
    "stash, then a conflict": [
        ("git_stash", {"untracked": True}),
        ("git_merge", {"branch": "other"}),
    ],
    "stash, then a conflict resolved": [
        ("git_stash", {"untracked": True}),
        ("git_merge", {"branch": "other"}),
        ("git_conflicts", {"path": "a.txt", "take": "theirs"}),
        ("git_commit", {"message": "merged"}),
    ],
    "stash, then a conflict aborted": [
        ("git_stash", {"untracked": True}),
        ("git_merge", {"branch": "other"}),
        ("git_conflicts", {"abort": True}),
    ],
    "stash, then a rebase": [
        ("git_stash", {"untracked": True}),
        ("git_rebase", {"onto": "side"}),
    ],
    "stash, then a rebase that stops": [
        ("git_stash", {"untracked": True}),
        ("git_rebase", {"onto": "other"}),
        ("git_conflicts", {"path": "a.txt", "take": "text", "text": "both\n"}),
        ("git_rebase", {"action": "continue"}),
    ],
    "stash, then a pick": [("git_stash", {"untracked": True}), ("git_pick", {"commits": ["side"]})],
    "stash, then a revert": [
        ("git_stash", {"untracked": True}),
        ("git_pick", {"commits": ["HEAD"], "revert": True}),
    ],
}


def several_branches(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, **{"a.txt": "other\n", "only-other.txt": "x\n"})
    commit(repo, "on other")
    git(repo, "checkout", "-q", "-b", "side", "main")
    write(repo, **{"side/s.txt": "s\n"})
    commit(repo, "on side")
    git(repo, "checkout", "-q", "main")
    write(repo, **{"a.txt": "main\n", "c.txt": "c\r\nc\r\n"})
    commit(repo, "on main")
    write(repo, **{"a.txt": "changed\r\nmixed\n", "staged.txt": "s\n", "new file.txt": "n\n"})
    git(repo, "add", "staged.txt")
    (repo / "c.txt").unlink()


@pytest.mark.rows("C055", "C056", "E65", "E68", "E69", "E70", "E71")
@pytest.mark.parametrize("scene", SCENES)
async def test_each_is_taken_back_and_made_again(scene: str, box: Toolbox, repo: Path) -> None:
    several_branches(repo)
    states = [state(repo)]
    for name, arguments in SCENES[scene]:
        await do(box, name, **arguments)
        states.append(state(repo))
        assert states[-1] != states[-2], name
    for before in reversed(states[:-1]):
        text = await do(box, "undo_changes")
        assert state(repo) == before
        again = re.search(r"id=(\d+) makes this undone", text)
        assert again
        await do(box, "undo_changes", id=int(again[1]))
        assert state(repo) != before
        await do(box, "undo_changes")
        assert state(repo) == before
        # What was undone and made again and undone stands as three steps: forget the first two.
        git(repo, "fsck", "--connectivity-only")
        break
    assert "refs/toolcrib/undo/" in git(repo, "for-each-ref", "refs/toolcrib")


async def test_what_came_later_is_not_undone(box: Toolbox, repo: Path) -> None:
    several_branches(repo)
    await do(box, "git_stash", untracked=True)
    await do(box, "git_checkout", branch="other")
    write(repo, **{"a.txt": "by hand\n"})
    assert "a.txt" in await refused(box, "undo_changes")
    commit(repo, "by hand")
    assert "committed" in await refused(box, "undo_changes")
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    await do(box, "undo_changes")
    assert git(repo, "branch", "--show-current").strip() == "main"


async def test_steps_of_git_among_others(box: Toolbox, repo: Path) -> None:
    await do(box, "write_file", path="x.txt", content="1\n")
    await do(box, "git_add", paths=["x.txt"])
    await do(box, "git_commit", message="x")
    await do(box, "edit_file", path="x.txt", old="1", new="2")
    assert "git_commit" in await do(box, "list_changes")
    await do(box, "undo_changes")
    assert (repo / "x.txt").read_text() == "1\n"
    await do(box, "undo_changes", steps=3)
    assert git(repo, "log", "--format=%s").split() == ["first"]
    assert not (repo / "x.txt").exists()
    assert git(repo, "ls-files").split() == ["a.txt"]


async def test_a_file_is_no_name_for_a_commit(box: Toolbox, repo: Path) -> None:
    """A step of git that changed no file does not belong to the files of its repository."""
    await do(box, "write_file", path="x.txt", content="1\n")
    await do(box, "git_add", paths=["x.txt"])
    await do(box, "git_commit", message="x")
    await refused(box, "undo_changes", path="a.txt")
    await do(box, "edit_file", path="x.txt", old="1", new="2")
    await do(box, "undo_changes", path="x.txt")
    await do(box, "undo_changes", path="x.txt")
    assert not (repo / "x.txt").exists()
    assert git(repo, "log", "--format=%s").split() == ["x", "first"]


@pytest.mark.parametrize("all_files", [False, True])
async def test_a_secret_needs_an_answer(all_files: bool, box: Toolbox, repo: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    write(repo, **{"a.txt": f"one\ntwo\nkey = '{token}'\n"})
    if not all_files:
        await do(box, "git_add", all=True)
    text = await refused(box, "git_commit", message="x", all=all_files)
    assert "needs_approval" in text
    assert "a.txt line 3 (GitHub token)" in text


async def test_marks_of_a_conflict_are_not_committed(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a.txt": "<<<<<<< x\none\n=======\ntwo\n>>>>>>> y\n"})
    before = state(repo)
    text = await refused(box, "git_commit", message="x", all=True)
    assert "a.txt" in text
    assert state(repo) == before


async def test_nobody_to_commit_as(box: Toolbox, repo: Path, person: Path) -> None:
    (person / ".gitconfig").unlink()
    write(repo, **{"a.txt": "x\n"})
    text = await refused(box, "git_commit", message="x", all=True)
    assert "user.name" in text
    assert "user.email" in text


async def test_a_filter_that_does_not_run(box: Toolbox, repo: Path) -> None:
    write(repo, **{".gitattributes": "*.bin filter=lfs\n", "b.bin": "pointer\n"})
    commit(repo, "with a filter")
    git(repo, "config", "filter.lfs.clean", "false")
    write(repo, **{"b.bin": "a large content\n", "a.txt": "x\n"})
    assert "lfs" in await do(box, "git_status")
    assert "lfs" in await do(box, "git_commit", message="x", all=True)
    assert git(repo, "show", "HEAD:b.bin") == "pointer\n"
    git(repo, "checkout", "-q", "--", "b.bin")
    for name in ("other", "older"):
        git(repo, "branch", "-f", name, "HEAD~2")
    assert "b.bin" not in await do(box, "git_checkout", branch="other")
    assert "(lfs) does not run here: b.bin" in await do(box, "git_merge", branch="main")
    await do(box, "git_checkout", branch="older")
    assert "(lfs) does not run here: b.bin" in await do(box, "git_checkout", branch="main")


async def test_protected_files_ask(box: Toolbox, repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, **{".vscode/tasks.json": "{}\n", ".env": "SECRET=1\n"})
    git(repo, "add", "-f", ".")
    git(repo, "commit", "-qm", "tasks")
    git(repo, "checkout", "-q", "main")
    for name in ("git_checkout", "git_merge"):
        assert ".vscode/tasks.json" in await refused(box, name, branch="other")
    write(repo, **{".vscode/tasks.json": "[]\n"})
    git(repo, "add", "-f", ".vscode")
    git(repo, "commit", "-qm", "another")
    write(repo, **{".vscode/tasks.json": "changed\n"})
    assert ".vscode/tasks.json" in await refused(box, "git_checkout", paths=["."])
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    write(repo, **{".vscode/more.json": "[]\n"})
    git(repo, "stash", "-q", "--include-untracked")
    assert ".vscode/more.json" in await refused(box, "git_stash", action="pop")
    git(repo, "update-ref", "refs/remotes/origin/there", "other")
    git(repo, "remote", "add", "origin", "https://example.com/x.git")
    assert ".vscode/tasks.json" in await refused(box, "git_checkout", branch="there")
    git(repo, "symbolic-ref", "HEAD", "refs/heads/unborn")
    git(repo, "rm", "-rq", "--cached", ".")
    (repo / "a.txt").unlink()
    assert ".vscode/tasks.json" in await refused(box, "git_checkout", branch="other")
    assert not (repo / ".vscode").exists() or not list((repo / ".vscode").iterdir())
    git(repo, "symbolic-ref", "HEAD", "refs/heads/main")
    assert "SECRET" not in await do(box, "git_show", revision="other")
    assert "SECRET" not in await do(box, "git_diff", range="main..other")


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("git_log", {"range": "--output=x"}, "bad_input"),
    ("git_log", {"range": "nothing"}, "not_found"),
    ("git_log", {"since": "someday"}, "bad_input"),
    ("git_diff", {"range": "main..nothing"}, "not_found"),
    ("git_show", {"path": "none.txt"}, "not_found"),
    ("git_blame", {"path": "."}, "bad_input"),
    ("git_branch", {"action": "create", "name": "-x"}, "bad_input"),
    ("git_branch", {"action": "create", "name": "a..b"}, "bad_input"),
    ("git_branch", {"action": "delete", "name": "main"}, "conflict"),
    ("git_branch", {"action": "create", "name": "main"}, "conflict"),
    ("git_checkout", {"branch": "nothing"}, "not_found"),
    ("git_checkout", {"branch": "--orphan"}, "bad_input"),
    ("git_checkout", {}, "bad_input"),
    ("git_reset", {"mode": "hard"}, "denied"),
    ("git_commit", {"message": "x"}, "conflict"),
    ("git_commit", {}, "bad_input"),
    ("git_add", {}, "bad_input"),
    ("git_add", {"paths": ["none.txt"]}, "not_found"),
    ("git_add", {"paths": [".env"]}, "path_denied"),
    ("git_stash", {"action": "pop"}, "not_found"),
    ("git_stash", {}, "conflict"),
    ("git_merge", {"branch": "nothing"}, "not_found"),
    ("git_rebase", {"action": "continue"}, "bad_input"),
    ("git_conflicts", {"abort": True}, "not_found"),
    ("git_tag", {"action": "delete", "name": "v9"}, "not_found"),
    ("git_init", {}, "conflict"),
    ("git_init", {"path": "../other"}, "path_denied"),
)


async def test_bad_input(box: Toolbox, repo: Path) -> None:
    before = state(repo)
    wrong = []
    for name, arguments, code in BAD:
        text = await refused(box, name, **arguments)
        if not text.startswith(f"{code}:"):
            wrong.append(f"{name} {arguments}: {text}")
    assert not wrong, "\n".join(wrong)
    assert state(repo) == before


async def test_states_of_a_repository(box: Toolbox, repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()
    write(repo, **{"a.txt": "x\n"})
    assert "index.lock" in await refused(box, "git_add", all=True)
    (repo / ".git" / "index.lock").unlink()
    git(repo, "checkout", "-q", "--detach")
    assert "detached" in await do(box, "git_status")
    await do(box, "git_init", path="fresh", branch="trunk")
    await do(box, "change_directory", path="fresh")
    assert "no commit yet" in await do(box, "git_status")
    assert "no commit" in (await refused(box, "git_log")).lower()
    write(repo / "fresh", **{"first.txt": "x\n"})
    await do(box, "git_add", all=True)
    assert "[trunk] " in await do(box, "git_commit", message="first")
    assert git(repo / "fresh", "branch").strip() == "* trunk"


async def test_outside_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    async with Toolbox(workspace=tmp_path / "empty") as box:
        assert "git_init" in await refused(box, "git_status")


@pytest.mark.parametrize("option", ["--end-of-options", "--version"])
async def test_another_git(
    option: str, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrapper that does not know what newer ones know, and one that is very old."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = git(repo, "--exec-path").strip()
    old = "echo git version 2.11.0"
    answer = old if option == "--version" else "echo unknown option >&2; exit 129"
    program.write_text(
        f'#!/bin/sh\nfor word in "$@"; do [ "$word" = {option} ] && {{ {answer}; exit; }}; done\n'
        f'exec {real}/git "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    async with Toolbox(workspace=repo) as opened:
        if option == "--version":
            assert "2.32" in await refused(opened, "git_status")
        else:
            assert "main" in await do(opened, "git_status")
            await refused(opened, "git_log")


async def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with Toolbox(workspace=repo) as opened:
        assert "unavailable" in await refused(opened, "git_status")


async def test_a_name_alone_is_created(box: Toolbox, repo: Path) -> None:
    assert "Created side" in await do(box, "git_branch", name="side")
    assert "Created v1" in await do(box, "git_tag", tag="v1", message="first")
    assert git(repo, "tag", "--points-at", "HEAD").split() == ["v1"]
    assert "already exists" in await refused(box, "git_branch", name="side")
    assert "Renamed side to other" in await do(box, "git_branch", name="side", new_name="other")
    assert git(repo, "branch", "--format=%(refname:short)").split() == ["main", "other"]
    for name in ("git_branch", "git_tag"):
        text = await do(box, name, action="list", name="none")
        assert "there is no none: action=create makes it" in text
    assert "there is no" not in await do(box, "git_branch", action="list", name="other")


async def test_who_commits_is_read_again(box: Toolbox, repo: Path, person: Path) -> None:
    users = person / ".gitconfig"
    content = users.read_text()
    users.write_text("[core]\n\tautocrlf = false\n")
    write(repo, **{"a.txt": "changed\n"})
    assert "does not know who commits" in await refused(box, "git_commit", message="m", all=True)
    users.write_text(content)
    await do(box, "git_commit", message="m", all=True)
