"""A folder that another program swaps all the time: nothing lands outside, answers are clear."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from toolcrib import Toolbox

CALLS = 200
SWAP = """
import os, shutil, sys
os.chdir(sys.argv[1])
print("go", flush=True)
while True:
    try:
        os.rename("d", "e")
        if sys.argv[2] == "link":
            os.symlink("../outside", "d")
        else:
            open("d", "w").close()
        os.unlink("d")
        os.rename("e", "d")
    except OSError:  # the tool made a folder in between
        for name in "de":
            shutil.rmtree(name, ignore_errors=True)
            for remove in (os.unlink, os.mkdir):
                try:
                    remove(name) if remove is os.unlink or name == "d" else None
                except OSError:
                    pass
"""
CLEAR = {"", "conflict", "not_found", "path_denied"}


@pytest.mark.parametrize("by", ["link", "file"])
async def test_writes_into_a_folder_that_is_swapped(tmp_path: Path, by: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "d").mkdir(parents=True)
    outside.mkdir()
    command = [sys.executable, "-S", "-c", SWAP, str(root), by]
    codes: Counter[str] = Counter()
    unclear: set[str] = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        try:
            async with Toolbox(workspace=root) as box:
                for number in range(CALLS):
                    result = await box.call(
                        "write_file", {"path": f"d/{number}.txt", "content": "x"}
                    )
                    codes[result.error.code if result.error else ""] += 1
                    if result.error and result.error.code not in CLEAR:
                        unclear.add(result.text)
            assert swapper.poll() is None
        finally:
            swapper.kill()
    assert list(outside.iterdir()) == []
    assert set(codes) <= CLEAR, (codes, unclear)
