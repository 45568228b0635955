"""What undo does with closed files and folders, for a user whom bits bind: `… NAME ROOT`."""

from __future__ import annotations

import asyncio
import stat
import sys
from pathlib import Path

from tests.files.changes.conftest import Bench, picture
from toolcrib.core.errors import Conflict
from toolcrib.files.changes.step import Step
from toolcrib.files.trees import EntryState


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def a_new_file(bench: Bench, root: Path) -> None:
    await bench.write("f", b"new")
    (root / "f").chmod(0)
    await bench.undo()
    assert picture(root) == {}


async def a_changed_file(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"old")
    (root / "f").chmod(0o640)
    before = picture(root)
    await bench.write("f", b"new")
    (root / "f").chmod(0)
    await bench.undo()
    assert picture(root) == before
    await bench.undo()
    assert mode(root / "f") == 0


async def a_new_folder(bench: Bench, root: Path, bits: int = 0o500) -> None:
    await bench.write("d/e/f", b"new")
    (root / "d/e").chmod(bits)
    (root / "d").chmod(bits)
    await bench.undo()
    assert picture(root) == {}
    await bench.undo()
    assert (root / "d/e/f").read_bytes() == b"new"


async def a_new_folder_of_no_bits(bench: Bench, root: Path) -> None:
    await a_new_folder(bench, root, 0)


async def a_folder_that_stays(bench: Bench, root: Path) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_bytes(b"old")
    await bench.write("d/f", b"new")
    (root / "d").chmod(0o500)
    await bench.undo()
    assert (root / "d/f").read_bytes() == b"old"
    assert mode(root / "d") == 0o500


async def a_folder_that_the_step_closed(bench: Bench, root: Path) -> None:
    (root / "d").mkdir(0o700)
    (root / "d/f").write_bytes(b"old")
    step = Step("run_command")
    step.write(bench.path("d/f"), b"new")
    step.set_mode(bench.path("d"), 0o500, EntryState.of((root / "d").stat()))
    await bench.apply(step)
    for content, bits in ((b"old", 0o700), (b"new", 0o500), (b"old", 0o700)):
        await bench.undo()
        assert (root / "d/f").read_bytes() == content
        assert mode(root / "d") == bits


async def the_workspace_itself(bench: Bench, root: Path) -> None:
    await bench.write("f", b"new")
    root.chmod(0o500)
    await bench.undo()
    assert not (root / "f").exists()
    assert mode(root) == 0o500


async def an_undo_that_is_refused(bench: Bench, root: Path) -> None:
    step = Step("run_command")
    step.write(bench.path("d/f"), b"new")
    step.write(bench.path("g"), b"new")
    await bench.apply(step)
    (root / "g").write_bytes(b"by hand")
    (root / "d").chmod(0o500)
    try:
        await bench.undo()
    except Conflict as error:
        assert "g has changed" in error.message
    else:
        raise AssertionError("it was not refused")
    assert (root / "d/f").read_bytes() == b"new"
    assert mode(root / "d") == 0o500


SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (
        a_new_file,
        a_changed_file,
        a_new_folder,
        a_new_folder_of_no_bits,
        a_folder_that_stays,
        a_folder_that_the_step_closed,
        the_workspace_itself,
        an_undo_that_is_refused,
    )
}


async def main(name: str, root: str) -> None:
    bench = Bench.on(Path(root))
    await SCENARIOS[name](bench, Path(root))
    await bench.services.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
