"""Which names of a tree the guard of a background run looks at, and what finding them takes."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolcrib.execution.runs.background_guard import BackgroundGuard
from toolcrib.files.paths import Workspace
from toolcrib.files.tree_events import TreeEvents
from toolcrib.files.trees import entries_beneath
from toolcrib.system.processes import Processes

NAMES = st.sampled_from(
    [".git", ".GIT", "HEAD", "orig_head", "commondir", "config", "config.worktree", "hooks", "refs",
     "Refs", "x\udcff", "objects", "index", ".gitignore", ".mailmap", "a.midx", "MERGE_RR",
     "grafts", "remotes", "rebase-merge", "bare.git", ".env", ".env.example", ".vscode",
     "settings.json", "id_rsa", "main.py", "src", "é", "e\u0301", ".git\u200d", "a\nb",
     ".env\udcff", "own", "top"]
)  # fmt: skip
PLACES = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
KINDS = st.sampled_from(["file", "file", "folder", "gitdir", "link", "socket", "pipe"])


def make(place: Path, kind: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to("elsewhere")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.fsencode(place))
    else:
        place.write_text("gitdir: elsewhere\n" if kind == "gitdir" else "text")


def make_tree(root: Path, tree: dict[str, str]) -> None:
    for place, kind in tree.items():
        try:
            make(root / place, kind)
        except OSError:  # another one of the tree is in its stead
            continue


def guard_of(workspace: Workspace) -> BackgroundGuard:
    return BackgroundGuard(workspace, Processes(), pytest.fail, lambda _: "")


def paths_beneath(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        yield from (f"{folder}/{name}" for name in (*folders, *files))


def found_by(guard: BackgroundGuard, root: Path) -> list[str]:
    entries = entries_beneath([str(root)], max_folders=10_000, max_seconds=60, max_depth=1_000)
    return list(guard._concerning(entries))


@settings(max_examples=150, deadline=None)
@example(tree={"bare.git/HEAD": "file", "bare.git/refs/x": "file", "bare.git/objects": "folder",
               "bare.git/deep/pipe": "pipe", "top/link": "link", "socket": "socket"})  # fmt: skip
@example(tree={".vscode/settings.json": "file", ".vscode/x": "file", "top/own/.env": "file"})
@given(tree=st.dictionaries(PLACES, KINDS, max_size=14))
def test_what_is_asked_of_folders_is_answered_as_by_name(tree: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        root = Path(folder) / "remotes"
        (root / "top").mkdir(parents=True)
        make_tree(root, tree)
        workspace = Workspace([str(root), str(root / "top")])
        workspace.gate.protection.add(["own/*"])
        guard = guard_of(workspace)
        expected = {path for path in paths_beneath(root) if guard._concerns(path)}
        found = found_by(guard, root)
        assert set(found) == expected
        assert len(found) == len(expected)


def test_ordinary_names_are_not_asked_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with ten thousands of files beside it took half a second of the processor for them."""
    for folder in ("a", "b"):
        make_tree(tmp_path, {f"src/{folder}/m{number}.py": "file" for number in range(200)})
    workspace, looks = Workspace([str(tmp_path)]), list[str]()
    find = Workspace.find
    monkeypatch.setattr(
        Workspace, "find", lambda self, path: looks.append(path) or find(self, path)
    )
    guard = guard_of(workspace)
    assert found_by(guard, tmp_path) == []
    assert len(looks) == 4  # the top, src, a, b
    (tmp_path / "src/a/.env").touch()
    assert found_by(guard, tmp_path) == [str(tmp_path / "src/a/.env")]


def test_only_folders_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path, {f"src/m{number}.py": "file" for number in range(50)})
    make_tree(tmp_path, {"src/deep/link": "link", "src/pipe": "pipe", "src/empty": "folder"})
    watches: list[str] = []
    watch = TreeEvents._watch
    monkeypatch.setattr(
        TreeEvents, "_watch", lambda self, path: watches.append(path) or watch(self, path)
    )
    events = TreeEvents([str(tmp_path)], max_depth=100)
    events.close()
    expected = [tmp_path, *(tmp_path / name for name in ("src", "src/deep", "src/empty"))]
    assert sorted(watches) == list(map(str, expected))
