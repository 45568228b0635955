"""Where a repository lies, and whether git may be let to its files at all.

git is always told where the repository is, so that it looks for none itself: a bare one in the
tree, or one above the workspace, is never entered. Links, second names and special files in it
would let git write or read elsewhere, and are refused before it starts.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from toolcrib.core.errors import NotFound, PathDenied, TooLarge
from toolcrib.files.handles import read_plain
from toolcrib.files.paths import SafePath
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.credentials import MAX_SETTINGS_BYTES
from toolcrib.files.repositories.index import INDEX, MAX_INDEX_BYTES, index_trouble
from toolcrib.text.display import printable, some_of

GIT = ".git"
MAX_POINTER_BYTES = 4_096
MAX_FILES = 200_000
MAX_ALTERNATES = 16
MAX_CHECKED_INDEXES = 64
MAX_CHECKED_FOLDERS = 8_192
HIDDEN_FROM_GIT = frozenset(
    {
        *("hooks", "modules", "lfs", "svn", "annex", "description", "branches", "remotes"),
        *("gk", "fsmonitor--daemon", "fsmonitor--daemon.ipc"),
    }
)
"""Entries of a repository that are not checked, since git never sees them."""
SHARED = ("info", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
"""What belongs to all working trees of a repository, beside its settings."""
TRUST_HINT = "The user can let git use it as it is: add {top} to git.trusted."
Inside = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of a repository, absolute and without links.

    Attributes:
        top: of the working tree.
        git_dir: what belongs to this working tree.
        common_dir: what all working trees of it share; mostly the same.
    """

    top: str
    git_dir: str
    common_dir: str


def find_layout(start: SafePath, inside: Inside) -> tuple[SafePath, Layout]:
    """The repository that holds a path, looked for up to the root of the workspace. It blocks.

    Args:
        start: a file or folder, existing or not.
        inside: whether an absolute path may be used.

    Raises:
        NotFound: there is none.
        PathDenied: it lies, or leads, outside of the workspace.
    """
    for folder in start.settled().upwards():
        real = folder.real_absolute
        place = f"{real.rstrip('/')}/{GIT}"
        if os.path.lexists(place):
            return folder, _layout(real, place, inside)
    near = _repositories_in(start) or _repositories_in(start.ancestor(0))
    raise NotFound(
        f"{start.display} is in no git repository of the workspace.",
        hint=f"Repositories are there: {near}; repo names one, or change_directory goes into it."
        if near
        else "git_init makes one, git_clone fetches one; change_directory goes into another.",
    )


def _repositories_in(folder: SafePath) -> str:
    """Names of repositories that stand in a folder, a few."""
    settled = folder.settled()
    real = settled.real_absolute
    found: list[str] = []
    with suppress(OSError), os.scandir(real) as entries:
        found = sorted(e.name for e in entries if os.path.lexists(f"{e.path}/{GIT}"))
    above = "" if folder.display == "." else f"{folder.display}/"
    return some_of([printable(above + name) for name in found])


def _layout(top: str, place: str, inside: Inside) -> Layout:
    mode = os.lstat(place).st_mode
    if stat.S_ISDIR(mode):
        git_dir = place
        _refuse_moved_head(place)
    elif stat.S_ISREG(mode):
        git_dir = _followed(top, _pointer(place, "gitdir:"), inside, top)
    else:
        raise _refused(top, f"{GIT} is a link or no plain file")
    common = git_dir
    shared = f"{git_dir}/commondir"
    if os.path.lexists(shared):
        common = _followed(git_dir, _pointer(shared, ""), inside, top)
    return Layout(top, git_dir, common)


def _refuse_moved_head(git_dir: str) -> None:
    """Refuse a repository that stopped being one, as it came beside a run (see the quarantine)."""
    if os.path.lexists(f"{git_dir}/HEAD"):
        return
    if moved := sorted(file.name for file in Path(git_dir).glob("HEAD.refused*")):
        raise NotFound(
            f"{git_dir}/HEAD was put aside as {moved[0]}, since it is new and its settings name "
            "programs or folders outside of the workspace; a program was running beside it.",
            hint=f"If it is the user's own: mv {git_dir}/{moved[0]} {git_dir}/HEAD, when nothing "
            "runs any more.",
        )


def _pointer(place: str, prefix: str) -> str:
    text = read_own(place, MAX_POINTER_BYTES).decode("utf-8", "surrogateescape").strip()
    if not text.startswith(prefix) or "\0" in text or "\n" in text:
        raise NotFound(f"{place} leads to no repository.", hint="The user removes that file.")
    return text.removeprefix(prefix).strip()


def _followed(start: str, target: str, inside: Inside, top: str) -> str:
    real = real_path(os.path.join(start, target))  # noqa: PTH118 - text as git has it
    if not inside(real):
        raise _refused(top, "it leads to a folder outside of the workspace")
    if not Path(real).is_dir():
        raise NotFound(
            f"The repository of {top} is gone: its .git leads to no folder.",
            hint="The user restores it, or removes that file.",
        )
    return real


def _refused(top: str, why: str) -> PathDenied:
    return PathDenied(
        f"The repository {top} is not used: {why}.", hint=TRUST_HINT.format(top=top), rule="git"
    )


def read_own(place: str, max_bytes: int) -> bytes:
    """A small plain file; nothing of a pipe, or where there is none.

    Raises:
        PathDenied: it is a link.
        TooLarge: it has more than `max_bytes`.
    """
    try:
        data = read_plain(place, max_bytes + 1, follow=False)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise PathDenied(
            f"{place} cannot be read: {error.strerror}.", hint="The user can replace it."
        ) from None
    if len(data) > max_bytes:
        raise TooLarge(f"{place} has more than {max_bytes:,} bytes.")
    return data


def stored_file(file: Path, data: bytes) -> str:
    """Write a file of ours; its path. It blocks."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(data)
    return str(file)


def check_layout(layout: Layout, inside: Inside) -> None:
    """Refuse a repository in which git could be led elsewhere. It blocks.

    Raises:
        PathDenied: naming what is wrong, and the setting.
    """
    for folder in dict.fromkeys((layout.git_dir, layout.common_dir)):
        for why in _faults(folder, "", [MAX_FILES]):
            raise _refused(layout.top, why)
    for why in _alternate_faults(f"{layout.common_dir}/objects", inside, [MAX_FILES]):
        raise _refused(layout.top, why)


READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")


def refuse_pipes(top: str) -> None:
    """Refuse a working tree in whose top folder git would wait for a pipe without an end.

    Raises:
        PathDenied: naming the file.
    """
    for name in READ_BY_GIT:
        with suppress(OSError):
            if stat.S_ISFIFO(Path(top, name).stat().st_mode):
                raise PathDenied(
                    f"{name} in {printable(top)} is a named pipe, for which git would wait.",
                    hint="Delete it with delete_path, or ask the user to.",
                    rule="kind",
                )


def _faults(folder: str, inner: str, budget: list[int]) -> Iterator[str]:
    """What git could follow in a folder whose name in the repository is `inner`; "" at its top."""
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except FileNotFoundError:
        return
    except OSError as error:
        yield f"{inner or GIT} in it cannot be read ({error.strerror})"
        return
    budget[0] -= len(entries)
    if budget[0] < 0:
        yield f"it has more than {MAX_FILES:,} files of references"
        return
    for entry in entries:
        name = f"{inner}/{entry.name}" if inner else entry.name
        if not inner and entry.name in HIDDEN_FROM_GIT:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _inner_faults(entry.path, name, budget)
        elif not entry.is_file(follow_symlinks=False):
            yield f"{name} in it is a link or no plain file"
        elif not name.startswith("objects/") and _links(entry) > 1:
            yield f"{name} in it is another name of a file elsewhere"


def _inner_faults(folder: str, name: str, budget: list[int]) -> Iterator[str]:
    if not name.startswith("objects/") or name in ("objects/pack", "objects/info"):
        yield from _faults(folder, name, budget)
    else:
        with suppress(FileNotFoundError):
            status = os.lstat(folder)
            times = (status.st_mtime_ns, status.st_ctime_ns)
            # Of these there are many. By a link, git shows an object of another repository.
            if _holds_links(folder, status.st_ino, *times):
                yield f"an object in {name} is a link or no plain file"


@lru_cache(maxsize=MAX_CHECKED_FOLDERS)
def _holds_links(folder: str, *state: int) -> bool:
    """Whether a folder with objects has others than plain files; looked at where it changed."""
    del state
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        return not all(entry.is_file(follow_symlinks=False) for entry in entries)
    return False


def _links(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_nlink
    except OSError:  # gone meanwhile
        return 0


def _alternate_faults(objects: str, inside: Inside, budget: list[int]) -> Iterator[str]:
    """What git could follow in the folders from which a repository takes further objects."""
    found = [real_path(objects)]
    for folder in found:  # which grows: each can name others
        text = read_own(f"{folder}/info/alternates", MAX_SETTINGS_BYTES)
        for line in text.decode("utf-8", "surrogateescape").split("\n"):
            if not line or line.startswith("#"):
                continue
            if line.startswith('"'):  # git takes the quotes off and reads escapes; none writes such
                yield "it names objects elsewhere by a path in quotes"
            place = os.path.join(folder, line)  # noqa: PTH118 - as git reads it
            real = real_path(place)
            # Older versions of git take `..` for the name above, whatever link it comes after.
            if not (inside(real) and real_path(os.path.normpath(place)) == real):
                yield "it uses objects of a folder outside of the workspace"
            if real in found:
                continue
            if len(found) > MAX_ALTERNATES:
                yield f"it uses objects of more than {MAX_ALTERNATES} other folders"
            found.append(real)
            yield from _faults(real, "objects", budget)


class CheckedIndexes:
    """The indexes of repositories, read again only where they changed; see `index_trouble`."""

    def __init__(self) -> None:
        self._harmless: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def check(self, layout: Layout, hash_size: int) -> None:
        """Refuse one by which git would write or read outside of the working tree. It blocks.

        Raises:
            PathDenied: naming what is wrong with it.
        """
        with os.scandir(layout.git_dir) as scan:
            places = [entry.path for entry in scan if INDEX.match(entry.name)]
        for place in places:
            status = os.lstat(place)
            times = (status.st_mtime_ns, status.st_ctime_ns)
            state = (status.st_dev, status.st_ino, status.st_size, *times, hash_size)
            if self._harmless.get(place) == state:
                continue
            why = index_trouble(read_own(place, MAX_INDEX_BYTES), hash_size)
            if why:
                raise PathDenied(
                    f"The repository {layout.top} is not used: {why}.",
                    hint=f"The user removes {place}; git reset then makes it anew.",
                    rule="git",
                )
            self._harmless[place] = state
            while len(self._harmless) > MAX_CHECKED_INDEXES:
                self._harmless.popitem(last=False)


def make_view(
    folder: Path, common_dir: str, settings: bytes, shared: Sequence[str] = SHARED
) -> None:
    """A folder that git takes for the shared one of a repository, with settings of ours. It blocks.

    All that git keeps there is a link to the real thing, but for what it obeys: the settings,
    the hooks, and old places of remotes.
    """
    folder.mkdir(mode=0o700, parents=True)
    (folder / "config").write_bytes(settings)
    for name in shared:
        real = f"{common_dir}/{name}"
        if name == "logs" and not Path(real).is_dir():
            Path(real).mkdir(exist_ok=True)
        if name in ("packed-refs", "shallow") or os.path.lexists(real):
            (folder / name).symlink_to(real)
