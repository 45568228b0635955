"""A protected file is not read by another of its names either."""

from __future__ import annotations

import os

import pytest

from tests.files.paths.conftest import Tree
from toolcrib.core.errors import PathDenied
from toolcrib.files.handles import best_opener
from toolcrib.files.path_gate import HardLinks
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace

pytestmark = pytest.mark.rows("X12")


@pytest.mark.parametrize("secret", [".env", "src/deep/.env.local", ".ssh/known", "a/.ssh/b/c"])
def test_a_hard_link_to_a_secret(workspace: Workspace, tree: Tree, secret: str) -> None:
    (tree.root / secret).parent.mkdir(parents=True, exist_ok=True)
    (tree.root / secret).write_bytes(b"KEY=1")
    os.link(tree.root / secret, tree.root / "src" / "notes.txt")
    with pytest.raises(PathDenied, match="another name") as caught:
        workspace.resolve("src/notes.txt").read_bytes(100)
    assert "workspace.unprotect" in caught.value.hint


def test_other_hard_links_are_read(workspace: Workspace, tree: Tree) -> None:
    (tree.root / ".env").write_bytes(b"KEY=1")
    os.link(tree.root / "readme.md", tree.root / "second.md")
    os.link(tree.root / ".env", tree.root / ".env.second")
    assert workspace.resolve("second.md").read_bytes(100) == b"hello\n"


def test_what_is_lifted_is_lifted_for_all_names(tree: Tree) -> None:
    (tree.root / ".env").write_bytes(b"KEY=1")
    os.link(tree.root / ".env", tree.root / "notes.txt")
    opened = Workspace([str(tree.root)], Protection(unprotect=[".env*"]), best_opener())
    assert opened.resolve("notes.txt").read_bytes(100) == b"KEY=1"


def test_the_look_is_not_repeated_for_each_file(tree: Tree) -> None:
    (tree.root / ".env").write_bytes(b"KEY=1")
    os.link(tree.root / ".env", tree.root / "notes.txt")
    os.link(tree.root / "readme.md", tree.root / "second.md")
    twins = HardLinks(Protection())
    assert twins.pattern(str(tree.root), (tree.root / "notes.txt").stat()) == ".env*"
    (tree.root / "later").mkdir()
    (tree.root / "later" / ".env").write_bytes(b"KEY=2")
    os.link(tree.root / "later" / ".env", tree.root / "fresh.txt")
    # Within a moment the same look serves: that is the documented gap.
    assert twins.pattern(str(tree.root), (tree.root / "fresh.txt").stat()) == ""
    assert HardLinks(Protection()).pattern(str(tree.root), (tree.root / "fresh.txt").stat())


def test_a_root_that_is_gone(tree: Tree) -> None:
    os.link(tree.root / "readme.md", tree.root / "second.md")
    status = (tree.root / "second.md").stat()
    assert HardLinks(Protection()).pattern(str(tree.root / "nowhere"), status) == ""
