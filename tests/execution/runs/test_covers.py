"""Covers that the guard of a background run makes: for as many names as there are, and for files
that are replaced at the worst moment."""

from __future__ import annotations

import asyncio
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench
from tests.execution.runs.test_background import lines_of
from toolcrib.execution.runs.background_guard import BackgroundGuard
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import Bind
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.processes import Processes

MANY = 700


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """As many as a shell usually gives: a container may give a million."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
async def test_what_comes_after_many_names_is_covered_too(bench: RunBench, root: Path) -> None:
    running = await bench.start(
        f"i=0; while [ $i -lt {MANY} ]; do mkdir a$i; : > a$i/.env; i=$((i+1)); done; echo made; "
        "until [ -e go ]; do sleep 0.05; done; "
        "while cat z/.env 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; sleep 60"
    )
    async with asyncio.timeout(60):
        await lines_of(running, "made")
        (root / "z").mkdir()
        (root / "z/.env").write_text("KEY=new\n")
        (root / "go").touch()
        await lines_of(running, "hidden")
    notes = (await running.finish()).notes
    assert not any("covered" in note for note in notes), notes


async def test_a_program_that_stands_in_a_folder_reads_nothing_that_comes_there(
    bench: RunBench, root: Path
) -> None:
    (root / "sub/deep").mkdir(parents=True)
    running = await bench.start(
        "cd sub/deep; echo begins; until [ -e go ]; do sleep 0.05; done; "
        "while cat .env ../.env ../other/.env 2>&1 | grep -q KEY; do sleep 0.05; done; "
        "echo x > .env; echo hidden; until [ -e later ]; do sleep 0.05; done; "
        "while cat .npmrc 2>&1 | grep -q KEY; do sleep 0.05; done; "
        "mv ../deep ../away; chmod 755 /run/pins; ls /run/pins/top 2>&1 | grep denied; sleep 60"
    )
    await lines_of(running, "begins")
    for name in (".env", "../.env"):
        (root / "sub/deep" / name).write_text("KEY=new\n")
    (root / "sub/other").mkdir()
    (root / "sub/other/.env").write_text("KEY=new\n")
    (root / "sub/deep/go").touch()
    async with asyncio.timeout(60):
        await lines_of(running, "hidden")
        (root / "sub/deep/.npmrc").write_text("KEY=second\n")
        (root / "sub/deep/later").touch()
        await lines_of(running, "denied")
    assert (root / "sub/deep").is_dir()
    assert (root / "sub/deep/.env").read_text() == "KEY=new\n"
    await running.finish()


async def test_a_program_in_a_folder_that_the_user_moves_reads_nothing_that_comes_there(
    bench: RunBench, root: Path
) -> None:
    (root / "sub/deep").mkdir(parents=True)
    (root / "sub/deep/.env").write_text("KEY=old\n")
    (root / "sub/near").touch()
    running = await bench.start(
        "cd sub/deep; ! mv ../deep ../../away 2>&1; ln ../near near && echo begins; "
        "until [ -e go ]; do sleep 0.05; done; while cat .npmrc .env 2>&1 | grep -q KEY; "
        "do sleep 0.05; done; echo x > .npmrc; echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    (root / "sub/deep").rename(root / "moved")
    (root / "moved/.npmrc").write_text("KEY=new\n")
    (root / "moved/go").touch()
    async with asyncio.timeout(60):
        await lines_of(running, "hidden")
    assert (root / "moved/.npmrc").read_text() == "KEY=new\n"
    await running.finish()


async def test_new_folders_beside_a_mount_of_the_user_stay(bench: RunBench, root: Path) -> None:
    (root / "mnt").mkdir()
    words = ["mount", "-t", "tmpfs", "tmpfs", str(root / "mnt")]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("this process cannot mount")
    try:
        running = await bench.start(
            "echo begins; until [ -e new/.npmrc ]; do sleep 0.05; done; "
            "while cat new/.npmrc 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; "
            "sleep 2; mv new away 2>&1; echo tried; sleep 60"
        )
        await lines_of(running, "begins")
        (root / "new").mkdir()
        (root / "new/.npmrc").write_text("KEY=new\n")
        async with asyncio.timeout(60):
            await lines_of(running, "tried")
        assert (root / "new/.npmrc").is_file()
        await running.finish()
    finally:
        subprocess.run(["umount", "-l", words[-1]], check=True)


async def test_what_the_user_mounts_later_stays_out(bench: RunBench, root: Path) -> None:
    inner = root / "mnt/in"
    mounts = ["mount", "-t", "tmpfs", "tmpfs"]
    (root / "mnt").mkdir()
    if subprocess.run([*mounts, str(root / "mnt")], capture_output=True, check=False).returncode:
        pytest.skip("this process cannot mount")
    try:
        subprocess.run(["mount", "--make-shared", str(root / "mnt")], check=True)
        inner.mkdir()
        running = await bench.start(
            "echo begins; until [ -e go ]; do sleep 0.05; done; "
            "grep -q KEY mnt/in/.env 2>/dev/null || echo hidden"
        )
        await lines_of(running, "begins")
        await asyncio.sleep(2)  # the guard has looked by then
        subprocess.run([*mounts, str(inner)], check=True)
        (inner / ".env").write_text("KEY=new\n")
        (root / "go").touch()
        async with asyncio.timeout(60):
            await lines_of(running, "hidden")
        await running.finish()
    finally:
        for place in (inner, root / "mnt"):
            subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


@pytest.mark.parametrize("there", [True, False])
async def test_what_a_new_link_with_a_protected_name_leads_to_is_covered(
    bench: RunBench, root: Path, there: bool
) -> None:
    running = await bench.start(
        "echo begins; until [ -e go ]; do sleep 0.05; done; sleep 2; "
        "cat .env t/sec.txt 2>&1 | grep -q KEY || echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    (root / "t").mkdir()
    if there:
        (root / "t/sec.txt").touch()
    (root / ".env").symlink_to("t/sec.txt")
    await asyncio.sleep(1)
    (root / "t/sec.txt").write_text("KEY=new\n")
    (root / "go").touch()
    async with asyncio.timeout(60):
        await lines_of(running, "hidden")
    await running.finish()


async def test_what_goes_and_comes_back_is_covered_in_the_end(bench: RunBench, root: Path) -> None:
    (root / "d").mkdir()
    running = await bench.start(
        "echo begins; until [ -e d/.env ]; do sleep 0.01; done; "
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "
        "mv d/.env x; sleep 0.04; mv x d/.env; sleep 0.04; done 2>/dev/null; "
        "while cat d/.env 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    (root / "d/.env").write_text("KEY=new\n")
    async with asyncio.timeout(60):
        await lines_of(running, "hidden")
    await running.finish()


async def test_what_could_not_be_covered_is_tried_again(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the server has no descriptor left for a moment."""
    running = await bench.start(
        "echo KEY > .npmrc; while grep -q KEY .npmrc 2>/dev/null; do sleep 0.05; done; "
        "echo begins; until [ -e go ]; do sleep 0.05; done; "
        "while cat .env 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    (root / "saved").write_text("KEY=new\n")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))  # those that are open stay
    try:
        (root / "saved").rename(root / ".env")
        await asyncio.sleep(1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    (root / "go").touch()
    async with asyncio.timeout(30):
        await lines_of(running, "hidden")
    notes = (await running.finish()).notes
    assert any("covered at once: " in note or "not all new" in note for note in notes), notes


async def test_what_is_replaced_before_the_watch_is_covered(bench: RunBench, root: Path) -> None:
    """An editor saves a file between the masks of a run and the begin of its guard."""
    (root / ".env").write_text("KEY=old\n")
    confined = await bench.services.use(Sandbox).spawn(
        ["/bin/sh", "-c", "while grep -qs KEY .env; do sleep 0.05; done; echo hidden; sleep 60"],
        cwd=bench.services.use(Workspace).resolve("."),
        views=Bind(),
    )
    guard = BackgroundGuard(
        bench.services.use(Workspace),
        bench.services.use(Processes),
        lambda: confined,
        lambda place: "file",
    )
    (root / "saved").write_text("KEY=new\n")
    (root / "saved").rename(root / ".env")
    guard.start()
    seen = b""
    async with asyncio.timeout(30):
        async for data in confined.read("stdout"):
            seen += data
            if b"hidden" in seen:
                break
    await guard.stop()
    confined.stop("")
    await confined.wait()
    confined.close()
    assert guard.notes == []


async def test_where_covering_fails_the_rest_is_done_and_the_program_is_ended(
    bench: RunBench, root: Path
) -> None:
    """For a while: what git would obey is put aside all the same."""
    confined = await bench.services.use(Sandbox).spawn(
        ["/bin/sh", "-c", "echo 'gitdir: ../elsewhere' > .git; : > commondir; sleep 60"],
        cwd=bench.services.use(Workspace).resolve("."),
        views=Bind(),
    )

    def kind_before(place: SafePath) -> str:
        if place.name == "HEAD":
            raise ValueError("cannot be told")
        return ""

    guard = BackgroundGuard(
        bench.services.use(Workspace), bench.services.use(Processes), lambda: confined, kind_before
    )
    guard.start()
    async with asyncio.timeout(30):
        await confined.wait()
    await guard.stop()
    confined.close()
    assert any("not all new protected names were covered" in note for note in guard.notes)
    assert any("the program was ended" in note for note in guard.notes), guard.notes
    assert (root / ".git.refused").exists()


async def test_what_is_written_under_other_names_is_told(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    """Package managers link what they install to their store."""
    (tmp_path / "store").write_text("whole\n")
    (root / "linked").hardlink_to(tmp_path / "store")
    (root / "own").write_text("whole\n")
    running = await bench.start("echo more >> linked; echo more >> own; echo done; sleep 60")
    await lines_of(running, "done")
    notes = (await running.finish()).notes
    hints = [note for note in notes if "written under other names too" in note]
    assert [note.rpartition(": ")[2] for note in hints] == ["linked"]
    (tmp_path / "store").write_text("whole\n")
    outcome = await bench.changed("echo other >> linked")
    assert not any("hard links" in note for note in outcome.notes)
    assert (tmp_path / "store").read_text() == "whole\n"
