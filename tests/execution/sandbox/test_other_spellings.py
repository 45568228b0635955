"""A disk that does not tell capitals apart gives what is masked by other spellings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execution.sandbox.conftest import Box, Open
from tests.servers.folding_disk import folding_disk
from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.terms import ReadOnly

SECRET = "correct horse"


@pytest.fixture
def disk(tmp_path: Path, strong: Box) -> Iterator[tuple[Path, Path]]:
    """A folder, and where it is seen as such a disk."""
    del strong
    if os.getuid() != 0 or not os.access("/dev/fuse", os.W_OK):
        pytest.skip("only root can mount a disk, and /dev/fuse is needed for it")
    real, seen = tmp_path / "real", tmp_path / "seen"
    real.mkdir()
    seen.mkdir()
    try:
        with folding_disk(real, seen):
            yield real, seen
    except OSError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", [".env", "keys/id_rsa", ".ssh/config", "two/.env"])
async def test_what_must_not_be_read_lets_nothing_run(
    disk: tuple[Path, Path], open_box: Open, name: str
) -> None:
    real, seen = disk
    (real / name).parent.mkdir(exist_ok=True)
    (real / name).write_text(SECRET)
    if name.startswith("two"):  # the other name is of the same file, and protected as well
        os.link(real / name, real / "two/.env.other")
    (real / "read.me").write_text("plain")
    script = f"cat READ.me; cat {name.swapcase()}; true"
    box = open_box("strong", roots=[seen])
    with pytest.raises(Unavailable, match="does not tell capitals apart"):
        await box.sh(script, views=ReadOnly())
    lifted = {"workspace": {"roots": [str(seen)], "unprotect": [".env*", "id_rsa*", ".ssh"]}}
    open_ = open_box("strong", roots=[seen], config=lifted)
    assert (await open_.sh(script, views=ReadOnly())).out == f"plain{SECRET}"


async def test_names_that_differ_in_capitals_alone_are_masked_each(strong: Box) -> None:
    (strong.root / ".env").write_text(SECRET)
    os.link(strong.root / ".env", strong.root / ".ENV")
    ran = await strong.sh("cat .env .ENV; echo works")
    assert "works" in ran.out
    assert SECRET not in ran.out
