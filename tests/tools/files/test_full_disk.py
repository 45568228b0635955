"""Disks that are full, closed or short: every writing tool says so and leaves the tree alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.files.changes.conftest import picture
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.rows("C028", "E05"), pytest.mark.timeout(180)]
BIG = "0123456789abcdef" * 15_000
ADDED = "\n".join(f"+{BIG[at : at + 200]}" for at in range(0, len(BIG), 200))
PATCH = f"*** Begin Patch\n*** Add File: new/p.txt\n{ADDED}\n*** End Patch"
WRITING: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"path": "n/b.txt", "content": BIG}),
    ("write_file", {"files": [{"path": f"n/{i}", "content": BIG[:90_000]} for i in range(4)]}),
    ("append_file", {"path": "a.txt", "content": BIG}),
    ("edit_file", {"path": "a.txt", "old": "hello world", "new": BIG}),
    ("edit_lines", {"path": "a.txt", "operation": "insert", "start": 1, "content": BIG}),
    ("apply_patch", {"patch": PATCH}),
    ("replace_in_files", {"pattern": "x = 1", "replacement": BIG[:300], "dry_run": False}),
    ("copy_path", {"source": "tree", "destination": "tree2"}),
    ("archive_files", {"action": "unpack", "archive": "big.zip", "folder": "out"}),
    ("archive_files", {"action": "pack", "archive": "x.tar", "paths": ["tree"]}),
]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("make_directory", {"path": "one/two"}),
    ("move_path", {"source": "tree", "destination": "elsewhere/tree"}),
    ("delete_path", {"path": "tree"}),
    ("delete_path", {"path": "tree", "pattern": "**/f1*"}),
    ("restore_backup", {"name": "first", "confirm": True}),
    ("undo_changes", {}),
]


def fill(ws: Path) -> None:
    ws.mkdir()
    (ws / "a.txt").write_text("hello world\n" + "x = 1\n" * 2000)
    (ws / "tree/sub").mkdir(parents=True)
    for number in range(30):
        (ws / f"tree/sub/f{number}.txt").write_bytes(os.urandom(6000))
    with zipfile.ZipFile(ws / "big.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"m{number}", "hello" * 10_000)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of eight megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("a disk can only be mounted by root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def use_up(disk: Path, room: int) -> Path:
    status = os.statvfs(disk)
    filler = disk / "filler"
    with filler.open("wb") as file:
        file.write(bytes(status.f_bavail * status.f_frsize - room))
    return filler


async def refused_alone(box: Toolbox, ws: Path, name: str, arguments: dict[str, Any]) -> str:
    """A call that fails; nothing in the workspace differs, no part of a file is left."""
    before = picture(ws)
    result = await box.call(name, arguments)
    assert result.error is not None, (name, result.text)
    assert result.error.hint, name
    assert result.error.code != "internal", (name, result.error)
    assert picture(ws) == before, name
    return result.error.message


@pytest.mark.parametrize("where", ["ws", "state"])
@pytest.mark.parametrize("room", [0, 16_384])
async def test_a_full_disk(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, room: int
) -> None:
    ws = (small if where == "ws" else tmp_path) / "full"
    if where == "state":
        monkeypatch.setenv("TOOLCRIB_DATA", str(small / "state"))
    fill(ws)
    async with Toolbox(workspace=ws) as box:
        assert (await box.call("create_backup", {"name": "first", "paths": ["tree"]})).error is None
        assert (await box.call("delete_path", {"path": "tree/sub/f0.txt"})).error is None
        filler = use_up(small, room)
        for name, arguments in [*WRITING, *OTHERS]:
            before = picture(ws)
            result = await box.call(name, arguments)
            if result.error is None:  # little or nothing had to be written: then all of it is
                assert where == "state" or (name, arguments) in OTHERS, (name, result.text)
                assert (await box.call("undo_changes", {})).error is None or room < 20_000
                if picture(ws) != before:
                    break
            else:
                assert result.error.code == "storage_failure", (name, result.error)
                assert "full" in result.error.message + result.error.hint
                assert picture(ws) == before, name
        filler.unlink()
        assert (await box.call("write_file", {"path": "again.txt", "content": "x"})).error is None
        assert (ws / "again.txt").read_text() == "x"
        assert (await box.call("undo_changes", {})).error is None
        assert not (ws / "again.txt").exists()
    assert not [path for path in ws.rglob("*") if ".toolcrib-" in path.name]


@pytest.mark.parametrize("case", range(len(WRITING)))
async def test_one_call_on_a_full_disk_and_again_with_room(small: Path, case: int) -> None:
    name, arguments = WRITING[case]
    ws = small / "full"
    fill(ws)
    async with Toolbox(workspace=ws) as box:
        filler = use_up(small, 8192)
        message = await refused_alone(box, ws, name, arguments)
        assert "the disk is full" in message, message
        filler.unlink()
        before = picture(ws)
        result = await box.call(name, arguments)
        assert result.error is None, result.error
        assert picture(ws) != before


async def test_a_disk_that_is_only_read(small: Path) -> None:
    ws = small / "closed"
    fill(ws)
    async with Toolbox(workspace=ws) as box:
        assert (await box.call("create_backup", {"name": "first", "paths": ["tree"]})).error is None
        (ws / "tree/sub/f1.txt").write_bytes(b"changed")
        assert (await box.call("write_file", {"path": "b", "content": "x"})).error is None
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        for name, arguments in [*WRITING, *OTHERS]:
            message = await refused_alone(box, ws, name, arguments)
            assert "only" in message or "permi" in message or "denied" in message, (name, message)
        assert (await box.call("read_file", {"path": "b"})).error is None
        backup = await box.call("create_backup", {"name": "second", "paths": ["tree"]})
        assert backup.error is None
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)
        for name, arguments in WRITING:
            assert (await box.call(name, arguments)).error is None, name


PROGRAM = """
import asyncio, resource, signal, sys
from pathlib import Path
from toolcrib.toolbox import Toolbox
from tests.tools.files.test_full_disk import WRITING, refused_alone
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
async def main():
    ws = Path(sys.argv[1])
    async with Toolbox(workspace=ws) as box:
        assert (await box.call("list_changes", {})).error is None
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        for name, arguments in WRITING:
            print(name, " ".join((await refused_alone(box, ws, name, arguments)).split()))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        for name, arguments in WRITING:
            result = await box.call(name, arguments)
            assert result.error is None, (name, result.error)
asyncio.run(main())
print("end")
"""


def test_files_may_only_be_small(tmp_path: Path) -> None:
    fill(tmp_path / "ws")
    argv = [sys.executable, "-c", PROGRAM, str(tmp_path / "ws")]
    done = subprocess.run(
        argv, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    assert done.stdout.endswith("end\n"), done.stdout + done.stderr


async def test_a_disk_that_can_only_be_read_says_who_can_change_that(tmp_path: Path) -> None:
    folder = tmp_path / "read_only"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", str(folder)]
    if os.geteuid() or subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk here")
    try:
        settings = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
        async with Toolbox(settings, workspace=folder) as box:
            result = await box.call("write_file", {"path": "a.txt", "content": "x"})
            assert result.error is not None
            assert result.error.code == "path_denied"
            assert "ask the user to mount it for writing" in result.error.hint
    finally:
        subprocess.run(["umount", str(folder)], check=True)
