"""Every commit, line and change that the tools name is the one that the git program names."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.made import commit, git, make_repository, write
from tests.tools.git.test_reading import history
from toolcrib import Toolbox

OWN = Path(__file__).parents[3]
MAX_COMMITS, MAX_PAIRS, MAX_FILES = 300, 15, 15
# Before each line of a file git writes its commit and numbers; the line itself begins with a tab.
HEAD_OF_LINE = re.compile(r"[0-9a-f]{40} \d+ \d+")


def own(place: Path) -> Path:
    """A clone of this project's repository."""
    if not (OWN / ".git").exists():
        pytest.skip("the project is no clone here")
    git(place.parent, "clone", "-q", "--no-hardlinks", str(OWN), str(place))
    return place


def odd(place: Path) -> Path:
    """Renames, line ends, binary files, names with new lines and in other encodings, merges."""
    repo = make_repository(place)
    history(repo)
    chance = random.Random(5)
    for number in range(40):
        if number % 8 == 0:
            git(repo, "checkout", "-q", "-b", f"b{number}", "main")
        name = f"part{chance.randint(0, 4)}.txt"
        old = (repo / name).read_bytes() if (repo / name).exists() else b"\n" * 9
        lines = old.split(b"\n")
        lines[chance.randint(0, len(lines) - 1)] = f"line {number} \u00fc".encode()
        end = b"\r\n" if number % 5 == 0 else b"\n"
        (repo / name).write_bytes(end.join(lines))
        commit(repo, f"change {number}")
        if number % 8 == 7:
            git(repo, "checkout", "-q", "main")
            git(
                repo,
                "merge",
                "-q",
                "--no-ff",
                "-X",
                "theirs",
                f"b{number - 7}",
                "-m",
                f"m {number}",
            )
    return repo


def large(place: Path) -> Path:
    """Ten thousand files in folders, most of them changed once."""
    repo = make_repository(place)
    write(repo, **{f"f{n % 100}/file{n}.txt": f"{n}\nsecond\n" for n in range(10_000)})
    commit(repo, "many files")
    write(repo, **{f"f{n % 100}/file{n}.txt": f"{n}\nthird\n" for n in range(0, 10_000, 3)})
    commit(repo, "a third of them")
    return repo


async def commits(box: Toolbox) -> list[tuple[str, ...]]:
    """The log, page by page."""
    found: list[tuple[str, ...]] = []
    name, arguments = "git_log", {"limit": 50}  # as many as one answer holds
    while len(found) < MAX_COMMITS:
        result = await box.call(name, arguments)
        assert result.error is None, result.render()
        keys = ("id", "date", "author", "subject")
        found += [tuple(one[key] for key in keys) for one in result.data["commits"]]
        if result.next is None:
            break
        assert result.next.tool == name, result.next  # more would be in read_more's pages
        arguments = dict(result.next.arguments)
    return found


async def data(box: Toolbox, name: str, **arguments: Any) -> dict[str, Any]:
    result = await box.call(name, arguments)
    assert result.error is None, result.render()
    assert isinstance(result.data, dict)
    return result.data


def numbers(text: str) -> list[tuple[str, int, int]]:
    """`git diff --numstat -z`: each file, and the lines that came and went."""
    found, words = [], iter(text.split("\0"))
    for word in words:
        if not word:
            continue
        added, removed, name = word.split("\t", 2)
        if not name:  # renamed: the old name, then the new one
            next(words)
            name = next(words)
        lines = [0 if n == "-" else int(n) for n in (added, removed)]  # binary
        found.append((name, *lines))
    return sorted(found)


@pytest.mark.parametrize("make", [own, odd, large])
async def test_the_same_is_named(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    repo = make(tmp_path / "ws")
    chance = random.Random(11)
    async with Toolbox({"policy": {"default": "allow"}}, workspace=repo) as box:
        listed = await commits(box)
        wanted = git(repo, "log", "--format=%h%x00%ad%x00%an%x00%s", "--date=short")
        assert listed == [tuple(line.split("\0")) for line in wanted.splitlines()][: len(listed)]
        ids = [one[0] for one in listed]
        for _ in range(MAX_PAIRS):
            old, new = chance.choice(ids), chance.choice(ids)
            text = git(repo, "diff", "--numstat", "-z", "-M", old, new)
            answer = await data(box, "git_diff", range=f"{old}..{new}", stat=True)
            files = [(f["path"], f["added"], f["removed"]) for f in answer["files"]]
            assert sorted(files) == numbers(text), (old, new)
        names = git(repo, "ls-files", "-z").split("\0")[:-1]
        names = [name for name in names if name.isprintable()]  # others cannot be given as a path
        for name in chance.sample(names, min(MAX_FILES, len(names))):
            lines = git(repo, "blame", "--line-porcelain", "--", name).split("\n")
            heads = [line[:40] for line in lines if HEAD_OF_LINE.match(line)]
            answer = await data(box, "git_blame", path=name)
            assert [line["commit"] for line in answer["lines"]] == heads[: len(answer["lines"])]
        for number, name in enumerate(chance.sample(names, min(12, len(names)))):
            if number % 3 == 0:
                (repo / name).unlink()
            elif number % 3 == 1:
                (repo / name).write_text("other\n")
                git(repo, "add", "--", name)
            else:
                (repo / name).write_text("not staged\n")
        write(repo, **{"new/one.txt": "x\n"})
        status = git(repo, "status", "--porcelain", "-z", "--no-renames", "-uall")
        answer = await data(box, "git_status")
        assert len(answer["files"]) == status.count("\0")
