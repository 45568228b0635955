"""A workspace with every trap in it, and each way of finding files beneath it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from toolcrib.files.handles import KernelOpener, Opener, WalkingOpener, can_pin, has_openat2
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace

CANARY = b"the canary outside the workspace"
OPENERS: dict[str, Callable[[], Opener]] = {
    "openat2": KernelOpener,
    "walk": partial(WalkingOpener, pinned=True),
    "walk-by-reading": partial(WalkingOpener, pinned=False),
}


@dataclass(frozen=True)
class Tree:
    """`root` is the workspace, `outside` a folder beside it that holds the canary."""

    root: Path
    outside: Path


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "openat2" and not has_openat2():
        pytest.skip("this kernel has no openat2, or forbids it")
    if request.param == "walk" and not can_pin():
        pytest.skip("this system has no O_PATH or no /proc")
    return OPENERS[request.param]()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return plant(tmp_path)


def plant(top: Path) -> Tree:
    root, outside = top / "ws", top / "ws_evil"
    (root / "src" / "deep").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_bytes(CANARY)
    (root / "readme.md").write_bytes(b"hello\n")
    (root / "src" / "main.py").write_bytes(b"print()\n")
    (root / "src" / "deep" / "leaf.txt").write_bytes(b"leaf")
    links = {
        "in": "src/main.py",
        "up": "src/deep/../main.py",
        "abs-in": root / "src",
        "abs-file": root / "src" / "main.py",
        "out": outside / "secret.txt",
        "out-rel": "../ws_evil/secret.txt",
        "out-folder": outside,
        "src/climb": "../../ws_evil/secret.txt",
        "chain": "chain2",
        "chain2": "out-rel",
        "loop": "loop2",
        "loop2": "loop",
        "self": "self",
        "broken": "nowhere",
        "proc-root": "/proc/self/root",
        "proc-cwd": "/proc/self/cwd",
        "back-in": "../ws/readme.md",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    return Tree(root, outside)


@pytest.fixture
def workspace(tree: Tree, opener: Opener) -> Workspace:
    return Workspace([str(tree.root)], Protection(), opener)
