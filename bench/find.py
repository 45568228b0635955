"""Searching and listing 50,000 files beside rg, and finding names among 200,000 beside fzf.

Run: python bench/find.py [rounds]
Needs rg and fzf on PATH. The trees are made from a seed in a folder of their own.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from toolcrib.files.paths import Workspace
from toolcrib.files.search.catalog import Catalogs
from toolcrib.files.search.pattern import pattern_of
from toolcrib.files.search.scope import scope_of, walk
from toolcrib.files.search.search import Search
from toolcrib.system.processes import Processes
from toolcrib.system.threads import Checkpoint
from toolcrib.toolbox import Toolbox

FILES, FOLDERS = 50_000, 2_500
PATHS, EACH = 200_000, 25
PATTERNS = ("handle_request_", r"needle_[0-9]+\)", "common phrase", " q[a-z]+z ")
ENDINGS = ("py", "js", "ts", "md", "txt", "json", "c", "h", "rs", "html")


def words(chooser: random.Random, count: int) -> list[str]:
    letters = string.ascii_lowercase
    return ["".join(chooser.choices(letters, k=chooser.randint(3, 10))) for _ in range(count)]


def make_tree(root: Path) -> None:
    """Files of some 3 KB; one in 110 has a rare line, one in 150 a common one."""
    chooser = random.Random(7)
    known = words(chooser, 4000)
    folders = [root]
    while len(folders) < FOLDERS:
        folder = chooser.choice(folders[-600:]) / chooser.choice(known)
        if len(folder.relative_to(root).parts) < 8 and not folder.exists():
            folder.mkdir(parents=True)
            folders.append(folder)
    for number in range(FILES):
        name = f"{chooser.choice(known)}_{number}.{chooser.choice(ENDINGS)}"
        size = int(chooser.lognormvariate(3.9, 0.8)) + 1
        lines = [" ".join(chooser.choices(known, k=7)) for _ in range(size)]
        if number % 110 == 0:
            lines.insert(size // 2, f"def handle_request_{number}(needle_{number % 7}):")
        if number % 150 == 0:
            lines.insert(0, "common phrase here and there")
        (chooser.choice(folders) / name).write_text("\n".join(lines) + "\n")


def make_names(root: Path) -> list[str]:
    chooser = random.Random(3)
    known = words(chooser, 3000)
    for _ in range(PATHS // EACH):
        folder = root / chooser.choice(known) / chooser.choice(known) / chooser.choice(known)
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(EACH):
            name = f"{chooser.choice(known)}_{chooser.choice(known)}.{chooser.choice(ENDINGS)}"
            (folder / name).touch()
    return [os.path.join(at, name) for at, _, names in os.walk(root) for name in names]


def mistyped(chooser: random.Random, name: str, typos: int) -> str:
    letters = list(name)
    for _ in range(typos):
        place = chooser.randrange(1, len(letters) - 5)
        if chooser.random() < 0.5:
            letters[place] = chooser.choice(string.ascii_lowercase)
        else:
            del letters[place]
    return "".join(letters)


async def timed(work: Callable[[], Awaitable[object] | object]) -> float:
    began = time.perf_counter()
    done = work()
    if isinstance(done, Awaitable):
        await done
    return (time.perf_counter() - began) * 1000


def show(title: str, rounds: dict[str, list[float]], peer: str) -> None:
    """Medians, and the median of each round's ratio to the peer."""
    for name, taken in rounds.items():
        ratios = [mine / theirs for mine, theirs in zip(taken, rounds[peer], strict=True)]
        print(
            f"{title:34} {name:16} {statistics.median(taken):8.0f} ms "
            f"{statistics.median(ratios):6.2f}x {peer}"
        )


def run(*argv: str, cwd: Path, stdin: Path | None = None) -> None:
    with open(stdin or os.devnull, "rb") as source:
        subprocess.run(argv, cwd=cwd, stdin=source, stdout=subprocess.PIPE, check=False)


async def searching(root: Path, count: int) -> None:
    workspace, processes = Workspace([str(root)]), Processes()
    scope = scope_of(workspace.start())
    engines = {e: Search(workspace, processes, e) for e in ("rg", "python")}
    for text in PATTERNS:
        pattern = pattern_of(text, literal=False, case_sensitive=None)
        flag = "-i" if pattern.ignore_case else "-s"
        rounds: dict[str, list[float]] = {}
        for _ in range(count):
            works: dict[str, Callable[[], Awaitable[object] | object]] = {
                "rg itself": partial(
                    run, "rg", "--no-config", flag, "-n", "-e", text, ".", cwd=root
                )
            }
            for name, engine in engines.items():
                works[name] = partial(engine.count, scope, pattern, 60)
            for name, work in works.items():
                rounds.setdefault(name, []).append(await timed(work))
        show(f"search {text!r}", rounds, "rg itself")
    rounds = {}
    for _ in range(count):
        peer = await timed(lambda: run("rg", "--no-config", "--files", ".", cwd=root))
        rounds.setdefault("rg --files", []).append(peer)
        rounds.setdefault("walk", []).append(await timed(lambda: listing(scope)))
        catalog = await timed(lambda: Catalogs().of(scope, Checkpoint()))
        rounds.setdefault("list for finding", []).append(catalog)
    show("list 50,000 files", rounds, "rg --files")
    await processes.close()


def listing(scope) -> int:
    with scope.real.open() as top:
        return sum(len(level.files) for level in walk(scope, top, Checkpoint()))


async def finding(root: Path, files: list[str], count: int) -> None:
    chooser = random.Random(5)
    names = root.with_suffix(".names")
    names.write_text("\n".join(files))
    async with Toolbox(workspace=root) as box:
        await box.call("find_files", {"query": "first"})
        for typos in (1, 2):
            rounds: dict[str, list[float]] = {}
            hits = 0
            for _ in range(count * 4):
                wanted = Path(chooser.choice(files)).name
                while len(wanted) < 12:
                    wanted = Path(chooser.choice(files)).name
                query = mistyped(chooser, wanted, typos)
                peer = await timed(partial(run, "fzf", "-f", query, cwd=root, stdin=names))
                rounds.setdefault("fzf by pipe", []).append(peer)
                began = time.perf_counter()
                result = await box.call("find_files", {"query": query, "limit": 10})
                taken = (time.perf_counter() - began) * 1000
                rounds.setdefault("find_files", []).append(taken)
                hits += any(Path(path).name == wanted for path in result.data["paths"])
            show(f"200,000 paths, {typos} typo(s)", rounds, "fzf by pipe")
            print(f"{'':34} found {hits} of {count * 4}")


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    missing = [name for name in ("rg", "fzf") if shutil.which(name) is None]
    if missing:
        raise SystemExit(f"not on PATH: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOOLCRIB_DATA"] = f"{folder}/state"
        tree, wide = Path(folder) / "tree", Path(folder) / "wide"
        make_tree(tree)
        await searching(tree, count)
        wide.mkdir()
        await finding(wide, make_names(wide), count)


if __name__ == "__main__":
    asyncio.run(main())
