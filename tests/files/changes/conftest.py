"""A workspace, and calls that change it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import AppliedStep, Step
from toolcrib.files.paths import SafePath, Workspace

Picture = dict[str, tuple[object, ...]]


@dataclass
class Bench:
    """One process at work in a folder."""

    root: Path
    services: Services
    session: Session

    @classmethod
    def on(cls, root: Path, **sections: dict[str, object]) -> Bench:
        config = Config.load({"workspace": {"roots": [str(root)]}, **sections})
        return cls(root, Services(config), Session("one"))

    @property
    def changes(self) -> Changes:
        return self.services.use(Changes)

    def path(self, text: str) -> SafePath:
        return self.services.use(Workspace).resolve(text)

    def ctx(self, deadline: float | None = None) -> Ctx:
        async def invoke(*_: object) -> Result:
            return Result()

        caller = Caller("test")
        return Ctx("1", caller, self.session, self.services, Registry(()), invoke, deadline)

    async def apply(self, step: Step) -> AppliedStep:
        return await self.changes.apply(step, self.ctx())

    async def write(self, name: str, data: bytes) -> AppliedStep:
        step = Step("write_file")
        step.write(self.path(name), data)
        return await self.apply(step)

    async def delete(self, name: str) -> AppliedStep:
        step = Step("delete_path")
        step.delete(self.path(name))
        return await self.apply(step)

    async def undo(self, count: int = 1, path: str = "") -> AppliedStep:
        only = self.path(path) if path else None
        applied, _ = await self.changes.undo(self.ctx(), count, only)
        return applied

    def read_first(self, name: str) -> None:
        with self.path(name).open() as handle:
            self.session.remember_read(handle.absolute, handle.fingerprint)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def bench(root: Path) -> AsyncIterator[Bench]:
    opened = Bench.on(root)
    yield opened
    await opened.services.close()


@pytest.fixture
async def other(root: Path) -> AsyncIterator[Bench]:
    """Another process in the same folder, as far as one can be had in this one."""
    opened = Bench.on(root)
    opened.session = Session("other")
    yield opened
    await opened.services.close()


def picture(root: Path) -> Picture:
    """All that a folder holds: names, kinds, bits, times of files, and contents."""
    found: Picture = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            status = path.lstat()
            bits = stat.S_IMODE(status.st_mode)
            key = str(path.relative_to(root))
            if path.is_symlink():
                found[key] = ("link", os.readlink(path))
            elif path.is_dir():
                found[key] = ("folder", bits)
            elif path.is_file():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[key] = ("file", bits, status.st_mtime_ns, digest)
            else:
                found[key] = ("other", bits)
    return found
