"""The user's name and address for git in runs, and nothing else of their settings.

They stand in a file that runs read as git's system settings, so that those of a repository, and
what a run sets itself, go before them.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from toolcrib.core.config import data_folder
from toolcrib.core.context import Ctx, Services
from toolcrib.execution.interpreters.programs import find_program, host_output
from toolcrib.execution.toolchains import home
from toolcrib.system.threads import random_id

SECONDS = 5.0
KEYS = {"user.name": "name", "user.email": "email"}
MIN_GIT = (2, 32)
"""The version that takes the place of the system's settings from a variable."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """What a run needs for them: files to read, and variables."""

    readable: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


FileState = tuple[int, int, int]
"""Inode, bytes, and the time of the last change of the inode in nanoseconds."""


class GitIdentity:
    """A service: asks git for them, outside of any repository, and again where they changed."""

    def __init__(self) -> None:
        self._settings = GitSettings()
        self._read_from: tuple[FileState | None, ...] = ()
        self._asking = asyncio.Lock()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is asked before a run wants it."""
        del services
        return cls()

    async def settings(self, ctx: Ctx) -> GitSettings:
        """What runs get; nothing where the user has told git no name."""
        async with self._asking:
            files = tuple(map(_state, _settings_files()))
            if files != self._read_from:
                found = await _settings(ctx)
                self._settings = found or GitSettings()
                self._read_from = files if found else ()
            return self._settings


def _settings_files() -> list[Path]:
    """Where git, as it is started here, looks for the user's own settings."""
    return [home() / ".gitconfig", home() / ".config/git/config"]


def _state(file: Path) -> FileState | None:
    with suppress(OSError):
        status = file.stat()
        return status.st_ino, status.st_size, status.st_ctime_ns
    return None


async def _settings(ctx: Ctx) -> GitSettings | None:
    """What git says; None where it gave no answer, or is not there."""
    program = find_program(ctx, "git")
    if not program:
        return None
    texts = await asyncio.gather(
        host_output(ctx, [program, "--version"], SECONDS),
        *(host_output(ctx, [program, "config", "--global", "--get", k], SECONDS) for k in KEYS),
    )
    if not texts[0]:
        return None
    version = tuple(int(number) for number in re.findall(r"\d+", texts[0])[:2])
    values = dict(zip(KEYS.values(), map(str.strip, texts[1:]), strict=True))
    lines = [f"\t{name} = {_quoted(value)}" for name, value in values.items() if value]
    if version < MIN_GIT or not lines:
        return GitSettings()
    path = await asyncio.to_thread(_stored_file, "\n".join(["[user]", *lines, ""]))
    variables = {"GIT_CONFIG_SYSTEM": str(path), "GIT_CONFIG_NOSYSTEM": "0"}
    return GitSettings((path,), variables)


def _quoted(value: str) -> str:
    plain = "".join(char for char in value if char.isprintable())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _stored_file(text: str) -> Path:
    """A file with this text, whole at any moment; the same one for the same text."""
    content = text.encode("utf-8", "replace")
    folder = Path(os.path.realpath(data_folder())) / "sandbox"
    path = folder / f"git-{hashlib.sha256(content).hexdigest()[:16]}"
    if not path.is_file() or path.read_bytes() != content:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = folder / f"{path.name}.{random_id(8)}"
        made.write_bytes(content)
        made.replace(path)
    return path
