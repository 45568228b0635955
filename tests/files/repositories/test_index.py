"""Names in an index of git: those of each form are read, and those that lead out are found."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.indexes import index_naming
from toolcrib.files.repositories.index import (
    UNREADABLE,
    hidden_names,
    index_trouble,
    plain_index,
    read_index,
)

MISPLACED = (
    "../x", "a/../../x", "..", "/etc/x", "a//x", "./x", ".git/hooks/x", "a/.git/config", ".GIT/x",
    ".git./x", ".git /x", ".Git:x/y", "git~1/x", ".g\u200cit/x", ".git\u200f",
)  # fmt: skip
HARMLESS = (
    ".gitignore", "a/.gitattributes", ".github/x", "a..b/..c", "...", "git/x", "xgit~1/y", "~/x",
    "a b/c", "ä/ö.txt", "\u200c/x", "a.git/x", "x" * 5000,
)  # fmt: skip


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True).stdout


@pytest.mark.parametrize("version", [2, 4])
def test_a_name_that_leads_out_is_told(version: int) -> None:
    for name in MISPLACED:
        why = index_trouble(index_naming("a.txt", name, version=version))
        assert why.startswith("its index names "), name
    assert index_trouble(index_naming(*HARMLESS)) == ""


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_those_that_git_writes_are_harmless(tmp_path: Path, form: str, version: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    for number, name in enumerate((".gitignore", "ä/.x", "y" * 240, "a/b/c", "a/b/d", "a/bb")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}")
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--index-version", version, "--untracked-cache")
    git(tmp_path, "update-index", "--skip-worktree", "a/bb")
    data = (tmp_path / ".git/index").read_bytes()
    assert index_trouble(data, 32 if form == "sha256" else 20) == ""
    assert index_trouble(data, 20 if form == "sha256" else 32) == UNREADABLE
    git(tmp_path, "update-index", "--split-index")
    for part in (*tmp_path.glob(".git/sharedindex.*"), tmp_path / ".git/index"):
        assert index_trouble(part.read_bytes(), 32 if form == "sha256" else 20) == ""


def test_what_git_passes_over_is_not_read_by_another_hash() -> None:
    """Behind an extension a few bytes more, which git ignores; with SHA-256 it names nothing."""
    whole = index_naming("../x")[:-20] + b"TREE" + bytes(8)
    assert index_trouble(whole + hashlib.sha1(whole).digest()) == UNREADABLE


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_what_git_has_noted_for_itself_is_made_anew(tmp_path: Path, form: str) -> None:
    size = 32 if form == "sha256" else 20
    git(tmp_path, "init", "-q", f"--object-format={form}")
    for name in ("a/b", "c/d/e", "f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", "a", "f")
    git(tmp_path, "update-index", "--untracked-cache")
    git(tmp_path, "write-tree")
    git(tmp_path, "status", "-uall")
    place = tmp_path / ".git/index"
    whole = place.read_bytes()
    assert {each.kind for each in read_index(whole, size).extensions} >= {b"TREE", b"UNTR"}
    before = git(tmp_path, "ls-files", "-s", "--debug"), git(tmp_path, "status", "--porcelain")
    place.write_bytes(plain_index(whole, size, whole))
    assert read_index(place.read_bytes(), size) == (read_index(whole, size).entries, [])
    assert git(tmp_path, "fsck", "--strict", "--no-dangling") == b""
    assert before == (
        git(tmp_path, "ls-files", "-s", "--debug"),
        git(tmp_path, "status", "--porcelain"),
    )
    git(tmp_path, "update-index", "--split-index")
    split = place.read_bytes()
    assert b"link" in plain_index(split, size), "its entries are not all without that"


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_git_looks_at_each_file_that_was_changed(tmp_path: Path, form: str, version: str) -> None:
    size = 32 if form == "sha256" else 20
    git(tmp_path, "init", "-q", f"--object-format={form}")
    for name in ("assumed", "mine", "plain", "skipped", "theirs"):
        (tmp_path / name).write_text("old")
    git(tmp_path, "add", ".")
    git(tmp_path, "update-index", "--index-version", version, "--skip-worktree", "mine")
    place = tmp_path / ".git/index"
    old = place.read_bytes()
    git(tmp_path, "update-index", "--assume-unchanged", "assumed", "theirs")
    git(tmp_path, "update-index", "--skip-worktree", "skipped", "theirs")
    new = place.read_bytes()
    assert hidden_names(new, size, old) == [b"assumed", b"skipped", b"theirs"]
    assert hidden_names(new, size, old, is_sparse=True) == [b"assumed", b"theirs"]
    assert hidden_names(new, size, new) == []
    for name in ("assumed", "mine", "plain", "skipped", "theirs"):
        (tmp_path / name).write_text("new")
    (tmp_path / "plain").write_text("old")
    place.write_bytes(plain_index(new, size, old))
    changed = b"assumed\nskipped\ntheirs\n"
    assert git(tmp_path, "diff", "--name-only") == changed
    # What is noted of the state of a file holds only if it was noted before.
    place.write_bytes(plain_index(old, size))
    assert b"size: 3" not in git(tmp_path, "ls-files", "--debug")
    assert plain_index(old, size, old) == old
    assert git(tmp_path, "fsck", "--strict", "--no-dangling") == b""


def test_folders_that_git_looks_into_lie_in_the_working_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "aa").mkdir()
    (tmp_path / "aa/x").touch()
    git(tmp_path, "update-index", "--untracked-cache")
    git(tmp_path, "status")
    data = (tmp_path / ".git/index").read_bytes()
    assert b"aa\0" in data
    assert index_trouble(data) == ""
    assert "names '..'" in index_trouble(data.replace(b"aa\0", b"..\0"))


def test_what_is_damaged_cannot_be_read() -> None:
    data = index_naming("a.txt", "b.txt")
    assert index_trouble(b"") == ""
    endless = data[:4] + b"\0\0\0\4" + data[8:74] + b"\xff" * 200_000
    for broken in (
        endless,
        data[:40],
        data[:-25],
        b"DIRX" + data[4:],
        data[:8] + b"\xff" * 4 + data[12:],
    ):
        assert index_trouble(broken) == UNREADABLE
