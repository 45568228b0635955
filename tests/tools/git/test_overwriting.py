"""What git does not know is not written over: no step could bring it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, make_repository, on_a_side, write
from tests.tools.git.test_local import do, refused
from toolcrib import Toolbox

OVERWRITTEN = "Files that git does not know would be overwritten"


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git_merge", {"branch": "side"}),
        ("git_rebase", {"onto": "side"}),
        ("git_pick", {"commits": ["side"]}),
        ("git_pull", {"remote": "origin", "branch": "side"}),
        ("git_stash", {"action": "pop"}),
        ("git_checkout", {"branch": "side", "paths": ["data"]}),
    ],
)
async def test_what_is_ignored_stays(
    box: Toolbox, repo: Path, tool: str, arguments: dict[str, object], kind: str
) -> None:
    if tool == "git_stash":
        write(repo, data="theirs\n")
        git(repo, "add", "data")
        git(repo, "stash", "-q")
    on_a_side(repo, data="theirs\n")
    write(repo, **{".gitignore": "data\nup\n"})
    commit(repo, "ignored")
    git(repo, "clone", "-q", "-b", "side", ".", "up")
    git(repo, "remote", "add", "origin", "./up")
    name = "data" if kind == "file" else "data/deep/own"
    write(repo, **{name: "mine\n"})
    text = await refused(box, tool, **arguments)
    assert f"{OVERWRITTEN}: {name}" in text
    assert (repo / name).read_text() == "mine\n"
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("git_merge", {"branch": "side"}, "a.txt~HEAD"),
        ("git_rebase", {"onto": "side"}, "a.txt~HEAD"),
        ("git_pick", {"commits": ["side"]}, "a.txt~HEAD"),
        ("git_pull", {"remote": "origin", "branch": "side"}, "a.txt~HEAD"),
        ("git_stash", {"action": "pop"}, "a.txt~Stashed changes"),
    ],
)
async def test_a_name_for_a_side_of_a_conflict_stays(
    box: Toolbox, repo: Path, tool: str, arguments: dict[str, object], name: str
) -> None:
    """Git keeps one side under it where the other one has a folder of the file's name."""
    if tool == "git_stash":
        write(repo, **{"a.txt": "stashed\n"})
        git(repo, "stash", "-q")
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "rm", "-q", "a.txt")
    write(repo, **{"a.txt/in": "theirs\n"})
    commit(repo, "a folder")
    if tool != "git_stash":
        git(repo, "checkout", "-q", "main")
    write(repo, **{".gitignore": "*~*\nup\n"} | ({} if tool == "git_stash" else {"a.txt": "3\n"}))
    commit(repo, "ours")
    git(repo, "clone", "-q", "-b", "side", ".", "up")
    git(repo, "remote", "add", "origin", "./up")
    write(repo, **{name: "mine\n"})
    assert f"{name} has a name under which git keeps" in await refused(box, tool, **arguments)
    assert (repo / name).read_text() == "mine\n"
    (repo / name).rename(repo / "a.txt~")  # as editors name what was
    result = await box.call(tool, arguments)
    assert result.error is None, result.text
    assert [p for p in repo.glob("a.txt~?*") if p.read_text() != "mine\n"]
    assert (repo / "a.txt~").read_text() == "mine\n"


@pytest.mark.parametrize("tool", ["git_stash", "git_checkout"])
async def test_a_folder_in_the_place_of_a_file_stays(box: Toolbox, repo: Path, tool: str) -> None:
    (repo / "a.txt").unlink()
    write(repo, **{"a.txt/own": "mine\n", ".git/info/exclude": "own\n"})
    arguments = {"paths": ["a.txt"]} if tool == "git_checkout" else {}
    assert f"{OVERWRITTEN}: a.txt/own" in await refused(box, tool, **arguments)
    assert (repo / "a.txt/own").read_text() == "mine\n"


async def test_undo_takes_no_folder_away(box: Toolbox, repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "without")
    git(repo, "rm", "-q", "a.txt")
    commit(repo, "without")
    git(repo, "checkout", "-q", "main")
    await do(box, "git_checkout", branch="without")
    write(repo, **{"a.txt/own": "mine\n"})
    assert f"{OVERWRITTEN}: a.txt/own" in await refused(box, "undo_changes")
    assert (repo / "a.txt/own").read_text() == "mine\n"


async def test_a_folder_of_git_makes_room_for_a_file(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{"a/b": "1\n", "c": "1\n"})
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "rm", "-q", "-r", "a")
    write(repo, a="file\n")
    commit(repo, "side")
    git(repo, "checkout", "-q", "main")
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_merge", branch="side")
        assert (repo / "a").read_text() == "file\n"
        await do(box, "undo_changes")
        assert (repo / "a/b").read_text() == "1\n"


@pytest.mark.parametrize("tool", ["git_stash", "git_checkout"])
async def test_changes_that_an_index_hides_stay(box: Toolbox, repo: Path, tool: str) -> None:
    write(repo, **{"b.txt": "1\n"})
    commit(repo, "b")
    git(repo, "update-index", "--assume-unchanged", "a.txt")
    write(repo, **{"a.txt": "mine\n", "b.txt": "2\n"})
    arguments = {"paths": ["a.txt", "b.txt"]} if tool == "git_checkout" else {}
    assert "Git is told to take a.txt for unchanged" in await refused(box, tool, **arguments)
    assert (repo / "a.txt").read_text() == "mine\n"
    git(repo, "update-index", "--no-assume-unchanged", "a.txt")
    await do(box, tool, **arguments)


async def test_undo_makes_no_repository(box: Toolbox, repo: Path) -> None:
    """Its settings came since: they would run a program as soon as git looks."""
    write(repo, **{"x/objects/k": "k", "x/refs/k": "k", "x/note": "k"})
    commit(repo, "x")
    git(repo, "branch", "without")
    git(repo, "checkout", "-q", "without")
    git(repo, "rm", "-q", "-r", "x/objects")
    commit(repo, "without")
    git(repo, "checkout", "-q", "main")
    await do(box, "git_checkout", branch="without")
    listed = (await box.call("list_changes", {})).text
    step = re.search(r"id=(\d+)", listed)
    assert step, listed
    write(repo, **{"x/HEAD": "ref: refs/heads/main\n", "x/config": "[core]\n\tfsmonitor = evil\n"})
    assert "x would be a git repository" in await refused(box, "undo_changes", id=int(step[1]))
    assert not (repo / "x/objects").exists()


async def test_what_the_other_side_deletes_stays_without_a_question(
    box: Toolbox, repo: Path
) -> None:
    """Git deletes what it knows alone."""
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "rm", "-q", "a.txt")
    commit(repo, "side")
    git(repo, "checkout", "-q", "main")
    git(repo, "rm", "-q", "--cached", "a.txt")
    write(repo, **{".gitignore": "a.txt\n"})
    commit(repo, "ignored")
    await do(box, "git_merge", branch="side")
    assert (repo / "a.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("name", ["x", "x\ny"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git_merge", {"branch": "side"}),
        ("git_rebase", {"onto": "side"}),
        ("git_pick", {"commits": ["side"]}),
    ],
)
@pytest.mark.parametrize("is_theirs", [False, True])
async def test_what_stands_where_a_folder_was_moved_stays(
    tmp_path: Path, tool: str, arguments: dict[str, object], name: str, is_theirs: bool
) -> None:
    repo = make_repository(tmp_path / "ws", **{"old/a": "1\n" * 9, "old/b": "2\n" * 9})
    git(repo, "checkout", "-q", "-b", "side")

    def move() -> None:
        git(repo, "mv", "old", "new")
        commit(repo, "moved")

    def add() -> None:
        write(repo, **{f"old/{name}": "theirs\n"})
        commit(repo, "added")

    (move if is_theirs else add)()
    git(repo, "checkout", "-q", "main")
    (add if is_theirs else move)()
    write(repo, **{f"new/{name}": "mine\n"})
    async with Toolbox(workspace=repo) as box:
        assert f"{OVERWRITTEN}: new/x" in await refused(box, tool, **arguments)
    assert (repo / "new" / name).read_text() == "mine\n"


async def test_a_link_in_the_place_of_a_folder_stays(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"d/x": "theirs\n"})
    write(repo, **{"own/x": "mine\n", ".git/info/exclude": "own\nd\n"})
    (repo / "d").symlink_to("own")
    for tool, arguments in (
        ("git_merge", {"branch": "side"}),
        ("git_checkout", {"branch": "side", "paths": ["."]}),
    ):
        assert f"{OVERWRITTEN}: d" in await refused(box, tool, **arguments)
    assert (repo / "d").is_symlink()


async def test_a_link_to_a_folder_beneath_stays(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, d="a file\n")
    write(repo, **{"own/x": "mine\n", "d/keep": "", ".git/info/exclude": "own\nd\n"})
    (repo / "d/keep").unlink()
    (repo / "d/link").symlink_to("../own")
    text = await refused(box, "git_checkout", branch="side", paths=["d"])
    assert f"{OVERWRITTEN}: d/link" in text


async def test_a_name_that_ends_with_a_return_stays(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"d\r": "theirs\n"})
    write(repo, **{"d\r": "mine\n", ".git/info/exclude": "d*\n"})
    assert OVERWRITTEN in await refused(box, "git_checkout", branch="side", paths=["."])
    assert (repo / "d\r").read_text() == "mine\n"


async def test_other_line_ends_stay(box: Toolbox, repo: Path) -> None:
    write(repo, **{".gitattributes": "* text=auto\n"})
    commit(repo, "attributes")
    on_a_side(repo, c="1\n2\n")
    (repo / "c").write_bytes(b"1\r\n2\r\n")
    text = await refused(box, "git_checkout", branch="side", paths=["."])
    assert f"{OVERWRITTEN}: c" in text


async def test_a_submodule_is_in_nobodys_way(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner")
    repo = make_repository(tmp_path / "ws")
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, b="1\n")
    commit(repo, "b")
    git(repo, "checkout", "-q", "main")
    git(repo, "clone", "-q", str(inner), "sub")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(repo, "commit", "-q", "-m", "sub")
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_checkout", branch="other")
        await do(box, "git_rebase", onto="main")
        for _ in range(2):
            await do(box, "undo_changes")
    assert git(repo, "branch", "--show-current") == "main\n"
    assert git(repo, "status", "--porcelain") == ""
    assert (repo / "sub/a.txt").exists()


async def test_what_is_the_same_already_is_written(box: Toolbox, repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", "a.txt")
    await do(box, "git_checkout", branch="main", paths=["a.txt"])
    assert git(repo, "status", "--porcelain") == ""


async def test_a_submodule_moves_along(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner")
    repo = make_repository(tmp_path / "ws")
    allowed = ("-c", "protocol.file.allow=always")
    git(repo, *allowed, "submodule", "--quiet", "add", str(inner), "sub")
    commit(repo, "sub")
    git(repo, "checkout", "-q", "-b", "side")
    write(repo / "sub", **{"b.txt": "b\n"})
    commit(repo / "sub", "b")
    commit(repo, "moved")
    git(repo, "checkout", "-q", "main")
    git(repo, *allowed, "submodule", "--quiet", "update")
    async with Toolbox(workspace=repo) as box:
        await do(box, "git_merge", branch="side", no_ff=True)
        await do(box, "undo_changes")
        await do(box, "git_pick", commits=["side"])
        assert git(repo, "log", "-1", "--format=%s").strip() == "moved"
