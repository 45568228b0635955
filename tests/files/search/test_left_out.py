"""Generated trees: the hits and what was left out, against what was put there."""

from __future__ import annotations

import codecs
import os
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.conditions import as_ordinary_user
from tests.files.search.conftest import engines
from toolcrib.files.paths import Workspace
from toolcrib.files.search.pattern import pattern_of
from toolcrib.files.search.scope import scope_of
from toolcrib.files.search.search import Search
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C023", "C024", "C025", "C026", "E16")
TREES = 100
KINDS = (
    *("hit", "hit", "hit", "none", "none", "empty", "wide", "latin", "marked", "binary"),
    *("late", "shut", "secret", "second", "link", "folder link", "broken link", "outside link"),
    *("hidden", "ignored", "generated", "closed folder", "pipe"),
)
SECRETS = (".env", "id_rsa", "server.pem", ".npmrc", "a.key", ".ENV.local")
GLOBS = ("", "", "*.txt", "!*.md", "src/**")


@dataclass
class Tree:
    """A tree as it was made: lines that fit by file, and what is left out by reason."""

    root: Path
    dice: random.Random
    hits: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def name(self, folder: str = "") -> str:
        folder = folder or self.dice.choice(("", "", "src/", "src/deep/", "docs/"))
        return f"{folder}f{self.dice.randrange(10**6)}{self.dice.choice(('.txt', '.md', '.py'))}"

    def put(self, name: str, data: bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def text(self, count: int) -> str:
        lines = [f"line {self.dice.random()}" for _ in range(self.dice.randrange(1, 30))]
        for _ in range(count):
            lines.insert(self.dice.randrange(len(lines)), f"a needle {self.dice.random()}")
        return "\n".join(lines) + self.dice.choice(("", "\n"))

    def add(self, kind: str) -> None:
        """One more thing in the tree."""
        name, count = self.name(), self.dice.randrange(1, 4)
        getattr(self, f"_add_{kind.replace(' ', '_')}")(name, count)

    def _add_hit(self, name: str, count: int) -> None:
        self.put(name, self.text(count).encode())
        self.hits[name] = count

    def _add_none(self, name: str, count: int) -> None:
        self.put(name, self.text(0).encode())

    def _add_empty(self, name: str, count: int) -> None:
        self.put(name, b"")

    def _add_wide(self, name: str, count: int) -> None:
        self.put(name, self.text(count).encode("utf-16"))
        self.hits[name] = count

    def _add_latin(self, name: str, count: int) -> None:
        self.put(name, b"caf\xe9\n" + self.text(count).encode())
        self.hits[name] = count

    def _add_marked(self, name: str, count: int) -> None:
        self.put(name, b"\xef\xbb\xbf" + self.text(count).encode())
        self.hits[name] = count

    def _add_binary(self, name: str, count: int) -> None:
        self.put(name, b"\x7fELF\0" + self.text(count).encode())
        self.left_out["binary"].add(name)

    def _add_late(self, name: str, count: int) -> None:
        self.put(name, self.text(count).encode() * 300 + b"\0")
        self.left_out["binary"].add(name)

    def _add_shut(self, name: str, count: int) -> None:
        self.put(name, self.text(count).encode()).chmod(0)
        self.left_out["unreadable"].add(name)

    def _add_secret(self, name: str, count: int) -> None:
        name = name.rpartition("/")[0] + "/" + self.dice.choice(SECRETS)
        name = name.lstrip("/")
        self.put(name, self.text(count).encode())
        self.left_out["protected"].add(name)

    def _add_second(self, name: str, count: int) -> None:
        """Another name of what is protected, with a line that fits or without."""
        secret = f"{name}.pem"
        self.put(secret, self.text(self.dice.choice((0, count))).encode())
        os.link(self.root / secret, self.root / name)
        self.left_out["protected"] |= {secret, name}

    def _add_link(self, name: str, count: int) -> None:
        target = self.name("docs/")
        self._add_hit(target, count)
        self._link(name, self.root / target)

    def _add_folder_link(self, name: str, count: int) -> None:
        (self.root / "docs").mkdir(exist_ok=True)
        self._link(name, self.root / "docs")

    def _add_broken_link(self, name: str, count: int) -> None:
        self._link(name, self.root / "nowhere")

    def _add_outside_link(self, name: str, count: int) -> None:
        self._link(name, Path("/etc/hostname"))

    def _link(self, name: str, target: Path) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).symlink_to(target)
        self.left_out["link"].add(name)

    def _add_hidden(self, name: str, count: int) -> None:
        self.put(f".cache/{name}", self.text(count).encode())

    def _add_generated(self, name: str, count: int) -> None:
        self.put(f"node_modules/{name}", self.text(count).encode())

    def _add_ignored(self, name: str, count: int) -> None:
        self.put(f"logs/{name}", self.text(count).encode())
        (self.root / ".gitignore").write_text("logs/\n")

    def _add_closed_folder(self, name: str, count: int) -> None:
        folder = f"closed{self.dice.randrange(10**6)}"
        self.put(f"{folder}/{name}", self.text(count).encode())
        self.left_out["unreadable"].add(f"{folder}/")

    def _add_pipe(self, name: str, count: int) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(self.root / name)

    def _add_large(self, name: str, count: int) -> None:
        line = self.text(0).rstrip("\n").encode() + b"\n"
        half = line * (5_200_000 // len(line))
        self.put(name, half + b"a needle in much\n" * count + half)
        self.hits[name] = count

    def expected(self, glob: str) -> tuple[dict[str, int], dict[str, set[str]]]:
        """The hits, and what is left out, of the files that a glob means."""

        def wanted(name: str) -> bool:
            if glob.startswith("!"):
                return not fnmatchcase(name, glob[1:])
            if glob.endswith("/**"):
                return name.startswith(glob[:-2])
            return not glob or name.endswith(("/", glob[1:]))

        def closed(name: str) -> bool:
            return name.endswith("/") or wanted(name)

        hits = {name: count for name, count in self.hits.items() if wanted(name)}
        left_out = {why: {n for n in names if closed(n)} for why, names in self.left_out.items()}
        return hits, {why: names for why, names in left_out.items() if names}


def grown(root: Path, seed: int) -> Tree:
    dice = random.Random(seed)
    tree = Tree(root, dice)
    root.mkdir()
    for kind in dice.choices(KINDS, k=dice.randrange(3, 30)):
        tree.add(kind)
    if not seed % 20:
        tree.add("large")
    for folder in tree.left_out["unreadable"]:
        if folder.endswith("/"):
            (root / folder).chmod(0)
    return tree


@pytest.fixture(scope="module")
def trees() -> Iterator[list[Tree]]:
    """In a folder that every user can reach."""
    with TemporaryDirectory(dir="/tmp", prefix="toolcrib-") as top:
        Path(top).chmod(0o777)
        (Path(top) / "ws").mkdir()
        made = [grown(Path(top) / "ws" / f"t{seed}", seed) for seed in range(TREES)]
        yield made
        for folder in Path(top).rglob("closed*"):
            folder.chmod(0o755)


@pytest.fixture
async def ordinary(trees: list[Tree], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """An ordinary user, whose state lies beside the trees."""
    top = trees[0].root.parent.parent
    monkeypatch.setenv("TOOLCRIB_CONFIG", f"{top}/config.toml")
    monkeypatch.setenv("TOOLCRIB_DATA", f"{top}/warm")
    await import_all(top / "ws")  # the interpreter may be closed to the other user
    monkeypatch.setenv("TOOLCRIB_DATA", f"{top}/state")
    with as_ordinary_user():
        yield


async def import_all(root: Path) -> None:
    for order in ("le", "be"):
        codecs.lookup(f"utf-16-{order}")
    async with Toolbox(workspace=root) as box:
        for name, more in (("search_files", {}), ("replace_in_files", {"replacement": "x"})):
            await box.call(name, {"pattern": "needle", "path": "t1"} | more)


def as_sets(left_out: dict[str, Any]) -> dict[str, set[str]]:
    return {why: set(names) for why, names in left_out.items() if names}


@pytest.mark.usefixtures("ordinary")
async def test_what_is_found_and_what_was_left_out(trees: list[Tree]) -> None:
    top = trees[0].root.parent
    processes = Processes()
    wrong = []
    for seed, tree in enumerate(trees):
        glob = GLOBS[seed % len(GLOBS)]
        hits, left_out = tree.expected(glob)
        workspace = Workspace([str(top)])
        scope = scope_of(workspace.resolve(tree.root.name), [glob] if glob else [])
        for engine in engines():
            search = Search(workspace, processes, engine)  # type: ignore[arg-type]
            found = await search.count(scope, pattern_of("needle", literal=False), 60)
            assert found.engine == engine
            assert found.left_out is not None
            if dict(found.files) != hits or as_sets(found.left_out.paths) != left_out:
                wrong.append(
                    (seed, engine, glob, dict(found.files), hits, found.left_out, left_out)
                )
    await processes.close()
    assert not wrong, f"{len(wrong)} of {2 * TREES}: {wrong[0]}"


@pytest.mark.usefixtures("ordinary")
async def test_what_the_tools_say_of_it(trees: list[Tree]) -> None:
    top = trees[0].root.parent
    async with Toolbox(workspace=top) as box:
        for tree in trees[: TREES // 5]:
            hits, left_out = tree.expected("")
            name = tree.root.name
            answer = {"pattern": "needle", "path": name, "show": "files"}
            found = await box.call("search_files", answer)
            assert found.data["total_lines"] == sum(hits.values())
            counts = {why: one["count"] for why, one in found.data["left_out"].items()}
            assert counts == {why: len(names) for why, names in left_out.items()}
            for why, names in left_out.items():
                assert f"{len(names):,} " in found.text
                assert why in found.text or why == "unreadable"
            preview = await box.call(
                "replace_in_files", {"pattern": "needle", "replacement": "pin", "path": name}
            )
            shut = left_out.get("unreadable", set())
            large = {n for n in hits if (tree.root / n).stat().st_size > 10_000_000}
            if preview.error is None:
                changed = {file["path"] for file in preview.data["files"]}
                assert changed == {f"{name}/{n}" for n in hits.keys() - large}
            words = preview.text if preview.error is None else preview.error.message
            assert ("not readable" in words) == bool(shut)
            assert ("too large" in words) == bool(large)
            assert ("a link" in words) == bool(left_out.get("link"))
            assert ("protected" in words) == bool(left_out.get("protected"))
