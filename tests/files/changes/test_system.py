"""Full disks, read-only folders, unreadable trees: nothing is changed, and it is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.changes.conftest import picture

NOBODY = 65_534
HERE = Path(__file__).parents[3]
pytestmark = pytest.mark.rows("C028", "E05")
PROGRAM = """
import asyncio, json, os, resource, signal, sys
root, uid, limit, plans = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
from toolcrib import Toolbox
from toolcrib.toolbox import installed
from tests.files.changes.conftest import Bench
from toolcrib.core.errors import ToolError
from toolcrib.files.changes.step import Step
from pathlib import Path
async def warm():
    # Imports all that a plan needs, while the interpreter can still be read.
    bench = Bench.on(Path(root))
    try:
        await bench.write("warm", b"x"); await bench.write("warm", b"y"); await bench.delete("warm")
    except ToolError:
        pass
    await bench.services.close()
if uid:
    data, os.environ["TOOLCRIB_DATA"] = os.environ["TOOLCRIB_DATA"], f"{root}/../warm"
    asyncio.run(warm())
    os.environ["TOOLCRIB_DATA"] = data
    os.setgroups([]); os.setgid(uid); os.setuid(uid)
async def main():
    bench = Bench.on(Path(root))
    await bench.changes.steps()
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for calls in plans:
        plan = Step("x")
        for kind, name, *rest in calls:
            if kind == "write":
                plan.write(bench.path(name), os.urandom(rest[0]))
            elif kind == "delete":
                plan.delete(bench.path(name))
            else:
                plan.move(bench.path(name), bench.path(rest[0]))
        try:
            await bench.apply(plan)
            print("done")
        except ToolError as error:
            print(error.stable_code, " ".join(error.message.split()))
    await bench.services.close()
asyncio.run(main())
"""


Calls = list[list[object]]


def run(root: Path, *plans: Calls, uid: int = 0, limit: int = 0) -> str:
    """Apply plans in a process of its own, as a user or with small files only; a line each."""
    argv = [sys.executable, "-c", PROGRAM, str(root), str(uid), str(limit), json.dumps(plans)]
    done = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.stdout


def ordinary(top: Path) -> int:
    """A user who is not root, and owns the folder from now on; 0 is the present one."""
    if os.geteuid():
        return 0
    for folder, _, files in os.walk(top):
        os.chown(folder, NOBODY, NOBODY)
        for name in files:
            os.chown(Path(folder, name), NOBODY, NOBODY, follow_symlinks=False)
    return NOBODY


@pytest.fixture
def open_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace that every user can reach, with the state beside it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="toolcrib-") as top:
        Path(top).chmod(0o755)
        (Path(top) / "ws").mkdir()
        monkeypatch.setenv("TOOLCRIB_DATA", f"{top}/state")
        monkeypatch.setenv("TOOLCRIB_CONFIG", f"{top}/state/config.toml")
        yield Path(top) / "ws"


def test_no_room_for_the_second_file(root: Path) -> None:
    (root / "a").write_bytes(b"one")
    before = picture(root)
    calls = [["write", "a", 10], ["write", "new/b", 500_000], ["delete", "a"]]
    assert "the disk is full" in run(root, calls[:2], limit=200_000)
    assert picture(root) == before


def test_no_room_to_keep_what_is_deleted(root: Path) -> None:
    (root / "a").write_bytes(os.urandom(400_000))
    before = picture(root)
    assert "storage_failure" in run(root, [["delete", "a"]], limit=100_000)
    assert picture(root) == before


def test_a_small_disk(root: Path) -> None:
    """A real one of 256 kB, where this process may mount it."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(root)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this process cannot mount a small disk")
    try:
        (root / "a").write_bytes(b"one" * 1000)
        (root / "tree").mkdir()
        (root / "tree/leaf").write_bytes(b"leaf")
        before = picture(root)
        calls = [
            ["delete", "tree"],
            ["write", "a", 100_000],
            ["write", "b", 100_000],
            ["write", "c", 100_000],
        ]
        assert "the disk is full" in run(root, calls)
        assert picture(root) == before
        assert run(root, calls[:2]) == "done\n"
    finally:
        subprocess.run(["umount", str(root)], check=True)


def test_a_folder_that_cannot_be_written(open_root: Path) -> None:
    root = open_root
    for name in ("fine", "locked", "tree/inner"):
        (root / name).mkdir(parents=True)
        (root / name / "f").write_bytes(b"one")
    (root / "read-only").write_bytes(b"one")
    uid = ordinary(root.parent)
    (root / "locked").chmod(0o555)
    (root / "tree/inner").chmod(0o555)
    (root / "read-only").chmod(0o444)
    before = picture(root)
    bad: list[list[object]] = [
        ["write", "locked/f", 5],
        ["write", "locked/new", 5],
        ["write", "locked/sub/new", 5],
        ["delete", "locked/f"],
        ["delete", "tree"],
        ["move", "locked/f", "elsewhere"],
        ["move", "fine/f", "locked/g"],
        ["write", "read-only", 5],
    ]
    try:
        done = run(root, *([["write", "fine/new", 5], each] for each in bad), uid=uid).splitlines()
        assert [line.split()[0] for line in done] == ["path_denied"] * len(bad), done
        assert picture(root) == before
    finally:
        (root / "locked").chmod(0o755)
        (root / "tree/inner").chmod(0o755)


def test_an_unreadable_folder_in_a_tree(open_root: Path) -> None:
    root = open_root
    (root / "tree/closed").mkdir(parents=True)
    (root / "tree/closed/f").write_bytes(b"one")
    (root / "tree/secret").write_bytes(b"two")
    uid = ordinary(root.parent)
    for name in ("tree/closed", "tree/secret"):
        mode = (root / name).stat().st_mode
        (root / name).chmod(0)
        try:
            assert run(root, [["delete", "tree"]], uid=uid).startswith("path_denied")
        finally:
            (root / name).chmod(mode)
        assert (root / "tree/closed/f").read_bytes() == b"one"
