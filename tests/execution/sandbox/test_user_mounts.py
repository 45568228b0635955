"""File systems that the user mounted in the workspace, with protected names in them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from tests.execution.sandbox.conftest import Box
from toolcrib.execution.sandbox.layout import SandboxRoot
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.namespaces import MountsMoved, check_mounts
from toolcrib.execution.sandbox.preparation import empty_file
from toolcrib.execution.sandbox.terms import Bind, ReadOnly, View


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A file system in the workspace, and a file that is mounted over another one beside it."""
    place, over = tmp_path / "ws/in/mnt", tmp_path / "ws/in/.env"
    place.mkdir(parents=True)
    over.touch()
    (tmp_path / "file").write_text("canary")
    mounts = ["-t", "tmpfs", "tmpfs", str(place)], ["--bind", str(tmp_path / "file"), str(over)]
    with ExitStack() as stack:
        for words in mounts:
            done = subprocess.run(["mount", *words], capture_output=True, check=False)
            if done.returncode:
                pytest.skip("this process cannot mount")
            stack.callback(subprocess.run, ["umount", "-l", words[-1]], check=True)
        (place / "folder").mkdir()
        yield place


@pytest.mark.parametrize("views", [Bind(), ReadOnly()])
async def test_names_beneath_mounts_are_covered(strong: Box, mounted: Path, views: View) -> None:
    for name in (".env", "folder/id_rsa"):
        (mounted / name).write_text("canary")
    (mounted / "plain").write_text("benign")
    script = (
        "cd in; mv mnt out; mv mnt/folder out; cat .env */* */*/*; cat mnt/.env; echo x > mnt/y"
    )
    done = await strong.sh(script, views=views)
    assert done.out.count("benign") == 1
    assert "canary" not in done.out
    assert (mounted / "y").exists() == isinstance(views, Bind)


async def test_a_mount_of_the_user_is_no_mask(strong: Box, mounted: Path) -> None:
    masks = [Mask(str(mounted), "fixed")]
    layout = SandboxRoot({str(strong.root): Bind()}, {}, [], [], masks, empty_file(), 1)
    place = strong.workspace.resolve(".")
    for given in (masks, []):
        async with await strong.sandbox.spawn(
            ["sleep", "60"], cwd=place, views=Bind(), masks=given
        ) as confined:
            facts = Path(f"/proc/self/fdinfo/{confined.namespace}").read_text()
            pid = int(facts.partition("Pid:")[2].split()[0])
            with nullcontext() if given else pytest.raises(MountsMoved):
                check_mounts(pid, layout)
