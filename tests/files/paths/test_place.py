"""Where something is written: nothing is written through."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.cases import each_case
from tests.files.paths.conftest import CANARY, Tree
from toolcrib.core.errors import NotFound, PathDenied
from toolcrib.files.path_rules import Protection, Use
from toolcrib.files.paths import Workspace


def write(workspace: Workspace, text: str, data: bytes) -> None:
    """The least that a tool would do."""
    with workspace.resolve(text).place() as place:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        fd = os.open(place.name, flags, 0o644, dir_fd=place.folder)
        with os.fdopen(fd, "wb") as file:
            file.write(data)


def test_writes_new_and_old_files(workspace: Workspace, tree: Tree) -> None:
    write(workspace, "src/new.txt", b"new")
    write(workspace, "readme.md", b"changed")
    write(workspace, "abs-in/there.txt", b"by a link to a folder inside")
    assert (tree.root / "src" / "new.txt").read_bytes() == b"new"
    assert (tree.root / "readme.md").read_bytes() == b"changed"
    assert (tree.root / "src" / "there.txt").exists()


def test_tells_what_is_there(workspace: Workspace, tree: Tree) -> None:
    with workspace.resolve("readme.md").place() as place:
        assert place.status is not None
        assert place.status.st_size == 6
        assert place.absolute == f"{tree.root}/readme.md"
    with workspace.resolve("new").place() as place:
        assert place.status is None


@each_case(
    "text", ["in", "out", "out-rel", "broken", "out-folder/x", "fifo", "src/climb", ".", "chain"]
)
def test_never_through_a_link_or_into_a_pipe(workspace: Workspace, tree: Tree, text: str) -> None:
    with pytest.raises(PathDenied):
        write(workspace, text, b"overwritten")
    assert (tree.outside / "secret.txt").read_bytes() == CANARY
    assert os.listdir(tree.outside) == ["secret.txt"]
    assert (tree.root / "src" / "main.py").read_bytes() == b"print()\n"


def test_never_a_file_with_a_second_name(workspace: Workspace, tree: Tree) -> None:
    os.link(tree.outside / "secret.txt", tree.root / "innocent.txt")
    with pytest.raises(PathDenied, match="hard links"):
        write(workspace, "innocent.txt", b"overwritten")
    assert (tree.outside / "secret.txt").read_bytes() == CANARY


@pytest.mark.parametrize("text", [".env", ".git/hooks/pre-commit", ".GIT/config", ".mcp.json"])
def test_never_a_protected_name(workspace: Workspace, tree: Tree, text: str) -> None:
    for folder in (".git/hooks", ".GIT"):
        (tree.root / folder).mkdir(parents=True)
    with pytest.raises(PathDenied, match="protected"):
        write(workspace, text, b"x")


def test_never_a_protected_folder_behind_a_link(workspace: Workspace, tree: Tree) -> None:
    (tree.root / ".git" / "hooks").mkdir(parents=True)
    (tree.root / "shortcut").symlink_to(".git/hooks")
    with pytest.raises(PathDenied, match="protected"):
        write(workspace, "shortcut/pre-commit", b"x")


def test_the_folder_must_exist(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        write(workspace, "nowhere/x", b"x")


def test_a_name_is_looked_at_once_where_no_link_leads(
    workspace: Workspace, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of many files opens the place of each several times."""
    seen: list[str] = []
    match = Protection.match

    def noted(self: Protection, parts: Sequence[str], inside: int, use: Use) -> str:
        seen.append("/".join(parts[len(parts) - inside :]))
        return match(self, parts, inside, use)

    monkeypatch.setattr(Protection, "match", noted)
    with workspace.resolve("src/new.txt").place():
        assert seen == ["src/new.txt"]
    seen.clear()
    with workspace.resolve("abs-in/new.txt").place():
        assert seen == ["abs-in/new.txt", "src/new.txt"]
    seen.clear()
    (tree.root / ".vscode").mkdir()
    (tree.root / "plain").symlink_to(".vscode")
    for name in (".vscode/x", "plain/x"):
        with pytest.raises(PathDenied), workspace.resolve(name).place():
            pass
