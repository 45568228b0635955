"""Files and folders of our own that runs need: in the data folder, for us alone."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from toolcrib.core.config import data_folder

SCRATCH = "run-"


def empty_file() -> str:
    """A file that nobody can read and that has nothing in it."""
    path = data_folder() / "sandbox" / "nothing"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o000))
    return os.path.realpath(path)


def scratch_folder() -> str:
    """A folder for temporary files of one run; those of servers that died are removed."""
    top = data_folder() / "sandbox"
    top.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in top.glob(f"{SCRATCH}*"):
        owner = old.name.removeprefix(SCRATCH).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(old, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-", dir=os.path.realpath(top))
