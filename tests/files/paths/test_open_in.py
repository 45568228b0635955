"""Reading many files beneath one folder that is held: quicker, and no more is given."""

from __future__ import annotations

import os

import pytest

from tests.files.paths.conftest import CANARY, Tree
from tests.files.paths.test_race import count, flipping
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import Handle, KernelOpener, has_openat2
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import SafePath, Workspace

READS = 3000


def content(path: SafePath, within: Handle | None) -> bytes:
    with path.open_read(within) as handle:
        return handle.file.read(100)


def read(workspace: Workspace, name: str, within: Handle | None) -> bytes | str:
    try:
        return content(workspace.resolve(name), within)
    except ToolError as error:
        return str(error)


def test_the_same_as_one_by_one(tree: Tree, workspace: Workspace) -> None:
    (tree.root / ".env").write_text("KEY=1")
    os.link(tree.root / ".env", tree.root / "innocent.txt")
    os.link(tree.root / "readme.md", tree.root / "second.md")
    (tree.root / "big.txt").write_bytes(b"x" * 101)
    (tree.root / "src" / "big.txt").write_bytes(b"x" * 100)
    names = [str(p.relative_to(tree.root)) for p in tree.root.rglob("*")]
    names += ["nowhere", "src/none.py", "out-folder/secret.txt", "abs-in/main.py", "readme.md/x"]
    for folder in (".", "src"):
        with workspace.resolve(folder).open() as top:
            for name in names:
                found = read(workspace, name, top)
                assert found == read(workspace, name, None), name
                assert found not in (CANARY, b"KEY=1")


@pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2, or forbids it")
@pytest.mark.parametrize(
    ("name", "direct"),
    [
        ("src/main.py", True),
        ("in", False),
        ("abs-in/main.py", False),
        ("fifo", False),
        ("src", False),
        (".env", False),
        ("second.md", False),
    ],
)
def test_only_plain_files_are_opened_directly(tree: Tree, name: str, direct: bool) -> None:
    (tree.root / ".env").touch()
    os.link(tree.root / "readme.md", tree.root / "second.md")
    workspace = Workspace([str(tree.root)], Protection(), KernelOpener())
    with workspace.start().open() as top:
        found = workspace.gate.open_in(top, name, workspace.resolve(name))
        assert (found is not None) == direct
        if found is not None:
            assert found.absolute == str(tree.root / name)
            found.close()


def test_a_root_that_has_become_a_link_is_not_used(tree: Tree, workspace: Workspace) -> None:
    tree.root.rename(tree.root.with_name("old"))
    tree.root.symlink_to(tree.outside)
    assert "has become a symbolic link" in str(read(workspace, "secret.txt", None))
    tree.root.unlink()
    tree.root.write_text("a file")
    assert "is not a folder" in str(read(workspace, "secret.txt", None))


@pytest.mark.parametrize(
    ("inside", "outside", "path"),
    [("readme.md", "../ws_evil/secret.txt", "flip"), ("src", "../ws_evil", "flip/secret.txt")],
)
def test_nothing_leaks(
    tree: Tree, workspace: Workspace, inside: str, outside: str, path: str
) -> None:
    (tree.root / "src" / "secret.txt").write_bytes(b"inside")
    wanted = workspace.resolve(path)
    with workspace.start().open() as top, flipping(tree.root / "flip", inside, outside):
        seen = count(lambda: content(wanted, top), READS)
    assert seen["leaked"] == 0
    assert seen["inside"] > 0
