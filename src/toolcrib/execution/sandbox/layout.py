"""The file system of a confined program at level strong, as the arguments of bubblewrap."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from toolcrib.core.package_data import package_table
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.terms import Overlay, ReadOnly, View
from toolcrib.execution.toolchains import is_among
from toolcrib.files.real_paths import real_path

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

TABLE = package_table("execution/sandbox/bubblewrap.toml")
HOME = "/home/sandbox"
MADE = ("/tmp", "/run", "/var/run", "/var/tmp", "/dev/shm", HOME)  # noqa: S108 - those of a run
"""No link can be made in their places, or above."""
PINS = "/run/pins"
"""Where that is mounted which holds folders in their places; no program may enter it. In `top` is
what the guard of a run adds (see `namespace_child.pin`)."""
IN_MEMORY = ("/dev/shm", "/tmp", HOME)  # noqa: S108 - those of a run
MAX_COPIED_BYTES = 512_000
MAX_MASKS = 500
"""Bubblewrap looks through all mounts for each, and takes 9,000 arguments."""
INSTALLED = frozenset({"node_modules", "site-packages", "dist-packages"})
HOST = "sandbox"
TOP: tuple[str, ...] = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
STORES: tuple[str, ...] = ("/nix/store", "/gnu/store")
"""Where some systems keep all programs, for everybody to read."""


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


def etc_places() -> list[str]:
    """The places of the table that are there."""
    return [str(place) for name in TABLE["etc"] for place in sorted(Path("/etc").glob(name))]


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
    for place in (*STORES, *etc_places()):
        real = real_path(place)
        if place != real and real.startswith("/usr/"):
            arguments += ["--symlink", real, place]
        elif Path(place).is_dir():
            arguments += ["--ro-bind", real, place]
    return tuple(arguments)


@cache
def system_files() -> dict[str, bytes]:
    """Small files of /etc: it takes bubblewrap less time to write one than to mount it."""
    found: dict[str, bytes] = {}
    for place in map(Path, etc_places()):
        real = real_path(place)
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
        links: names of roots and interpreters that are reached by links, and where they lead.
        readable: folders and files that can be read, real paths.
        writable: scratch folders.
        masks: places that are masked.
        empty: a file that nobody can read, for masking files.
        small: the size of each file system in memory, in bytes.
    """

    roots: Mapping[str, View]
    links: Mapping[str, str]
    readable: Sequence[str]
    writable: Sequence[str]
    masks: Sequence[Mask]
    empty: str
    small: int

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
        words = [*TABLE["namespaces"], "--hostname", HOST, "--uid", str(user), "--gid", str(group)]
        words += system()
        words += ["--proc", "/proc", "--dev", "/dev"]
        for name in TABLE["facts"]:
            if Path("/proc", name).exists():
                words += ["--ro-bind", "/dev/null", f"/proc/{name}"]
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
        words += ["--size", size, "--perms", "0700", "--tmpfs", HOME]
        words += ["--dir", f"{PINS}/top", "--chmod", "0000", PINS, "--symlink", "/run", "/var/run"]
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

    def _folders(self) -> list[str]:
        mounts: dict[str, list[str]] = {}
        for path in self.readable:
            if not is_among(path, ("/usr", *STORES, *self.roots)):
                mounts[path] = ["--ro-bind", path, path]
        for path in self.writable:
            mounts[path] = ["--bind", path, path]
        for path, view in self.roots.items():
            mounts[path] = _viewed(path, view)
        words = [word for path in sorted(mounts, key=_depth) for word in mounts[path]]
        # A name in what is seen is there already, as the link that it is.
        seen = ["/usr", *(f"/{name}" for name in TOP), *STORES, "/proc", "/dev", *mounts]
        for name in sorted(self.links, key=_depth):
            if not is_among(name, seen) and not any(is_among(each, [name]) for each in MADE):
                words += ["--symlink", self.links[name], name]
                seen.append(name)
        return words

    def mounts(self) -> list[Mask]:
        """The masks that are mounted in their places, in their order."""
        hidden = {mask.path for mask in self.masks if mask.kind.startswith("hidden")}

        def is_mounted(mask: Mask) -> bool:
            if mask.kind == "fixed" and (mask.path in hidden or not self._written_root(mask.path)):
                return False
            above = map(str, PurePosixPath(mask.path).parents)
            # A mount in what is hidden would bring it back.
            return mask.kind != "pinned" and hidden.isdisjoint(above)

        return sorted(filter(is_mounted, set(self.masks)), key=lambda mask: _depth(mask.path))

    def pins(self) -> dict[str, str]:
        """What is mounted to keep folders in their places, by where, in this order.

        The system moves no folder that something is mounted over, by whatever path. So roots are
        mounted once more where nobody comes, and their folders over themselves in there: in their
        own places, that would part a program that stands in them from what covers places in
        them later. A run that could move a folder above what is masked would make another one in
        its place, and other runs, which see it through an overlay, would find what is in it by
        another name. A folder above a root would lead elsewhere at the next start.
        """
        pinned = {mask.path for mask in self.masks if mask.kind == "pinned"}
        for place in (*self.roots, *(mask.path for mask in self.masks)):
            pinned.update(folders_above(place, self.roots))
        tops = {root: f"{PINS}/{number}" for number, root in enumerate(self.roots)}
        found: dict[str, str] = {}
        if is_among(PINS, [*self.roots, *self.readable, *self.writable]):
            return found  # it would be the machine's own
        for path in sorted(pinned.difference(self.roots), key=_depth, reverse=True):
            if root := self._written_root(path):
                found.setdefault(tops[root], root)
                found[f"{tops[root]}/{PurePosixPath(path).relative_to(root)}"] = path
        return found

    def split(self) -> tuple[list[Mask], dict[str, str], list[Mask]]:
        """The masks and pins that bubblewrap mounts, and what is mounted from outside after that.

        Older systems make copies by bubblewrap alone.
        """
        masks, pins = self.mounts(), self.pins()
        if len(masks) + len(pins) <= MAX_MASKS:
            return masks, pins, []
        late = [mask for mask in masks[MAX_MASKS:] if mask.kind != "copy"]
        early = [*masks[:MAX_MASKS], *(m for m in masks[MAX_MASKS:] if m.kind == "copy")]
        late += [Mask(path, "pinned") for path in pins.values() if path not in self.roots]
        return early, {}, late

    def _masked(self, files: Mapping[str, int]) -> list[str]:
        words = []
        masks, pins, _ = self.split()
        for mask in masks:
            path = mask.path
            if mask.kind == "hidden file":
                words += ["--ro-bind", self.empty, path]
            elif mask.kind == "hidden folder":
                words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
            elif mask.kind == "copy":
                words += ["--perms", "0444", "--ro-bind-data", str(files[path]), path]
            else:
                words += ["--ro-bind", path, path]
        return words + [word for place, path in pins.items() for word in ("--bind", path, place)]

    def _written_root(self, path: str) -> str:
        """The root by which a change of this place is one of the machine's own file, or ""."""
        inner = max((r for r in self.roots if is_among(path, (r,))), key=_depth, default="")
        return "" if isinstance(self.roots.get(inner), ReadOnly | Overlay) else inner


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
