"""The git program: where it is, what it is told of the user's settings, and its environment."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shlex
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from toolcrib.core.config import data_folder, environment
from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import TimedOut, TooLarge, Unavailable
from toolcrib.core.package_data import package_table
from toolcrib.execution.interpreters.programs import find_program, not_installed
from toolcrib.files.live_runs import without_runs
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.settings import Setting, listed_settings
from toolcrib.git.cover import Cover, Published
from toolcrib.git.exec_path import PREFIX, is_whole, make_exec_path
from toolcrib.git.failures import failure
from toolcrib.git.layout import CheckedIndexes, stored_file
from toolcrib.git.user_settings import passed_on
from toolcrib.system.child import Chunk
from toolcrib.system.processes import PASSED_ON, Finished, Folder, Processes
from toolcrib.system.threads import random_id

SECONDS = 300.0
QUICK_SECONDS = 20.0
MAX_OUTPUT_BYTES = 64_000_000
MIN_GIT = (2, 24)
"""The first that knows `--end-of-options`."""
GLOBAL_BY_VARIABLE = (2, 32)
"""The first that takes another file for the user's settings from a variable."""
MAX_CACHED = 64
OLD_VIEW_SECONDS = 6 * 3600.0
USERS_OWN = (
    *PASSED_ON,
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
AGENTS = (*PASSED_ON, "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_*")
"""By which ssh and credential helpers find the user's keys."""
_TABLE = package_table("git/environment.toml")
QUIET: dict[str, str] = _TABLE["quiet"]
"""It never asks, opens nothing, and speaks one language."""
HARDENED: dict[str, str] = {**QUIET, **_TABLE["hardened"]}


@dataclass(frozen=True, slots=True)
class GitSetup:
    """The program of this machine.

    Attributes:
        path: absolute.
        version: as (2, 39, 5).
        settings: harmless ones of the user and the system.
        exec_path: a folder with git's own programs, by which it enters no other repository.
        has_filters: whether these name a filter, such as LFS.
    """

    path: str
    version: tuple[int, ...]
    settings: tuple[Setting, ...]
    exec_path: str
    has_filters: bool = False

    def user_value(self, name: str) -> str:
        """The last value of a setting of the user's; "" for none."""
        return next((s.value for s in reversed(self.settings) if s.name == name), "")


class GitProgram:
    """A service: finds git, reads the user's settings, again once they change, and runs it."""

    def __init__(self) -> None:
        self._setup: GitSetup | None = None
        self._read: list[tuple[int, int, int]] = []
        self._asking = asyncio.Lock()
        self._parsed: OrderedDict[str, list[Setting]] = OrderedDict()
        self.indexes = CheckedIndexes()
        self.views = data_folder() / "git"

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is looked for before a tool needs it."""
        del services
        return cls()

    async def setup(self, ctx: Ctx) -> GitSetup:
        """The program, and what it is told.

        Raises:
            Unavailable: there is none, or one that is too old.
        """
        async with self._asking:
            now = await asyncio.to_thread(_users_files)
            known = self._setup is not None and now == self._read
            if self._setup is None or not known or not is_whole(self._setup.exec_path):
                self._setup = await self._find(ctx)
                self._read = now
                await asyncio.to_thread(_sweep, self.views)
        return self._setup

    async def _find(self, ctx: Ctx) -> GitSetup:
        path = find_program(ctx, "git")
        if not path:
            raise not_installed("git")
        banner = str((await self._plain(ctx, [path, "--version"])).stdout)
        version = tuple(int(part) for part in re.findall(r"\d+", banner)[:3])
        if version[:2] < MIN_GIT:
            raise Unavailable(
                f"git {'.'.join(map(str, version)) or banner[:40]} is too old.",
                hint="Install git 2.32 or newer.",
            )
        nowhere = {"GIT_DIR": "/dev/null"}  # outside of any repository, wherever / is
        listed = await self._plain(ctx, [path, "config", "--list", "-z", "--includes"], nowhere)
        found = bytes(listed.stdout)
        has_filters = any(s.section == "filter" for s in listed_settings(found))
        printed = str((await self._plain(ctx, [path, "--exec-path"])).stdout).strip()
        exec_path = await asyncio.to_thread(make_exec_path, printed, self.views)
        return GitSetup(path, version, tuple(passed_on(found)), exec_path, has_filters)

    async def _plain(
        self, ctx: Ctx, argv: Sequence[str], env: Mapping[str, str] | None = None
    ) -> Finished:
        processes = ctx.use(Processes)
        seconds = ctx.remaining(QUICK_SECONDS)
        return await processes.run(
            argv, cwd="/", env=dict(env or {}), timeout=seconds, passed_on=USERS_OWN
        )

    async def settings_of(self, ctx: Ctx, data: bytes) -> list[Setting]:
        """The settings in the bytes of a file, read by git itself; what it includes is not."""
        key = hashlib.sha256(data).hexdigest()
        if key not in self._parsed:
            file = self.views / f"{random_id(12)}.config"
            setup = await self.setup(ctx)
            await asyncio.to_thread(stored_file, file, data)
            try:
                argv = [setup.path, "config", "--file", str(file), "--no-includes", "--list", "-z"]
                done = await self._plain(ctx, argv, {"GIT_DIR": "/dev/null"})
            finally:
                await asyncio.to_thread(file.unlink, missing_ok=True)
            if done.exit_code and data.strip():
                raise Unavailable(
                    "git cannot read the settings of this repository (.git/config).",
                    hint="The user mends that file: git config --list there says what is wrong.",
                )
            self._parsed[key] = listed_settings(bytes(done.stdout))
            while len(self._parsed) > MAX_CACHED:
                self._parsed.popitem(last=False)
        return self._parsed[key]

    async def settings_with_scopes(self, ctx: Ctx, git_dir: str) -> bytes:
        """What git says of all settings that hold in a repository, whose each is, included ones."""
        setup = await self.setup(ctx)
        argv = [setup.path, "config", "--list", "-z", "--includes", "--show-scope"]
        return bytes((await self._plain(ctx, argv, {"GIT_DIR": git_dir})).stdout)

    async def run(
        self,
        ctx: Ctx,
        args: Sequence[str],
        *,
        cwd: Folder | str,
        env: Mapping[str, str],
        stdin: bytes | None = None,
        seconds: float = SECONDS,
        passed_on: Sequence[str] = PASSED_ON,
        watch: Callable[[Chunk], None] | None = None,
        plain: bool = False,
        published: Published | None = None,
    ) -> Finished:
        """Run git to its end, whatever its exit code.

        While programs of runs go on, it is confined, but for what is `plain`: what git writes
        to where no run can lead it elsewhere. For `published` see `Cover`.

        Raises:
            TimedOut: it took too long; nothing of it runs any more.
            TooLarge: it printed more than is read.
        """
        setup = await self.setup(ctx)
        async with AsyncExitStack() as around:
            is_alone = around.enter_context(without_runs())
            front: list[str] = []
            if not is_alone and not plain:
                cover = self._cover(
                    ctx, setup, env, sees_all=passed_on is AGENTS, published=published
                )
                front = await around.enter_async_context(cover.words(ctx))
                if front and "GIT_SSH_COMMAND" in env:
                    env = {**env, "GIT_SSH_COMMAND": f"{env['GIT_SSH_COMMAND']} {_ssh_settings()}"}
            done = await ctx.use(Processes).run(
                [*front, setup.path, "--no-pager", *args],
                cwd=cwd,
                env=env,
                stdin=stdin,
                timeout=ctx.remaining(seconds),
                max_output=MAX_OUTPUT_BYTES,
                passed_on=passed_on,
                on_output=watch,
            )
        if front and done.exit_code and bytes(done.stderr).startswith(b"bwrap: "):
            words = str(done.stderr).removeprefix("bwrap: ").strip()[:200]
            raise Unavailable(
                f"git could not be confined while programs run: {words}",
                hint="Stop the programs in the background (list_jobs, stop_job), then try again.",
            )
        return ended(args, done)

    def _cover(
        self,
        ctx: Ctx,
        setup: GitSetup,
        env: Mapping[str, str],
        *,
        sees_all: bool,
        published: Published | None,
    ) -> Cover:
        """What confines git while runs go on.

        Of what is ours it writes the folder of this call alone: others hold settings and programs
        that git obeys later.
        """
        names = [setup.user_value(f"core.{kind}file") for kind in ("excludes", "attributes")]
        names += [f"~/.config/git/{name}" for name in ("ignore", "attributes")]
        readable = [str(self.views), *map(_expanded, filter(None, names))]
        own = env.get("GIT_COMMON_DIR", "")
        writable = [own] if own.startswith(f"{self.views}/") else []
        if sees_all:  # else it talks to no remote
            opened = map(_expanded, (*ctx.config.git.local_remotes, *ctx.config.git.trusted))
            writable += filter(os.path.isdir, map(real_path, opened))
        return Cover(writable, readable, sees_all, self.views, published)


def _users_files() -> list[tuple[int, int, int]]:
    """By what a change of the user's own settings is seen; what they include does not count."""
    named = environment(USERS_OWN)
    folder = named.get("XDG_CONFIG_HOME") or "~/.config"
    names = (named.get("GIT_CONFIG_GLOBAL"), "~/.gitconfig", f"{folder}/git/config")
    found = []
    for name in filter(None, names):
        with suppress(OSError):
            now = Path(_expanded(name)).stat()
            found.append((now.st_ino, now.st_size, now.st_mtime_ns))
    return found


def _expanded(name: str) -> str:
    return os.path.expanduser(name)  # noqa: PTH111


def _ssh_settings() -> str:
    """Options for ssh in a namespace of users: there root's own files seem to be nobody's."""
    own = _expanded("~/.ssh/config")
    return f"-F {shlex.quote(own if os.path.isfile(own) else 'none')}"  # noqa: PTH113


def ended(args: Sequence[str], done: Finished) -> Finished:
    """A run of git that came to its end and was read whole.

    Raises:
        TimedOut: it took too long.
        TooLarge: it printed too much.
    """
    if done.timed_out:
        raise TimedOut(
            f"git {args[0]} took longer than {done.seconds:.0f} s.",
            hint="Ask for less, by path or limit; a remote may not answer.",
        )
    if done.stdout.dropped:
        raise TooLarge(
            f"git {args[0]} printed {done.stdout.size:,} bytes.",
            hint="Ask for less, by path, range or limit.",
        )
    return done


def checked(args: Sequence[str], done: Finished) -> bytes:
    """What it printed.

    Raises:
        ToolError: it failed, in words with what to do next.
    """
    if done.exit_code:
        raise failure(args[0], done.exit_code, str(done.stderr), str(done.stdout)[-4000:])
    return bytes(done.stdout)


def _sweep(views: Path) -> None:
    """Remove what processes left that were killed."""
    with suppress(OSError):
        for old in views.iterdir():
            if old.name.startswith(PREFIX):
                continue  # it is used for as long as git is the same
            if time.time() - old.lstat().st_mtime > OLD_VIEW_SECONDS:
                remove_view(old)


def remove_view(view: Path) -> None:
    """Remove a folder of `make_view`; what its links lead to stays."""
    with suppress(OSError):
        if view.is_dir() and not view.is_symlink():
            shutil.rmtree(view, ignore_errors=True)
        else:
            view.unlink()
