"""What the tools say of a repository, against the git program itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.git.made import commit, git, on_a_side, write
from tests.tools.git.test_local import do
from toolcrib import Toolbox

NAMES = ("plain.txt", "with space.txt", "ümläut.txt", "new\nline.txt", 'quo"te.txt', "tab\t.txt")


def history(repo: Path) -> None:
    """Renames, line ends, binary files, a submodule, odd names, two authors."""
    write(repo, **{name: f"{name!r}\nsecond\n" for name in NAMES})
    (repo / "data.bin").write_bytes(bytes(range(256)))
    (repo / "dos.txt").write_bytes(b"a\r\nb\r\n")
    (repo / b"latin\xe9.txt".decode("utf-8", "surrogateescape")).write_text("x\n")
    commit(repo, "all kinds of names")
    git(repo, "mv", "plain.txt", "renamed.txt")
    (repo / "dos.txt").write_bytes(b"a\r\nc\r\n")
    (repo / "data.bin").write_bytes(bytes(range(255)))
    git(repo, "rm", "-q", "with space.txt")
    (repo / "a.txt").chmod(0o755)
    git(repo, "add", "-A")
    bob = {"GIT_AUTHOR_NAME": "Bob", "GIT_AUTHOR_EMAIL": "bob@example.com"}
    git(repo, "commit", "-qm", "renames and more", **bob)


@pytest.mark.rows("C051", "E61", "C053", "E63")
async def test_history_and_differences(box: Toolbox, repo: Path) -> None:
    history(repo)
    log = await do(box, "git_log")
    wanted = git(repo, "log", "--format=%h %ad %an: %s", "--date=short").splitlines()
    assert [line.split(" (")[0] for line in log.splitlines()] == wanted
    assert (await do(box, "git_log", author="bob")).count("\n") == 0
    assert "all kinds" in await do(box, "git_log", grep="KINDS", limit=1)
    result = await box.call("git_log", {"limit": 1})
    assert result.next is not None
    following = await box.call(result.next.tool, dict(result.next.arguments))
    assert "all kinds" in following.text

    result = await box.call("git_diff", {"range": "HEAD~1..HEAD"})
    counted = git(repo, "diff", "--numstat", "-z", "--no-renames", "HEAD~1", "HEAD")
    assert result.error is None
    assert "renamed.txt (renamed from plain.txt)" in result.text
    assert "data.bin (binary)" in result.text
    assert "a.txt (mode 100755)" in result.text
    assert "with space.txt -2 (deleted)" in result.text
    assert "1\t1\tdos.txt" in counted
    assert "dos.txt +1 -1" in result.text
    assert "[-second-]{+third+}" in await _words(box, repo)
    displayed = await do(box, "git_show")
    assert "Bob" in displayed
    assert "renames and more" in displayed
    for name in NAMES[2:]:
        old = await box.call("git_show", {"revision": "HEAD~1", "path": name})
        if "\n" in name or "\t" in name:
            assert old.error is not None  # no path of a call has control characters
        else:
            assert old.text == f"{name!r}\nsecond\n"


async def _words(box: Toolbox, repo: Path) -> str:
    write(repo, **{"renamed.txt": "'plain.txt'\nthird\n"})
    return await do(box, "git_diff", words=True, path="renamed.txt")


@pytest.mark.rows("C050", "E60")
async def test_status_of_every_kind(box: Toolbox, repo: Path) -> None:
    history(repo)
    write(repo, **{NAMES[2]: "x\n", "new\nfile": "x\n"})
    git(repo, "mv", "renamed.txt", "again.txt")
    (repo / "dos.txt").unlink()
    lines = (await do(box, "git_status")).splitlines()
    assert lines[0] == "main"
    assert set(lines[1:]) == {
        "R  renamed.txt -> again.txt",
        " M ümläut.txt",
        " D dos.txt",
        r"?? new\nfile",
    }


@pytest.mark.rows("C057")
async def test_ranges_and_files_as_models_write_them(box: Toolbox, repo: Path) -> None:
    history(repo)
    plain = await box.call("git_show", {"revision": "HEAD", "path": "dos.txt"})
    assert (await box.call("git_show", {"revision": "HEAD:dos.txt"})).text == plain.text
    by_dots = await box.call("git_diff", {"range": "HEAD~1..HEAD"})
    assert by_dots.error is None
    assert (await box.call("git_diff", {"range": "HEAD~1 HEAD"})).text == by_dots.text
    for tool in ("git_diff", "git_log"):
        missing = await box.call(tool, {"path": "dos.tx"})
        assert missing.error is not None, tool
        assert "dos.txt" in missing.error.hint


async def test_blame(box: Toolbox, repo: Path) -> None:
    bob = {"GIT_AUTHOR_NAME": "Bob", "GIT_AUTHOR_DATE": "2020-02-03T04:05:06+0000"}
    write(repo, **{"a.txt": "one\n2\nthree\n"})
    git(repo, "commit", "-qam", "a digit", **bob)
    write(repo, **{"a.txt": "one\n2\nthree\nfour\n"})
    text = await do(box, "git_blame", path="a.txt", start=2)
    digit = git(repo, "rev-parse", "--short=8", "HEAD").strip()
    assert f"{digit} 2020-02-03 Bob: a digit\n2|2\n" in text
    assert text.endswith("not committed yet\n4|four")


async def test_a_subfolder_is_the_workspace(repo: Path, tmp_path: Path) -> None:
    write(repo, **{"inner/b.txt": "x\n"})
    async with Toolbox(workspace=repo / "inner") as box:
        result = await box.call("git_status")
    assert result.error is not None
    assert result.error.code == "not_found"
    del tmp_path


async def test_repositories_that_stand_in_the_workspace_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        git(tmp_path, "init", "-q", name)
    async with Toolbox(workspace=tmp_path) as box:
        result = await box.call("git_status")
        assert result.error is not None
        assert "one, two; repo names one" in result.error.hint
        assert (await box.call("change_directory", {"path": "two"})).error is None
        assert (await box.call("git_status")).error is None


async def test_a_submodule_and_a_working_tree_of_its_own(box: Toolbox, repo: Path) -> None:
    git(repo, "init", "-q", "-b", "main", "inner")
    write(repo / "inner", **{"b.txt": "x\n"})
    commit(repo / "inner", "inner")
    commit(repo, "with a submodule")
    git(repo, "worktree", "add", "-q", "tree", "-b", "apart")
    write(repo, **{"inner/b.txt": "changed\n", "tree/a.txt": "changed\n"})
    assert await do(box, "git_status", path="inner") == "main\n M b.txt"
    assert await do(box, "git_status", path="tree") == "apart\n M a.txt"
    assert "tree" in await do(box, "git_status")


async def test_a_sparse_and_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    write(repo, **{"deep/b.txt": "x\n", "other/c.txt": "y\n"})
    commit(repo, "second")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", "--sparse", f"file://{repo}", str(clone))
    async with Toolbox(workspace=clone) as box:
        assert (await do(box, "git_status")).endswith("clean")
        assert len((await do(box, "git_log")).splitlines()) == 1
        await do(box, "git_checkout", branch="new", create=True)
        write(clone, **{"a.txt": "x\n"})
        await do(box, "git_commit", message="x", all=True)
        await do(box, "undo_changes")
        assert "a.txt" in await do(box, "git_status")
    assert not (clone / "deep").exists()


async def test_words_of_a_conflict_are_shown_as_lines(box: Toolbox, repo: Path) -> None:
    on_a_side(repo, **{"a.txt": "side\n"})
    write(repo, **{"a.txt": "mine\n"})
    commit(repo, "mine")
    await do(box, "git_merge", branch="side")
    text = await do(box, "git_diff", words=True)
    assert text.startswith("(Lines, not words")
    assert "+mine" in text
    assert "+ side" in text
