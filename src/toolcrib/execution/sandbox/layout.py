"""The file system of a confined program at level strong: its masks, and the arguments of bwrap."""

from __future__ import annotations

import math
import os
import stat
import sys
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.terms import Overlay, ReadOnly, View
from toolcrib.execution.toolchains import is_among
from toolcrib.files.path_rules import GENERATED_FOLDERS, Protection
from toolcrib.files.repositories.places import BARE_REPOSITORY
from toolcrib.files.trees import names_beneath

OBEYED_BY_GIT = frozenset({"config", "config.worktree", "commondir", "hooks"})

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

Kind = Literal["hidden file", "hidden folder", "fixed", "pinned", "copy"]
"""fixed: it can be read and not changed; pinned: it can be changed and not be moved away;
copy: another content is read in its place, and not changed."""
Barring = Callable[[str], str]
"""Gives of a name in a folder the pattern that protects it; "" where none does."""
MAX_FOLDERS = 50_000
MAX_LINK_ENTRIES = 1_000
"""Files in a masked folder whose other names are looked for."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One place to mask."""

    path: str
    kind: Kind
    data: bytes = b""


@dataclass(slots=True)
class _Folder:
    """What is known of a folder for as long as nothing in it was renamed, made or removed."""

    changed: tuple[int, int]
    folders: tuple[str, ...] = ()
    masks: tuple[Mask, ...] = ()
    files: array[int] = field(default_factory=partial(array, "Q"))
    """The numbers of its files, by which second names of a masked one are found."""


class Masks:
    """Finds what is protected beneath a folder, and remembers it by the time of its folders.

    Blocking: run it in a thread.

    Args:
        protection: the names.
    """

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._known: dict[tuple[str, str], _Folder] = {}
        self._patterns: object = None
        self._above: set[str] = set()

    def beneath(self, top: str, max_folders: int = MAX_FOLDERS) -> tuple[list[Mask], bool]:
        """The places to mask beneath a folder, and whether all of it could be looked at.

        Args:
            top: its real path. What leads there was the user's own choice.
            max_folders: so many folders are looked into.
        """
        patterns = (self._protection.patterns("read"), self._protection.patterns("write"))
        if patterns != self._patterns:
            self._known.clear()
            self._patterns = patterns
            self._above = {name for pattern in patterns[1] for name in pattern.names[:-1]}
        above = [part for part in top.split("/") if part]
        found: list[Mask] = []
        # What lies near the top is looked at first, and last what programs fill.
        waiting: deque[tuple[str, ...]] = deque([()])
        generated: deque[tuple[str, ...]] = deque()
        visited: dict[str, _Folder] = {}
        while (waiting or generated) and len(visited) < max_folders:
            parts = (waiting or generated).popleft()
            folder = self._folder(top, above, parts)
            visited["/".join((top.rstrip("/"), *parts)) or "/"] = folder
            found += folder.masks
            is_generated = not GENERATED_FOLDERS.isdisjoint(parts)
            for name in folder.folders:
                late = is_generated or (name in GENERATED_FOLDERS and name != ".git")
                (generated if late else waiting).append((*parts, name))
        if len(self._known) > 4 * MAX_FOLDERS:
            self._known.clear()
        return [*found, *_second_names(found, visited)], not (waiting or generated)

    def _folder(self, top: str, above: list[str], parts: tuple[str, ...]) -> _Folder:
        path = "/".join((top.rstrip("/"), *parts))
        try:
            status = os.stat(path, follow_symlinks=False)  # noqa: PTH116
        except OSError:
            return _Folder((0, 0))
        changed = (status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get((top, path))
        if known is not None and known.changed == changed:
            return known
        folders: list[str] = []
        masks: list[Mask] = []
        entries = _entries(path or "/")
        if BARE_REPOSITORY.issubset(entry.name for entry in entries):
            masks += [Mask(e.path, "fixed") for e in entries if e.name in OBEYED_BY_GIT]
        barring = tuple(
            self._protection.of_folder((*above, *parts), use) for use in ("read", "write")
        )
        for entry in entries:
            mask, go_in = self._classify(entry, top, *barring)
            masks += mask
            if go_in:
                folders.append(entry.name)
        files = array("Q", (e.inode() for e in entries if e.is_file(follow_symlinks=False)))
        fresh = _Folder(changed, tuple(folders), tuple(masks), files)
        if not any(m.path != f"{path}/{PurePosixPath(m.path).name}" for m in masks):
            # Where a link leads may change without a change here, so that is looked at anew.
            self._known[top, path] = fresh
        return fresh

    def _classify(
        self, entry: os.DirEntry[str], top: str, unread: Barring, unwritten: Barring
    ) -> tuple[list[Mask], bool]:
        is_folder = entry.is_dir(follow_symlinks=False)
        if unread(entry.name):
            return _hidden(entry, top), False
        if unwritten(entry.name):
            if entry.name == ".git" and is_folder:
                return [Mask(entry.path, "pinned")], True
            return [Mask(entry.path, "fixed")] if not entry.is_symlink() else [], is_folder
        if not is_folder:
            # A server's socket would be a way out.
            is_socket = not entry.is_symlink() and not entry.is_file(follow_symlinks=False)
            return (
                [Mask(entry.path, "hidden file")] if is_socket and _socket(entry) else []
            ), False
        # A protected name could be made beneath it by putting it elsewhere.
        pinned = entry.name.casefold() in self._above
        return ([Mask(entry.path, "pinned")] if pinned else []), True


def _entries(path: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(path) as scan:
        return list(scan)
    return []


def _socket(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return False


def _hidden(entry: os.DirEntry[str], top: str) -> list[Mask]:
    path = entry.path
    if entry.is_symlink():
        # The link can be read; it is what it leads to that must not be, if it is in here.
        path = os.path.realpath(path)
        if not path.startswith(f"{top.rstrip('/')}/"):
            return []
    try:
        mode = os.stat(path, follow_symlinks=False).st_mode  # noqa: PTH116
    except OSError:
        return []
    return [Mask(path, "hidden folder" if stat.S_ISDIR(mode) else "hidden file")]


def _second_names(masks: Sequence[Mask], visited: Mapping[str, _Folder]) -> list[Mask]:
    """Masks of other names of masked files (hard links), which would show or change them too.

    Args:
        masks: those found by name.
        visited: the folders that were looked at, by path.
    """
    wanted: dict[tuple[int, int], Kind] = {}
    for mask in masks:
        if mask.kind == "pinned":
            continue
        kind: Kind = "fixed" if mask.kind == "fixed" else "hidden file"
        for path in _files_of(mask.path):
            with suppress(OSError):
                status = os.lstat(path)
                if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                    wanted[status.st_dev, status.st_ino] = kind
    if not wanted:
        return []
    numbers = {number for _, number in wanted}
    named = {mask.path for mask in masks}
    found: list[Mask] = []
    for folder in (path for path, known in visited.items() if not numbers.isdisjoint(known.files)):
        for entry in _entries(folder):
            if entry.inode() not in numbers or entry.path in named:
                continue
            with suppress(OSError):
                status = os.lstat(entry.path)
                other = wanted.get((status.st_dev, status.st_ino))
                found += [Mask(entry.path, other)] if other else []
    return found


def _files_of(path: str) -> Iterator[str]:
    """What is masked, and what is in it: so much that nobody can make a run wait for it."""
    many = MAX_LINK_ENTRIES
    inner = names_beneath([path], max_folders=many, max_seconds=math.inf, max_depth=many)
    yield from (path, *islice(inner, many))


HOME = "/home/sandbox"
IN_MEMORY = ("/dev/shm", "/tmp", HOME)  # noqa: S108 - those of a run
MAX_COPIED_BYTES = 512_000
MAX_MASK_WORDS = 7_500
"""Bubblewrap takes 9,000 arguments."""
INSTALLED = frozenset({"node_modules", "site-packages", "dist-packages"})
HOST = "sandbox"
TOP: tuple[str, ...] = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
STORES: tuple[str, ...] = ("/nix/store", "/gnu/store")
"""Where some systems keep all programs, for everybody to read."""
ETC: tuple[str, ...] = (
    *("ld.so.cache", "alternatives", "ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem"),
    *("pki/tls/certs", "pki/ca-trust/extracted", "ca-certificates/extracted", "crypto-policies"),
    *("localtime", "timezone", "mime.types", "services", "protocols", "fonts"),
    *("os-release", "lsb-release", "debian_version"),  # pip tells it to indexes
)
"""What programs read there, and nothing about this machine or its users."""
NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--new-session",
    "--die-with-parent",
    "--clearenv",
)


def identity() -> tuple[int, int]:
    """Who a program is in there: the present user, or an ordinary one in place of root."""
    user, group = os.getuid(), os.getgid()
    return (user, group) if user else (1000, 1000)


def made_files() -> dict[str, bytes]:
    """Files of /etc that are made up."""
    user, group = identity()
    users = f"root:x:0:0:root:/:/bin/sh\nsandbox:x:{user}:{group}:sandbox:{HOME}:/bin/sh\n"
    groups = f"root:x:0:\nsandbox:x:{group}:\n"
    nobody = "nobody:x:65534:65534:nobody:/:/bin/false\n"
    return {
        "/etc/passwd": (users + nobody).encode(),
        "/etc/group": (groups + "nogroup:x:65534:\n").encode(),
        "/etc/hosts": f"127.0.0.1 localhost {HOST}\n::1 localhost\n".encode(),
        "/etc/hostname": f"{HOST}\n".encode(),
        "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\nservices: files\n",
        "/etc/resolv.conf": b"",
        "/etc/machine-id": b"",
    }


@cache
def system() -> tuple[str, ...]:
    """The programs and libraries of this machine, read only."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in TOP:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for place in (*STORES, *(f"/etc/{name}" for name in ETC)):
        real = os.path.realpath(place)
        if place != real and real.startswith("/usr/"):
            arguments += ["--symlink", real, place]
        elif Path(place).is_dir():
            arguments += ["--ro-bind", real, place]
    return tuple(arguments)


@cache
def system_files() -> dict[str, bytes]:
    """Small files of /etc: it takes bubblewrap less time to write one than to mount it."""
    found: dict[str, bytes] = {}
    for place in (Path("/etc", name) for name in ETC):
        real = os.path.realpath(place)
        if not Path(real).is_file() or (real != str(place) and real.startswith("/usr/")):
            continue
        with suppress(OSError):
            if Path(real).stat().st_size <= MAX_COPIED_BYTES:
                found[str(place)] = Path(real).read_bytes()
    return found


@dataclass(slots=True)
class SandboxRoot:
    """All that a run sees of the machine.

    Attributes:
        roots: the folders of the workspace by real path, each with its view.
        links: names of roots that are reached by links, and where they lead.
        readable: folders and files that can be read, real paths.
        writable: scratch folders.
        masks: places that are masked.
        empty: a file that nobody can read, for masking files.
        small: the size of each file system in memory, in bytes.
        holds_above: whether the folders above what is masked are kept in their places too.
    """

    roots: Mapping[str, View]
    links: Mapping[str, str]
    readable: Sequence[str]
    writable: Sequence[str]
    masks: Sequence[Mask]
    empty: str
    small: int
    holds_above: bool = True

    @property
    def copies(self) -> dict[str, bytes]:
        """What is read in the place of some files."""
        return {mask.path: mask.data for mask in self.masks if mask.kind == "copy"}

    def arguments(self, files: Mapping[str, int]) -> list[str]:
        """The arguments of bwrap, up to the program.

        Args:
            files: made up files, by path, each with a descriptor that it is read from.
        """
        user, group = identity()
        size = str(self.small)
        words = [*NAMESPACES, "--hostname", HOST, "--uid", str(user), "--gid", str(group)]
        words += system()
        words += ["--proc", "/proc", "--dev", "/dev"]
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
        words += ["--size", size, "--perms", "0700", "--tmpfs", HOME]
        words += ["--dir", "/run", "--symlink", "/run", "/var/run"]
        seen = (*self.readable, *self.writable, *self.roots, *self.links)
        if not any(is_among(path, ["/var/tmp"]) for path in seen):  # noqa: S108
            words += ["--symlink", "/tmp", "/var/tmp"]  # noqa: S108
        for path, fd in files.items():
            if path not in self.copies:
                words += ["--perms", "0444", "--file", str(fd), path]
        words += self._folders()
        words += self._masked(files)
        words += ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"]
        return words

    def bounded(self) -> SandboxRoot:
        """With as many masks as bubblewrap takes.

        Where there are more, the folders above go first, then those of installed packages,
        which hold no secrets of the user.

        Raises:
            Unavailable: there are too many all the same.
        """
        if self.mask_words <= MAX_MASK_WORDS:
            return self
        if self.holds_above:
            return replace(self, holds_above=False).bounded()
        masks = [m for m in self.masks if not INSTALLED.intersection(m.path.split("/"))]
        smaller = replace(self, masks=masks)
        if smaller.mask_words <= MAX_MASK_WORDS:
            return smaller
        folders = Counter(str(PurePosixPath(mask.path).parents[1]) for mask in masks)
        raise Unavailable(
            f"Nothing can be run: {len(masks):,} protected names are more than can be covered, "
            f"most of them beneath {folders.most_common(1)[0][0]}.",
            hint="Remove them, or use a smaller workspace.",
        )

    @property
    def mask_words(self) -> int:
        """How many arguments the masks take."""
        return len(self._masked(dict.fromkeys(self.copies, 0)))

    def _folders(self) -> list[str]:
        mounts: dict[str, list[str]] = {}
        for path in self.readable:
            if not is_among(path, ("/usr", *STORES, *self.roots)):
                mounts[path] = ["--ro-bind", path, path]
        for path in self.writable:
            mounts[path] = ["--bind", path, path]
        for path in self.above_roots():
            mounts[path] = ["--bind", path, path]
        for path, view in self.roots.items():
            mounts[path] = _viewed(path, view)
        words = [word for path in sorted(mounts, key=_depth) for word in mounts[path]]
        for name, target in self.links.items():
            words += ["--symlink", target, name]
        return words

    def mounts(self) -> list[Mask]:
        """The masks that are mounted, in their order, with what keeps them in their places."""
        hidden = {mask.path for mask in self.masks if mask.kind.startswith("hidden")}
        found: list[Mask] = []
        for mask in sorted({*self.masks, *self._above()}, key=lambda mask: _depth(mask.path)):
            keeps = mask.kind in ("fixed", "pinned")
            again = mask.path in hidden and keeps
            if again or not hidden.isdisjoint(map(str, PurePosixPath(mask.path).parents)):
                continue  # a mount in there would bring back what is masked
            if not keeps or self._is_written_through(mask.path):
                found.append(mask)
        return found

    def _above(self) -> set[Mask]:
        """Masks of the folders above what is masked.

        A run that could move such a folder away would make another one in its place, and other
        runs, which see it through an overlay, would find what is in it by another name.
        """
        known = {mask.path for mask in self.masks} | self.above_roots() | set(self.roots)
        masks = self.masks if self.holds_above else ()
        above = (folder for m in masks for folder in folders_above(m.path, self.roots))
        return {Mask(folder, "pinned") for folder in above if folder not in known}

    def above_roots(self) -> set[str]:
        """The folders above roots in roots, which would lead elsewhere at the next start."""
        above = {folder for root in self.roots for folder in folders_above(root, self.roots)}
        return set(filter(self._is_written_through, above))

    def _masked(self, files: Mapping[str, int]) -> list[str]:
        words = []
        for mask in self.mounts():
            path = mask.path
            if mask.kind == "hidden file":
                words += ["--ro-bind", self.empty, path]
            elif mask.kind == "hidden folder":
                words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
            elif mask.kind == "copy":
                words += ["--perms", "0444", "--ro-bind-data", str(files[path]), path]
            else:
                words += ["--ro-bind" if mask.kind == "fixed" else "--bind", path, path]
        return words

    def _is_written_through(self, path: str) -> bool:
        """Whether a change of this place would be one of the machine's own file."""
        inner = max((r for r in self.roots if is_among(path, (r,))), key=_depth, default="")
        return bool(inner) and not isinstance(self.roots[inner], ReadOnly | Overlay)


def folders_above(path: str, roots: Iterable[str]) -> list[str]:
    """The folders between a place and the root that it lies in, but for those of packages.

    Package managers move the folders of what they install, and no person keeps secrets there.
    """
    tops = [root for root in roots if path != root and is_among(path, (root,))]
    if not tops or INSTALLED.intersection(path.split("/")):
        return []
    top = min(tops, key=len)
    parents = takewhile(lambda folder: folder != top, map(str, PurePosixPath(path).parents))
    return [folder for folder in parents if folder not in tops]


def _viewed(path: str, view: View) -> list[str]:
    if isinstance(view, Overlay):
        return ["--overlay-src", path, "--overlay", str(view.upper), str(view.work), path]
    return ["--ro-bind" if isinstance(view, ReadOnly) else "--bind", path, path]


def _depth(path: str) -> tuple[int, str]:
    return path.rstrip("/").count("/"), path
