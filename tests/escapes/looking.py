"""How files outside look, so that a change shows; and facts of this machine."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
from pathlib import Path


def differs(
    kind: str,
    was: dict[str, tuple[object, ...]],
    now: dict[str, tuple[object, ...]],
    shared: str,
) -> list[str]:
    """What is not as it was, at most three lines."""
    names = [n for n in was.keys() | now.keys() if was.get(n) != now.get(n)]
    return [f"{kind}: {n} was changed" for n in sorted(names) if n == shared or "/" in n][:3]


def look(base: Path, tops: list[Path]) -> dict[str, tuple[object, ...]]:
    """All names beneath some folders, each with how it looks."""
    found = {}
    for top in tops:
        for folder, folders, names in os.walk(top):
            for path in (folder, *(f"{folder}/{n}" for n in (*folders, *names))):
                found[os.path.relpath(path, base) + "/"] = state(Path(path))
        if top.is_symlink() or top.is_file():
            found[os.path.relpath(top, base) + "/"] = state(top)
    return found


def state(path: Path) -> tuple[object, ...]:
    """What is known of one name; a change of it shows."""
    try:
        return _facts(path)
    except OSError as error:
        return (error.errno,)


def _facts(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    known = (status.st_mode, status.st_uid)
    if stat.S_ISDIR(status.st_mode):
        return known
    if stat.S_ISLNK(status.st_mode):
        return (*known, os.readlink(path))
    if not stat.S_ISREG(status.st_mode):
        return known
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    attributes = tuple(sorted(os.listxattr(path)))
    return (*known, status.st_nlink, status.st_mtime_ns, digest, attributes)


def own_address() -> str:
    """This machine's address on its network; loopback where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def disk() -> str:
    """A block device of this machine."""
    for line in Path("/proc/partitions").read_text().splitlines()[2:]:
        if not line.split()[3].startswith(("loop", "ram")):
            return f"/dev/{line.split()[3]}"
    return "/dev/loop0"
