"""The user's name and address for git in runs, and nothing else of their settings.

They stand in a file that runs read as git's system settings, so that those of a repository, and
what a run sets itself, go before them.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from toolcrib.core.config import data_folder
from toolcrib.core.context import Ctx, Services
from toolcrib.execution.interpreters.programs import find_program, host_output

SECONDS = 5.0
KEYS = {"user.name": "name", "user.email": "email"}
MIN_GIT = (2, 32)
"""The version that takes the place of the system's settings from a variable."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """What a run needs for them: files to read, and variables."""

    readable: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


class GitIdentity:
    """A service: asks git for them once, outside of any repository."""

    def __init__(self) -> None:
        self._settings: GitSettings | None = None
        self._asking = asyncio.Lock()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is asked before a run wants it."""
        del services
        return cls()

    async def settings(self, ctx: Ctx) -> GitSettings:
        """What runs get; nothing where the user has told git no name."""
        async with self._asking:
            if self._settings is None:
                self._settings = await _settings(ctx)
            return self._settings


async def _settings(ctx: Ctx) -> GitSettings:
    program = find_program(ctx, "git")
    if not program:
        return GitSettings()
    texts = await asyncio.gather(
        host_output(ctx, [program, "--version"], SECONDS),
        *(host_output(ctx, [program, "config", "--global", "--get", k], SECONDS) for k in KEYS),
    )
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
        made = folder / f"{path.name}.{os.getpid()}"
        made.write_bytes(content)
        made.replace(path)
    return path
