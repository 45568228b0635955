"""While somebody swaps a link to and fro, nothing outside is ever read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.files.paths.conftest import CANARY, Tree
from toolcrib.core.errors import NotFound, PathDenied
from toolcrib.files.paths import Workspace
from toolcrib.files.real_paths import real_path

READS = 5000
FLIP = """
import os, sys
name, inside, outside = sys.argv[1:]
os.symlink(inside, name)
print("go", flush=True)
while True:
    for target in (inside, outside):
        os.symlink(target, name + ".new")
        os.replace(name + ".new", name)
"""


@contextmanager
def flipping(name: Path, inside: str, outside: str) -> Iterator[None]:
    argv = [sys.executable, "-S", "-c", FLIP, str(name), inside, outside]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def count(read: Callable[[], bytes], times: int) -> dict[str, int]:
    seen = {"inside": 0, "leaked": 0, "refused": 0}
    for _ in range(times):
        try:
            data = read()
        except (PathDenied, NotFound):
            seen["refused"] += 1
        else:
            seen["leaked" if data == CANARY else "inside"] += 1
    return seen


@pytest.mark.parametrize(
    ("link", "inside", "outside", "path"),
    [
        ("flip", "readme.md", "../ws_evil/secret.txt", "flip"),
        ("flip", "src", "../ws_evil", "flip/secret.txt"),
    ],
    ids=["file", "folder"],
)
def test_no_leak(
    workspace: Workspace, tree: Tree, link: str, inside: str, outside: str, path: str
) -> None:
    (tree.root / "src" / "secret.txt").write_bytes(b"hello\n")
    safe = workspace.resolve(path)
    with flipping(tree.root / link, inside, outside):
        seen = count(lambda: safe.read_bytes(1000), READS)
    assert seen["leaked"] == 0
    assert seen["inside"] > 0
    assert seen["refused"] > 0


SWING = """
import os, sys
inside, outside = sys.argv[1:]
print("go", flush=True)
while True:
    os.rename(inside, outside)
    os.rename(outside, inside)
"""


@pytest.mark.rows("X12")
def test_no_leak_while_a_parent_moves_out(workspace: Workspace, tree: Tree) -> None:
    """A link leads through a folder and back; where that is moved out, back is outside."""
    (tree.root / "a" / "swing").mkdir(parents=True)
    (tree.root / "a" / "secret.txt").write_bytes(b"hello\n")
    (tree.root / "swinging").symlink_to("a/swing/../secret.txt")
    inside, outside = str(tree.root / "a" / "swing"), str(tree.outside / "swing")
    argv = [sys.executable, "-S", "-c", SWING, inside, outside]
    safe = workspace.resolve("swinging")
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            seen = count(lambda: safe.read_bytes(1000), READS)
        finally:
            process.kill()
    assert seen["leaked"] == 0
    assert seen["inside"] > 0
    assert seen["refused"] > 0


@pytest.mark.rows("X12")
def test_listings_do_not_leak_either(workspace: Workspace, tree: Tree) -> None:
    safe = workspace.resolve("flip")
    with flipping(tree.root / "flip", "src", "../ws_evil"):
        for _ in range(READS // 5):
            try:
                names = {entry.name for entry in safe.list()}
            except (PathDenied, NotFound):
                continue
            assert names == {"main.py", "deep", "climb"}


def test_the_race_is_real(tree: Tree) -> None:
    """Checking a name and opening it afterwards does leak here."""

    def careless() -> bytes:
        name = tree.root / "flip"
        if not os.path.realpath(name).startswith(f"{tree.root}/"):
            raise PathDenied("outside")
        return name.read_bytes()

    with flipping(tree.root / "flip", "readme.md", "../ws_evil/secret.txt"):
        for _ in range(20):
            if count(careless, READS)["leaked"]:
                return
    pytest.fail("the flipping does not disturb anybody")


EXCHANGE = """
import ctypes, sys
print("go", flush=True)
exchange = ctypes.CDLL(None).renameat2
while True:
    exchange(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is of Linux")
def test_a_folder_and_a_link_change_places_while_links_are_followed(tmp_path: Path) -> None:
    """Python tells a link by one call and reads it by the next, and fails on what is none then."""
    top = Path(real_path(tmp_path))
    (top / "other").mkdir()
    (top / "in").mkdir()
    (top / "link").symlink_to("other")
    argv = [sys.executable, "-S", "-c", EXCHANGE, str(top / "in"), str(top / "link")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            seen = {real_path(top / "in/file") for _ in range(10 * READS)}
        finally:
            process.kill()
    assert seen <= {str(top / "in/file"), str(top / "other/file")}
