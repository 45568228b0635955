"""What came with a repository beside its settings: states, links, and what undo keeps of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.made import commit, git, make_repository, write
from tests.tools.git.test_local import do, refused
from toolcrib import Toolbox

ACTING = ".vscode/tasks.json"
"""A file on which an editor acts: no tool writes it without asking."""
ALLOW: dict[str, Any] = {"policy": {"default": "allow", "taint": False}}


def with_acting_commit(repo: Path) -> str:
    """A commit on no checked out branch that brings such a file."""
    git(repo, "checkout", "-q", "-b", "evil")
    write(repo, **{ACTING: "{}\n"})
    made = commit(repo, "evil")
    git(repo, "checkout", "-q", "main")
    return made


def rebase_state(repo: Path, todo: str, start: str) -> None:
    git(repo, "checkout", "-q", "--detach")
    state = repo / ".git" / "rebase-merge"
    state.mkdir()
    head = git(repo, "rev-parse", "HEAD").strip()
    for name, text in {
        "git-rebase-todo": todo,
        "head-name": "refs/heads/main",
        "onto": head,
        "orig-head": start,
        "interactive": "",
        "msgnum": "1",
        "end": "1",
    }.items():
        (state / name).write_text(text)


@pytest.mark.parametrize(
    ("todo", "tool", "arguments"),
    [
        ("\tpick {evil} x\n", "git_rebase", {"action": "continue"}),
        ("pick main\u00a0x\n", "git_rebase", {"action": "continue"}),
        ("reset {evil}\n", "git_rebase", {"action": "continue"}),
        ("noop\n", "git_rebase", {"action": "abort"}),
        ("noop\n", "git_conflicts", {"abort": True}),
    ],
)
async def test_a_rebase_that_came_along_asks_before_it_writes_acting_files(
    repo: Path, todo: str, tool: str, arguments: dict[str, Any]
) -> None:
    evil = with_acting_commit(repo)
    git(repo, "branch", "main\u00a0x", evil)  # one word to git, and "main" is harmless
    head = git(repo, "rev-parse", "HEAD").strip()
    rebase_state(repo, todo.format(evil=evil), evil if todo == "noop\n" else head)
    async with Toolbox(workspace=repo) as box:
        assert f"needs_approval: {tool}" in await refused(box, tool, **arguments)
    assert not (repo / ACTING).exists()
    git(repo, "rebase", f"--{arguments.get('action', 'abort')}")
    assert (repo / ACTING).exists()


async def test_picks_that_came_along_ask(box: Toolbox, repo: Path) -> None:
    evil, head = with_acting_commit(repo), git(repo, "rev-parse", "HEAD")
    state = repo / ".git" / "sequencer"
    state.mkdir()
    for name, text in {"todo": f"pick {evil} x\n", "head": head, "abort-safety": head}.items():
        (state / name).write_text(text)
    assert ACTING in await refused(box, "git_pick", action="continue")
    assert not (repo / ACTING).exists()


@pytest.mark.parametrize("tool", ["git_commit", "git_merge"])
async def test_changes_that_were_put_aside_before_a_merge_ask(
    box: Toolbox, repo: Path, tool: str
) -> None:
    git(repo, "branch", "side")
    write(repo, **{ACTING: "{}\n"})
    git(repo, "add", "-A")
    stash = git(repo, "stash", "create")
    git(repo, "reset", "-q", "--hard")
    (repo / ".git" / "MERGE_AUTOSTASH").write_text(stash)
    write(repo, **{"b.txt": "b\n"})
    git(repo, "add", "b.txt")
    arguments = {"message": "m"} if tool == "git_commit" else {"branch": "side", "no_ff": True}
    assert ACTING in await refused(box, tool, **arguments)
    assert not (repo / ACTING).exists()


async def test_a_stash_that_brings_an_acting_file_back_asks(box: Toolbox, repo: Path) -> None:
    write(repo, **{ACTING: "{}\n"})
    commit(repo, "acting")
    (repo / ACTING).unlink()
    assert ACTING in await refused(box, "git_stash")
    assert not (repo / ACTING).exists()


async def test_nobody_is_asked_about_what_a_stash_leaves_out(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{".env": "A=1\n", "a.txt": "1\n"})
    write(repo, **{".env": "A=2\n"})
    async with Toolbox(workspace=repo) as box:
        assert "nothing to put aside" in await refused(box, "git_stash")
        write(repo, **{"a.txt": "2\n"})
        await do(box, "git_stash")
    assert (repo / ".env").read_text() == "A=2\n"


async def test_undo_keeps_nothing_from_behind_a_link(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{"d/x": "in\n", "a.txt": "1\n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("canary-4711\n")
    shutil.rmtree(repo / "d")
    (repo / "d").symlink_to(outside)
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_checkout", branch="new", create=True)
        stored = git(repo, "for-each-ref", "--format=%(objectname)", "refs/toolcrib").split()
        assert stored
        assert "canary" not in "".join(git(repo, "show", name) for name in stored)
        await do(box, "git_checkout", paths=["a.txt"])
        await do(box, "undo_changes")
    assert (outside / "x").read_text() == "canary-4711\n"


async def test_what_undo_keeps_is_not_shown(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{".env": "A=1\n", "a.txt": "1\n"})
    write(repo, **{".env": "A=canary-4711\n", "a.txt": "changed\n"})
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_checkout", branch="new", create=True)
        ref = git(repo, "for-each-ref", "--format=%(refname)", "refs/toolcrib").strip()
        for name in (ref, ref.removeprefix("refs/"), git(repo, "rev-parse", ref).strip()):
            assert "changed" in git(repo, "show", name)
            assert "canary-4711" not in git(repo, "show", name)
            assert "denied" in await refused(box, "git_show", revision=name)
            assert "denied" in await refused(box, "git_diff", range=f"HEAD..{name}")
            assert "denied" in await refused(box, "git_show", revision=name, path="0-000000")


async def test_a_renamed_protected_file_is_left_out(tmp_path: Path) -> None:
    text = "A=1\nB=canary-4711\nC=3\nD=4\nE=5\n"
    repo = make_repository(tmp_path / "ws", **{".env": text})
    git(repo, "mv", ".env", "env.txt")
    write(repo, **{"env.txt": text.replace("B=canary-4711\n", "")})
    git(repo, "add", "-A")
    assert "canary-4711" in git(repo, "diff", "--cached")
    async with Toolbox(workspace=repo) as box:
        assert "protected file left out" in await do(box, "git_diff", staged=True)
        commit(repo, "renamed")
        assert "canary" not in await do(box, "git_show")


async def test_lines_that_look_like_a_patch_hide_nothing_in_word_mode(tmp_path: Path) -> None:
    text = "diff --git a/a.txt b/a.txt\nA={}\n"
    repo = make_repository(tmp_path / "ws", **{".env": text.format(1), "p.patch": text.format(1)})
    write(repo, **{".env": text.format("canary-4711"), "p.patch": text.format("two words")})
    async with Toolbox(workspace=repo) as box:
        displayed = await do(box, "git_diff", words=True)
    assert "canary" not in displayed
    assert "p.patch +1 -1" in displayed
    assert "[-A=1-]{+A=two words+}" in displayed


@pytest.mark.parametrize("kind", ["link", "file", "file beside a bare one"])
async def test_a_clone_of_a_folder_copies_no_repository_outside(tmp_path: Path, kind: str) -> None:
    private = make_repository(tmp_path / "private", **{"s.txt": "canary-4711\n"})
    ws = tmp_path / "ws"
    source = ws / "source"
    source.mkdir(parents=True)
    if kind == "link":
        (source / ".git").symlink_to(private / ".git")
    else:
        if kind != "file":
            git(source, "init", "-q", "--bare", "-b", "main")
            git(make_repository(tmp_path / "plain"), "push", "-q", str(source), "main")
        (source / ".git").write_text(f"gitdir: {private / '.git'}\n")
    secret = git(private, "rev-parse", "HEAD:s.txt").strip()
    git(tmp_path, "clone", "-q", str(source), "control")
    assert git(tmp_path / "control", "cat-file", "blob", secret) == "canary-4711\n"
    reader = make_repository(ws / "reader")
    git(reader, "remote", "add", "origin", str(source))
    async with Toolbox(ALLOW, workspace=ws) as box:
        assert "path_denied" in await refused(box, "git_clone", url="source", path="copy")
        assert not (ws / "copy").exists()
        await do(box, "change_directory", path="reader")
        assert "path_denied" in await refused(box, "git_fetch", remote="origin")
    assert git(reader, "cat-file", "blob", secret, ok=False) == ""


async def test_a_clone_of_a_folder_takes_only_what_it_serves(tmp_path: Path) -> None:
    """Objects that lie there and belong to nothing stay there."""
    source = make_repository(tmp_path / "ws" / "source")
    write(source, **{"loose.txt": "canary-4711\n"})
    blob = git(source, "hash-object", "-w", "loose.txt").strip()
    async with Toolbox(ALLOW, workspace=tmp_path / "ws") as box:
        await do(box, "git_clone", url="source", path="copy", depth=1)
        await do(box, "git_clone", url="source", path="copy2")
    for name in ("copy", "copy2"):
        copy = tmp_path / "ws" / name
        assert git(copy, "log", "--format=%s").strip() == "first"
        assert git(copy, "cat-file", "blob", blob, ok=False) == ""


@pytest.mark.parametrize("kind", ["link", "file", "commondir"])
async def test_no_repository_is_made_where_git_would_be_led_elsewhere(
    tmp_path: Path, kind: str
) -> None:
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    ws.mkdir()
    outside.mkdir()
    if kind == "link":
        (ws / ".git").symlink_to(outside)
    elif kind == "file":
        git(tmp_path, "init", "-q", "--bare", str(outside))
        (outside / "HEAD").write_text("ref: refs/heads/mine\n")
        (ws / ".git").write_text(f"gitdir: {outside}\n")
    else:
        git(ws, "init", "-q")
        (ws / ".git" / "commondir").write_text(f"{outside}\n")
    before = sorted(os.listdir(outside))
    async with Toolbox(workspace=ws) as box:
        assert "path_denied" in await refused(box, "git_init")
    assert sorted(os.listdir(outside)) == before


async def test_what_another_working_tree_has_checked_out_stays(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "ws" / "main")
    git(main, "worktree", "add", "-q", "../linked", "-b", "side")
    async with Toolbox(workspace=tmp_path / "ws") as box:
        for here, there in (("linked", "main"), ("main", "side")):
            await do(box, "change_directory", path=str(tmp_path / "ws" / here))
            text = await refused(box, "git_checkout", branch=there)
            assert "conflict" in text
            assert "another working tree" in text
            delete = {"action": "delete", "name": there, "force": True}
            assert "another working tree" in await refused(box, "git_branch", **delete)
        await do(box, "git_branch", action="rename", name="side", new_name="other")
        await do(box, "change_directory", path=str(tmp_path / "ws" / "linked"))
        rename = {"action": "rename", "name": "main", "new_name": "trunk"}
        assert "another working tree" in await refused(box, "git_branch", **rename)
    assert git(tmp_path / "ws" / "linked", "symbolic-ref", "HEAD").strip() == "refs/heads/other"
    assert git(main, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


async def test_a_repository_that_ends_ignore_files_above_is_asked_about(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{".gitignore": ".env\n", "plain/a.txt": "1\n"})
    write(repo, **{"conf/.env": "A=1\n"})
    async with Toolbox(workspace=repo) as box:
        text = await refused(box, "git_init", path="conf")
        assert text.startswith("needs_approval") and ".env" in text
        assert not (repo / "conf/.git").exists()
        await do(box, "git_init", path="plain")
        write(repo, **{"conf/.gitignore": ".env\n"})
        await do(box, "git_init", path="conf")
    git(repo / "conf", "add", "-A")
    assert git(repo / "conf", "ls-files").split() == [".gitignore"]
