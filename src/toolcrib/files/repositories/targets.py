"""What settings of git name in the workspace: programs, folders of hooks, included settings.

Git itself is asked for the settings of each repository that holds what a run changed; to list them
runs nothing. They are read without git too, those of repositories elsewhere in the workspace and
of includes whose condition does not hold at the moment with them.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import read_plain
from toolcrib.files.paths import Workspace
from toolcrib.files.real_paths import follow
from toolcrib.files.repositories.credentials import MAX_SETTINGS_BYTES, settings_in
from toolcrib.files.repositories.places import is_repository, led_to, names_of_repository
from toolcrib.files.repositories.settings import listed_settings
from toolcrib.files.targets import Targets, is_pattern, words_of
from toolcrib.system.processes import PASSED_ON, Processes

MAX_QUERIED = 50
"""Repositories that git is asked about; what the settings of further ones say is read here."""
MAX_REPOSITORIES = 200
MAX_INCLUDED = 50
MAX_SECONDS = 5.0
MAX_LISTED_BYTES = 4_000_000
AT_ONCE = 4
VARIABLES = ("XDG_CONFIG_HOME", "GIT_CONFIG_*")
"""By which the user's git finds settings of theirs."""
LIST = ("config", "--list", "--show-origin", "-z", "--includes")

INCLUDES = frozenset({"include", "includeif"})
FOLDER_KEYS = frozenset({"hookspath", "templatedir"})
FILE_KEYS = ("file", "path", "template")
NO_TARGETS = frozenset({"branch", "gui", "maintenance", "safe", "scalar", "url", "user"})
"""Sections whose values are names, addresses, or repositories with settings of their own."""
ADDRESSES = frozenset(
    {f"remote.{key}" for key in ("fetch", "push", "pushurl", "url")}
    | {f"submodule.{key}" for key in ("branch", "path", "url")}
    | {"core.worktree", "lfs.fetchexclude", "lfs.fetchinclude", "lfs.url", "submodule.active"}
)


@dataclass(frozen=True, slots=True)
class GitPlace:
    """A repository that git finds: its own folder, and where relative paths in settings begin."""

    folder: str
    starts: tuple[str, ...]


async def find_git_targets(
    ctx: Ctx, git: str, changed: Iterable[str], others: Sequence[str]
) -> Targets:
    """What the settings of repositories around changed paths, and the user's own, name.

    Args:
        ctx: the call.
        git: the program; "" where it is not there.
        changed: absolute paths in the workspace, without links.
        others: folders that may be further repositories, see `own_folders`.
    """
    roots = [root.real for root in ctx.use(Workspace).roots]
    around, further = await asyncio.to_thread(_repositories, roots, list(changed), others)
    listed = await _listed(ctx, git, around) if git else [b""] * len(around)
    return await asyncio.to_thread(_Collector(Targets(roots)).collect, around, listed, further)


async def _listed(ctx: Ctx, program: str, repositories: Iterable[GitPlace]) -> list[bytes]:
    """What git says of each; nothing where it fails or takes too long."""
    gate, end = asyncio.Semaphore(AT_ONCE), time.monotonic() + MAX_SECONDS
    variables = {
        "GIT_OPTIONAL_LOCKS": "0",
        "PATH": os.pathsep.join(ctx.use(Workspace).search_path()),
    }

    async def ask(repository: GitPlace) -> bytes:
        place = ("--git-dir", repository.folder) if repository.folder else ()
        async with gate:
            if (left := end - time.monotonic()) <= 0:
                return b""
            with suppress(ToolError):
                done = await ctx.use(Processes).run(
                    [program, "--no-pager", *place, *LIST],
                    cwd="/",
                    env=variables,
                    passed_on=(*PASSED_ON, *VARIABLES),
                    timeout=left,
                    max_output=MAX_LISTED_BYTES,
                )
                return done.stdout.head if done.stdout.dropped else bytes(done.stdout)
        return b""

    return await asyncio.gather(*map(ask, repositories))


def _repositories(
    roots: Sequence[str], changed: Iterable[str], others: Sequence[str]
) -> tuple[list[GitPlace], list[GitPlace]]:
    """Those that hold something of it, the outermost first, and others in the workspace."""
    above: set[str] = set()
    for folder in {*roots, *(path.rpartition("/")[0] for path in changed)}:
        up = folder
        while up not in above:
            above.add(up)
            up = up.rpartition("/")[0] or "/"
    around = list(filter(None, map(_repository, sorted(above, key=lambda path: path.count("/")))))
    beneath = (path for path in others if path not in above)
    further = islice(filter(None, map(_repository, beneath)), MAX_REPOSITORIES)
    first = around[:MAX_QUERIED] or [GitPlace("", tuple(roots))]
    return first, [*around[MAX_QUERIED:MAX_REPOSITORIES], *further]


def _repository(folder: str) -> GitPlace | None:
    """The one whose working tree, or own folder, that is."""
    inner = f"{folder.rstrip('/')}/.git"
    if os.path.lexists(inner):
        own = inner if os.path.isdir(inner) else led_to(inner, follow=True) or inner  # noqa: PTH112
        return GitPlace(own, (folder, own))
    if is_repository(names_of_repository(folder)):
        return GitPlace(folder, (folder,))
    return None


@dataclass(slots=True)
class _Collector:
    """Adds up what settings name, as far as it lies in the workspace."""

    found: Targets
    read: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def collect(
        self, around: Sequence[GitPlace], listed: Iterable[bytes], others: Iterable[GitPlace]
    ) -> Targets:
        """All that is named.

        Args:
            around: repositories that git was asked about.
            listed: what it said of each.
            others: those that only their own settings are read of.
        """
        for repository, output in zip(around, listed, strict=True):
            self._add_listed(repository, output)
        for repository in (*around, *others):
            common = led_to(f"{repository.folder}/commondir", follow=True) or repository.folder
            for file in (*_own_files(), *_files_of(repository.folder), *_files_of(common)):
                self._read(file, repository.starts)
            for name in ("hooks", "info"):
                self._add_linked(f"{common}/{name}")
        return self.found

    def _add_listed(self, repository: GitPlace, output: bytes) -> None:
        parts = output.split(b"\0")
        settings = [
            (os.fsdecode(origin), setting)
            for origin, entry in zip(parts[::2], parts[1::2], strict=False)
            for setting in listed_settings(entry)
        ]
        trees = (setting.value for _, setting in settings if setting.name == "core.worktree")
        starts = (*repository.starts, *(_place(repository.folder, tree) for tree in trees))
        for origin, setting in settings:
            file = origin.removeprefix("file:") if origin.startswith("file:/") else ""
            self._add_real(file)
            self._add_setting(setting.section, setting.key, setting.value, starts, file)

    def _read(self, first: str, starts: tuple[str, ...]) -> None:
        """Add what a file of settings names, and those that it includes on any condition."""
        waiting = [first]
        for file in islice(waiting, MAX_INCLUDED):
            self._add_real(file)
            for section, key, value in self._settings_of(file):
                self._add_setting(section, key, value, starts, file)
                if section in INCLUDES and key == "path":
                    included = _place(os.path.dirname(file), value)  # noqa: PTH120
                    waiting += [included] if included not in waiting else []

    def _settings_of(self, file: str) -> list[tuple[str, str, str]]:
        if file not in self.read:
            data = b""
            with suppress(OSError, ValueError):
                data = read_plain(file, MAX_SETTINGS_BYTES)
            found = [tuple(map(os.fsdecode, each)) for each in settings_in(data)]
            self.read[file] = [(section, key, value) for section, key, value in found]
        return self.read[file]

    def _add_setting(
        self, section: str, key: str, value: str, starts: tuple[str, ...], file: str
    ) -> None:
        """Add what one names; `file` is the one that it stands in."""
        if section in INCLUDES:
            self.found.add(_place(os.path.dirname(file), value))  # noqa: PTH120
        elif key in FOLDER_KEYS:
            for start in starts:
                self.found.add(_place(start, value), is_folder=True)
        elif section in NO_TARGETS:
            return
        elif f"{section}.{key}" not in ADDRESSES or value.startswith("ext::"):
            for is_first, word in words_of(value):
                for start in starts:
                    self._add_word(_place(start, word), key, word, is_first=is_first)

    def _add_word(self, place: str, key: str, word: str, *, is_first: bool) -> None:
        """Add what a word of a value may mean.

        One without a slash is a word of git's own, or a program on PATH, where it stands first. A
        dot is mostly what a shell would put in.
        """
        if "/" in word:
            self.found.add(place, is_folder=True)
            if is_pattern(word):
                self.found.add_pattern(place)
        elif word == "." or not self.found.is_inside(os.path.normpath(place)):
            return
        elif not is_first:
            self.found.add(place, is_folder=os.path.isdir(place))  # noqa: PTH112
        elif key.endswith(FILE_KEYS) or os.path.isfile(place):  # noqa: PTH113
            self.found.add(place)

    def _add_real(self, file: str) -> None:
        """Add where settings lie, unless that is in a repository, which is protected."""
        with suppress(OSError, ValueError):
            real, links = follow("/", file) if file else ("", [])
            if self.found.is_inside(real) and "/.git/" not in real:
                self.found.files.add(real)
            self.found.add_links(links)

    def _add_linked(self, folder: str) -> None:
        """Add where links lead that are hooks or ignore files, or the folder of those."""
        with suppress(OSError, ValueError):
            real, links = follow("/", folder)
            if real != os.path.normpath(folder):
                self.found.add(real, is_folder=True)
            self.found.add_links(links)
            for link in filter(Path.is_symlink, Path(folder).iterdir()):
                self._add_real(str(link))


def _own_files() -> list[str]:
    """Where the user's own settings and those of the system are, as far as it is known."""
    found = environment(["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"])
    xdg = found.pop("XDG_CONFIG_HOME", "")
    names = ["~/.gitconfig", "~/.config/git/config", "/etc/gitconfig", *found.values()]
    return [os.path.expanduser(name) for name in names] + [f"{xdg}/git/config"] * bool(xdg)  # noqa: PTH111


def _files_of(repository: str) -> list[str]:
    return [f"{repository}/{name}" for name in ("config", "config.worktree") if repository]


def _place(start: str, named: str) -> str:
    """The absolute path that is meant; links stay, and `..` after them."""
    return os.path.join(start, os.path.expanduser(named))  # noqa: PTH111, PTH118
