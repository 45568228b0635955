"""What beside its content is taken over of a file: modes, times, extended attributes, holes."""

from __future__ import annotations

import asyncio
import os
import stat
import struct
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture
from toolcrib.execution.sandbox.terms import Limits

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
FOR_ONE = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", kind, may, who)
    for kind, may, who in (
        (1, 6, 0xFFFFFFFF), (2, 6, 4_999), (4, 0, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    )
)  # fmt: skip
"""An access list: the owner and the user 4999 may read and write, the group nothing."""
PYTHON = "python3 - <<'END'\nimport os\n{}\nEND\n"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def need_attributes(root: Path) -> None:
    from tests.conftest import absent

    try:
        os.setxattr(root, "user.try", b"1")
        os.removexattr(root, "user.try")
    except OSError:
        absent("this file system keeps no attributes of users")


async def test_modes_and_times_are_taken_over_and_undone(bench: RunBench, root: Path) -> None:
    for name in ("plain", "program", "both"):
        (root / name).write_text("x\n")
        (root / name).chmod(0o755 if name == "program" else 0o644)
    (root / "d").mkdir()
    before = picture(root)
    outcome = await bench.changed(
        """
        chmod a+x plain; chmod a-x program; chmod 640 both; echo y >> both; chmod 750 d
        printf '#!/bin/sh\\n' > new.sh; chmod 711 new.sh; mkdir -m 770 e; : > e/f; chmod 600 e/f
        touch -d '2001-02-03 04:05:06.789 UTC' old new.sh; ln -s old l
        """
    )
    assert outcome.state == "applied"
    names = ("plain", "program", "both", "d", "new.sh", "e", "e/f")
    assert [mode(root / name) for name in names] == [
        0o755, 0o644, 0o640, 0o750, 0o711, 0o770, 0o600,
    ]  # fmt: skip
    assert (root / "old").stat().st_mtime_ns == 981173106_789000000
    assert (root / "new.sh").stat().st_mtime_ns == 981173106_789000000
    now = picture(root)
    await bench.undo()
    assert picture(root) == before
    await bench.undo()
    assert picture(root) == now


async def test_attributes_of_new_files_are_taken_over(bench: RunBench, root: Path) -> None:
    need_attributes(root)
    outcome = await bench.changed(
        PYTHON.format(
            "open('new', 'w').write('n')\n"
            "os.setxattr('new', 'user.colour', b'red')\n"
            "os.setxattr('new', 'user.overlay.opaque', b'y')\n"
        )
    )
    assert outcome.notes == ()
    assert {a: os.getxattr(root / "new", a) for a in os.listxattr(root / "new")} == {
        "user.colour": b"red"
    }
    await bench.undo()
    assert os.listdir(root) == []


async def test_a_changed_file_keeps_its_own_and_it_is_told(bench: RunBench, root: Path) -> None:
    need_attributes(root)
    for name in ("written", "marked", "same"):
        (root / name).write_text("x\n")
        os.setxattr(root / name, "user.kept", b"1")
    outcome = await bench.changed(
        "echo y >> written\n" + PYTHON.format("os.setxattr('marked', 'user.new', b'2')")
    )
    assert os.listxattr(root / "written") == ["user.kept"]
    assert os.listxattr(root / "marked") == ["user.kept"]
    assert outcome.notes == (
        "not taken over: marked has extended attributes that the run gave to it",
    )
    await bench.undo()
    assert os.listxattr(root / "written") == ["user.kept"]
    assert (root / "written").read_text() == "x\n"


def attributes(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in sorted(os.listxattr(path))}


def need_access_lists(root: Path) -> None:
    from tests.conftest import absent

    need_attributes(root)
    (root / "try").write_text("")
    try:
        os.setxattr(root / "try", ACCESS, FOR_ONE)
    except OSError:
        absent("this file system keeps no access lists")
    (root / "try").unlink()


async def test_what_is_removed_comes_back_with_its_attributes(each: RunBench, root: Path) -> None:
    need_access_lists(root)
    (root / "d").mkdir()
    for name in ("gone", "replaced", "d/inner"):
        (root / name).write_text("x\n")
        os.setxattr(root / name, "user.note", b"mine")
        os.setxattr(root / name, ACCESS, FOR_ONE)
    names = ("gone", "replaced", "d/inner")
    before = [(attributes(root / name), mode(root / name)) for name in names]
    assert before[0] == ({ACCESS: FOR_ONE, "user.note": b"mine"}, 0o660)
    await each.changed("rm -r gone d; echo y > new; mv new replaced")
    assert not (root / "gone").exists()
    await each.undo()
    assert [(attributes(root / name), mode(root / name)) for name in names] == before


async def test_undo_brings_no_access_list_back_that_was_taken_away(
    bench: RunBench, root: Path
) -> None:
    need_access_lists(root)
    (root / "f").write_text("x\n")
    os.setxattr(root / "f", ACCESS, FOR_ONE)
    await bench.changed("echo y >> f")
    os.removexattr(root / "f", ACCESS)
    (root / "f").chmod(0o600)
    await bench.undo()
    assert (root / "f").read_text() == "x\n"
    assert (attributes(root / "f"), mode(root / "f")) == ({}, 0o600)


async def test_what_comes_back_lets_nobody_else_in(bench: RunBench, root: Path) -> None:
    need_access_lists(root)
    (root / "d").mkdir()
    (root / "d/plain").write_text("x\n")
    (root / "d/sub").mkdir()
    os.setxattr(root / "d", DEFAULT, FOR_ONE)  # for what is made in it from now on
    await bench.changed("rm -r d/plain d/sub")
    await bench.undo()
    assert (attributes(root / "d/plain"), attributes(root / "d/sub")) == ({}, {})
    await bench.changed("echo y >> d/plain")
    assert attributes(root / "d/plain") == {}
    await bench.changed("rm -r d")
    await bench.undo()
    assert attributes(root / "d") == {DEFAULT: FOR_ONE}


async def test_a_program_cannot_speak_in_the_marks_of_the_overlay(
    bench: RunBench, root: Path
) -> None:
    (root / "d").mkdir()
    (root / "d/kept").write_text("kept\n")
    (root / "f").write_text("f\n")
    before = picture(root)
    outcome = await bench.changed(
        PYTHON.format(
            "for mark in 'opaque whiteout redirect metacopy origin overlay.opaque'.split():\n"
            "  for name in ('d', 'f'):\n"
            "    for space in ('user', 'trusted'):\n"
            "      try: os.setxattr(name, f'{space}.overlay.{mark}', b'y')\n"
            "      except OSError: pass\n"
        )
        + "mknod d/kept2 c 0 0; touch .wh.f; echo new > d/new; true"
    )
    assert outcome.state == "applied"
    after = picture(root)
    assert sorted(set(after) - set(before)) == [".wh.f", "d/new"]
    assert {name: after[name] for name in before} == before


async def test_marks_that_a_job_sets_mislead_no_later_run(bench: RunBench, root: Path) -> None:
    need_attributes(root)
    (root / "d").mkdir()
    for name in ("d/kept", "empty", "f", "closed", "own", "untouched"):
        (root / name).write_text("" if name == "empty" else f"{name}\n")
    os.setxattr(root / "untouched", "user.overlay.origin", b"the user's own")
    before = picture(root)
    running = await bench.start(
        PYTHON.format(
            "for name, mark, value in (('empty', 'whiteout', b'y'), ('.', 'opaque', b'x'),\n"
            "    ('d', 'opaque', b'y'), ('f', 'metacopy', b''), ('f', 'redirect', b'/own'),\n"
            "    ('closed', 'metacopy', b'')):\n"
            "  os.setxattr(name, f'user.overlay.{mark}', value)\n"
            "os.chmod('closed', 0o400)\n"
            "os.setxattr('own', 'user.comment', b'x')\n"
            "open('new', 'w').close(); os.setxattr('new', 'user.overlay.whiteout', b'y')"
        )
    )
    async with asyncio.timeout(20):
        await running.confined.wait()
    outcome = await running.finish()
    (marks,) = (note for note in outcome.notes if "user.overlay" in note)
    assert marks.startswith("., closed, d, empty, f and 1 more: ")
    assert marks.endswith("removed")
    assert "own: extended attributes that the run may have set: undo leaves them" in outcome.notes
    for name in (".", "d", "empty", "f", "closed", "new"):
        assert os.listxattr(root / name) == []
    assert os.listxattr(root / "own") == ["user.comment"]
    assert os.listxattr(root / "untouched") == ["user.overlay.origin"]
    assert mode(root / "closed") == 0o400
    ran = await bench.sh("cat d/kept f closed empty; : > made")
    assert (ran.exit_code, str(ran.stdout)) == (0, "d/kept\nf\nclosed\n")
    await bench.undo(2)
    assert picture(root) == before


@pytest.mark.timeout(120)
async def test_a_file_of_holes_takes_no_room(opened: Opened, root: Path) -> None:
    bench = opened(run={"limits": {"disk_mb": 500}})
    await need_overlay(bench)
    outcome = await bench.changed(
        "truncate -s 3G big; echo end >> big; truncate -s 3000001 small; printf x >> small",
        limits=Limits(file_bytes=20_000_000_000),
        seconds=60.0,
    )
    assert outcome.state == "held"
    assert any("3.2 GB" in note for note in outcome.notes)
    assert (await bench.apply_pending(outcome.pending_id)).state == "applied"
    status = (root / "big").stat()
    assert status.st_size == 3 * 2**30 + 4
    assert status.st_blocks * 512 < 4_000_000
    with (root / "big").open("rb") as file:
        file.seek(3 * 2**30 - 1)
        assert file.read() == b"\0end\n"
    assert (root / "small").read_bytes() == bytes(3_000_001) + b"x"
    await bench.undo()
    assert os.listdir(root) == []


@pytest.mark.parametrize(
    "script",
    [
        "python3 -c \"import os; os.rename('d', 'e')\"",
        "git init -q; git add .; git mv d e",
    ],
)
async def test_a_folder_that_cannot_be_renamed_is_explained(
    bench: RunBench, root: Path, script: str
) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_text("f\n")
    ran = await bench.sh(script)
    assert ran.exit_code
    assert "cross-device link" in ran.outcome.notes[-1]
    assert "mv" in ran.outcome.notes[-1]


async def test_a_clone_with_hard_links_is_explained(bench: RunBench, root: Path) -> None:
    who = "-c user.name=n -c user.email=e@x"
    await bench.changed(f"git init -q a; cd a; echo x > f; git add f; git {who} commit -qm x")
    ran = await bench.sh("git clone -q a b; true")
    if "hardlink different" not in str(ran.stderr):
        pytest.skip("this git does not compare what it links")
    assert "git clone --no-hardlinks works" in ran.outcome.notes[-1]
    ran = await bench.sh("git clone -q --no-hardlinks a b")
    assert (ran.exit_code, str(ran.stderr)) == (0, "")
    assert not any("hardlinks" in note for note in ran.outcome.notes)


@pytest.mark.parametrize(
    "script",
    [
        "mv d e",
        "python3 -c \"import shutil; shutil.move('d', 'e')\"",
        "python3 -c \"import os; os.mkdir('n'); os.rename('n', 'm'); os.rename('d/f', 'g')\"",
    ],
)
async def test_what_can_be_renamed_is(bench: RunBench, root: Path, script: str) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_text("f\n")
    before = picture(root)
    outcome = await bench.changed(script)
    assert outcome.state == "applied"
    assert not (root / "d/f").exists()
    assert not any("cross-device" in note for note in outcome.notes)
    await bench.undo()
    assert picture(root) == before
