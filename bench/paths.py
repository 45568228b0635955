"""Reading while a link flips: what leaks outside the workspace, and what a safe way costs.

Beside the ways of toolcrib stands the usual careless one in the same run: look where a
path leads, then open its name.

Run: python bench/paths.py [reads]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from toolcrib.core.errors import ToolError
from toolcrib.files.handles import KernelOpener, Opener, WalkingOpener, can_pin, has_openat2
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace

CANARY = b"the canary outside the workspace"
FLIP = """
import os, sys
name, inside, outside = sys.argv[1:]
os.symlink(inside, name)
print("go", flush=True)
while True:
    for target in (inside, outside):
        os.symlink(target, name + ".new")
        os.replace(name + ".new", name)
"""
SWING = """
import os, sys
inside, outside = sys.argv[1:]
print("go", flush=True)
while True:
    os.rename(inside, outside)
    os.rename(outside, inside)
"""

Read = Callable[[], bytes]


def planted(top: Path) -> Path:
    """A workspace, and outside it files of the same names that hold the canary."""
    root, outside = top / "ws", top / "ws_evil"
    (root / "src" / "a" / "swing").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_bytes(CANARY)
    (root / "src" / "secret.txt").write_bytes(b"hello\n")
    (root / "src" / "a" / "secret.txt").write_bytes(b"hello\n")
    (root / "swinging").symlink_to("src/a/swing/../secret.txt")
    return root


def careless(root: Path, name: str) -> Read:
    def read() -> bytes:
        path = root / name
        if not os.path.realpath(path).startswith(f"{root}/"):
            raise ToolError("outside")
        return path.read_bytes()

    return read


def careful(root: Path, name: str, opener: Opener) -> Read:
    path = Workspace([str(root)], Protection(), opener).resolve(name)
    return lambda: path.read_bytes(1000)


def ways(root: Path, name: str) -> dict[str, Read]:
    found = {"realpath, then open": careless(root, name)}
    if has_openat2():
        found["toolcrib, openat2"] = careful(root, name, KernelOpener())
    if can_pin():
        found["toolcrib, walk"] = careful(root, name, WalkingOpener(pinned=True))
    found["toolcrib, walk without O_PATH"] = careful(root, name, WalkingOpener(pinned=False))
    return found


def raced(read: Read, reads: int) -> tuple[int, int, int]:
    """How many reads gave the file inside, leaked, were refused."""
    inside = leaked = refused = 0
    for _ in range(reads):
        try:
            data = read()
        except (ToolError, OSError):
            refused += 1
        else:
            leaked += data == CANARY
            inside += data != CANARY
    return inside, leaked, refused


def race(title: str, program: str, argv: list[str], readers: dict[str, Read], reads: int) -> int:
    """Print a row for each way; the leaks of those of toolcrib."""
    print(f"\n{title}, {reads:,} reads each\n")
    print(f"{'way':32} {'inside':>8} {'leaked':>8} {'refused':>8}")
    ours = 0
    for name, read in readers.items():
        command = [sys.executable, "-S", "-c", program, *argv]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            inside, leaked, refused = raced(read, reads)
            process.kill()
        for left in (argv[0], f"{argv[0]}.new"):
            if os.path.islink(left):
                os.unlink(left)
        if program is SWING and not os.path.isdir(argv[0]):
            os.rename(argv[1], argv[0])
        ours += leaked if name.startswith("toolcrib") else 0
        print(f"{name:32} {inside:8,} {leaked:8,} {refused:8,}")
    return ours


def cost(readers: dict[str, Read], times: int = 3000) -> None:
    print(f"\nOne read of a small file, median of 5 x {times:,}\n")
    base = 0.0
    for name, read in readers.items():
        took = []
        for _ in range(5):
            began = time.perf_counter()
            for _ in range(times):
                read()
            took.append((time.perf_counter() - began) / times * 1e6)
        median = sorted(took)[2]
        base = base or median
        print(f"{name:32} {median:8.1f} us  {median / base:5.2f}x")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reads", nargs="?", type=int, default=20_000)
    reads = parser.parse_args().reads
    with tempfile.TemporaryDirectory() as folder:
        root = planted(Path(folder).resolve())
        outside = root.with_name("ws_evil")
        flip = str(root / "flip")
        leaks = race(
            "A link to a file flips",
            FLIP,
            [flip, "src/secret.txt", "../ws_evil/secret.txt"],
            ways(root, "flip"),
            reads,
        )
        leaks += race(
            "A link to a folder on the way flips",
            FLIP,
            [flip, "src", "../ws_evil"],
            ways(root, "flip/secret.txt"),
            reads,
        )
        swing = [str(root / "src" / "a" / "swing"), str(outside / "swing")]
        leaks += race(
            "A folder that a link leads through and back is moved out",
            SWING,
            swing,
            ways(root, "swinging"),
            reads,
        )
        cost(ways(root, "src/secret.txt"))
    print(f"\nleaks of toolcrib: {leaks}")
    return 1 if leaks else 0


if __name__ == "__main__":
    raise SystemExit(main())
