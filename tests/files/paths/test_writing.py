"""A new file is whole or not there, and never takes the place of another."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.files.paths.conftest import CANARY, Tree
from toolcrib.core.errors import Cancelled, Conflict, PathDenied
from toolcrib.files.paths import Workspace
from toolcrib.files.writer import make_folder, write_new

nameless = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no O_TMPFILE")


def test_writes_all_of_it(workspace: Workspace, tree: Tree) -> None:
    data = os.urandom(3_000_000)
    write_new(workspace.resolve("src/new.bin"), data)
    assert (tree.root / "src" / "new.bin").read_bytes() == data
    write_new(workspace.resolve("empty"), b"")
    assert (tree.root / "empty").read_bytes() == b""
    assert (tree.root / "empty").stat().st_nlink == 1


def test_never_over_another(workspace: Workspace, tree: Tree) -> None:
    with pytest.raises(Conflict):
        write_new(workspace.resolve("readme.md"), b"changed")
    assert (tree.root / "readme.md").read_bytes() != b"changed"


def test_one_of_many_at_once_wins(workspace: Workspace, tree: Tree) -> None:
    def write(number: int) -> bool:
        try:
            write_new(workspace.resolve("race"), bytes([number]) * 100_000)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(40)))
    assert sum(won) == 1
    assert (tree.root / "race").read_bytes() == bytes([won.index(True)]) * 100_000


@each_case("text", ["in", "out", "broken", "out-folder/x", "fifo", ".env", ".mcp.json"])
def test_nothing_outside_and_nothing_protected(workspace: Workspace, tree: Tree, text: str) -> None:
    with pytest.raises((PathDenied, Conflict)):
        write_new(workspace.resolve(text), b"overwritten")
    assert (tree.outside / "secret.txt").read_bytes() == CANARY
    assert os.listdir(tree.outside) == ["secret.txt"]


def test_stopped_in_the_middle(workspace: Workspace, tree: Tree) -> None:
    steps = 0

    def check() -> None:
        nonlocal steps
        steps += 1
        if steps > 2:
            raise Cancelled("The call was cancelled.")

    before = sorted(os.listdir(tree.root))
    with pytest.raises(Cancelled):
        write_new(workspace.resolve("half"), bytes(5_000_000), check)
    assert sorted(os.listdir(tree.root)) == before


def limited(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in which files may have 100,000 bytes at most."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(folder)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )


def test_no_half_where_there_is_no_room(tmp_path: Path) -> None:
    program = """
        import sys
        from toolcrib.core.errors import StorageFailure
        from toolcrib.files.paths import Workspace
        from toolcrib.files.writer import write_new
        try:
            write_new(Workspace([sys.argv[1]]).resolve("half"), bytes(5_000_000))
        except StorageFailure as error:
            print(error)
    """
    done = limited(tmp_path, program)
    assert "the disk is full" in done.stdout, done.stderr
    assert os.listdir(tmp_path) == []


def test_no_half_where_files_need_a_name(tmp_path: Path) -> None:
    program = """
        import sys
        from toolcrib.files.paths import Workspace
        from toolcrib.files import writer
        with Workspace([sys.argv[1]]).resolve("half").place() as place:
            try:
                writer._written_in_place(place, bytes(5_000_000), lambda: None)
            except OSError as error:
                print(error)
    """
    done = limited(tmp_path, program)
    assert "too large" in done.stdout, done.stderr
    assert os.listdir(tmp_path) == []


@nameless
def test_no_half_after_a_kill(tmp_path: Path) -> None:
    program = """
        import sys, time
        from toolcrib.files.paths import Workspace
        from toolcrib.files.writer import write_new
        def check():
            print("writing", flush=True)
            time.sleep(0.05)  # so that it is killed in the middle
        write_new(Workspace([sys.argv[1]]).resolve("half"), bytes(500_000_000), check)
    """
    argv = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        process.kill()
    assert os.listdir(tmp_path) == []


def test_folders_are_made(workspace: Workspace, tree: Tree) -> None:
    make_folder(workspace.resolve("src/a/b/c"))
    make_folder(workspace.resolve("src/a/b/c"))
    make_folder(workspace.resolve("abs-in/d"))  # a link to a folder inside
    make_folder(workspace.resolve("."))
    assert (tree.root / "src" / "a" / "b" / "c").is_dir()
    assert (tree.root / "src" / "d").is_dir()


@each_case("text", ["readme.md", "readme.md/x", "out-folder/x", ".git/hooks", "fifo"])
def test_folders_that_are_not(workspace: Workspace, tree: Tree, text: str) -> None:
    with pytest.raises(PathDenied):
        make_folder(workspace.resolve(text))
    assert os.listdir(tree.outside) == ["secret.txt"]


def test_folders_made_at_once(workspace: Workspace, tree: Tree) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: make_folder(workspace.resolve("x/y/z")), range(16)))
    assert (tree.root / "x" / "y" / "z").is_dir()
