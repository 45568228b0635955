"""The file system of a confined program at level strong, as arguments of bwrap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.terms import Overlay, ReadOnly, View

HOME = "/home/sandbox"
IN_MEMORY = ("/dev/shm", "/tmp", HOME)  # noqa: S108 - those of a run
MAX_COPIED_BYTES = 512_000
HOST = "sandbox"
TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
STORES = ("/nix/store", "/gnu/store")
"""Where some systems keep all programs, for everybody to read."""
ETC = (
    "ld.so.cache",
    "alternatives",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ssl/cert.pem",
    "pki/tls/certs",
    "pki/ca-trust/extracted",
    "ca-certificates/extracted",
    "crypto-policies",
    "localtime",
    "timezone",
    "mime.types",
    "services",
    "protocols",
    "fonts",
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
        sockets: sockets of the guard proxy, and where the run finds them.
    """

    roots: Mapping[str, View]
    links: Mapping[str, str]
    readable: Sequence[str]
    writable: Sequence[str]
    masks: Sequence[Mask]
    empty: str
    small: int
    sockets: dict[str, str] = field(default_factory=dict)

    def arguments(self, files: Mapping[str, int], variables: Iterable[str] = ()) -> list[str]:
        """The arguments of bwrap, up to the program.

        Args:
            files: made up files, by path, each with a descriptor that it is read from.
            variables: further arguments of bwrap.
        """
        user, group = identity()
        size = str(self.small)
        words = [*NAMESPACES, "--hostname", HOST, "--uid", str(user), "--gid", str(group)]
        words += system()
        words += ["--proc", "/proc", "--dev", "/dev"]
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
        words += ["--size", size, "--perms", "0700", "--tmpfs", HOME]
        words += ["--dir", "/run", "--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run"]  # noqa: S108
        for path, fd in files.items():
            words += ["--perms", "0444", "--file", str(fd), path]
        for path, place in self.sockets.items():
            words += ["--ro-bind", path, place]
        words += self._folders()
        words += self._masked()
        words += ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", *variables]
        return words

    def _folders(self) -> list[str]:
        mounts: dict[str, list[str]] = {}
        for path in self.readable:
            if not _beneath(path, ("/usr", *STORES, *self.roots)):
                mounts[path] = ["--ro-bind", path, path]
        for path in self.writable:
            mounts[path] = ["--bind", path, path]
        for path, view in self.roots.items():
            mounts[path] = _viewed(path, view)
        words = [word for path in sorted(mounts, key=_depth) for word in mounts[path]]
        for name, target in self.links.items():
            words += ["--symlink", target, name]
        return words

    def _masked(self) -> list[str]:
        words = []
        hidden = [mask.path for mask in self.masks if mask.kind.startswith("hidden")]
        for mask in sorted(set(self.masks), key=lambda mask: _depth(mask.path)):
            path = mask.path
            above = [place for place in hidden if place != path or mask.kind in ("fixed", "pinned")]
            if _beneath(path, above):
                continue  # a mount in there would bring back what is masked
            if mask.kind == "hidden file":
                words += ["--ro-bind", self.empty, path]
            elif mask.kind == "hidden folder":
                words += ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
            elif self._is_written_through(path):
                words += ["--ro-bind" if mask.kind == "fixed" else "--bind", path, path]
        return words

    def _is_written_through(self, path: str) -> bool:
        """Whether a change of this place would be one of the machine's own file."""
        inner = max((r for r in self.roots if _beneath(path, (r,))), key=_depth, default="")
        return bool(inner) and not isinstance(self.roots[inner], ReadOnly | Overlay)


def _viewed(path: str, view: View) -> list[str]:
    if isinstance(view, Overlay):
        return ["--overlay-src", path, "--overlay", str(view.upper), str(view.work), path]
    return ["--ro-bind" if isinstance(view, ReadOnly) else "--bind", path, path]


def _depth(path: str) -> tuple[int, str]:
    return path.rstrip("/").count("/"), path


def _beneath(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
