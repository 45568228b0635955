"""A file on which other programs act is asked about by whichever way git comes to write it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.made import commit, git, make_repository, on_a_side, write
from tests.tools.git.test_local import refused
from toolcrib import Toolbox

TEXT = "".join(f"line {number}\n" for number in range(30))
EVIL = TEXT + "evil\n"
ACTING = ".vscode/tasks.json"


def moved(repo: Path, old: str = "tools.json", new: str = ACTING) -> None:
    (repo / new).parent.mkdir(parents=True, exist_ok=True)
    git(repo, "mv", old, new)
    commit(repo, "moved")


def changed_on_a_side(repo: Path) -> None:
    """The side changes a file that this branch has under another name."""
    on_a_side(repo, **{"tools.json": EVIL})
    moved(repo)


def added_to_a_moved_folder(repo: Path) -> None:
    write(repo, **{"conf/readme.json": TEXT})
    commit(repo, "conf")
    on_a_side(repo, **{"conf/tasks.json": EVIL})
    moved(repo, "conf/readme.json", ".vscode/readme.json")


def on_the_side(repo: Path) -> None:
    changed_on_a_side(repo)
    git(repo, "checkout", "-q", "side")


def in_a_stash(repo: Path) -> None:
    write(repo, **{"tools.json": EVIL})
    git(repo, "stash", "-q")
    moved(repo)


def mended_before(repo: Path) -> None:
    write(repo, **{"tools.json": EVIL})
    commit(repo, "bad")
    write(repo, **{"tools.json": TEXT})
    commit(repo, "good")
    moved(repo)


def only_in_between(repo: Path) -> None:
    """One commit brings it, one conflicts, and one takes it away."""
    git(repo, "checkout", "-q", "-b", "side")
    for name, text in ((ACTING, EVIL), ("a.txt", "side\n")):
        write(repo, **{name: text})
        commit(repo, name)
    git(repo, "rm", "-q", ACTING)
    commit(repo, "gone")
    git(repo, "checkout", "-q", "main")
    write(repo, **{"a.txt": "main\n"})
    commit(repo, "main")
    git(repo, "checkout", "-q", "side")


def by_a_first_commit(repo: Path) -> None:
    git(repo, "checkout", "-q", "--orphan", "other")
    write(repo, **{ACTING: EVIL})
    commit(repo, "another first one")
    git(repo, "checkout", "-q", "main")


def with_two_bases(repo: Path) -> None:
    """It is unchanged since one merge base, and not there in the other."""
    write(repo, **{ACTING: EVIL})
    commit(repo, "base")
    git(repo, "checkout", "-q", "-b", "side")
    git(repo, "commit", "-q", "--allow-empty", "-m", "side")
    git(repo, "checkout", "-q", "main")
    git(repo, "rm", "-q", ACTING)
    commit(repo, "gone")
    one, other = (git(repo, "rev-parse", name).strip() for name in ("main", "side"))
    for branch, first, second in (("main", one, other), ("side", other, one)):
        git(repo, "checkout", "-q", branch)
        tree = git(repo, "rev-parse", f"{first}^{{tree}}").strip()
        made = git(repo, "commit-tree", tree, "-p", first, "-p", second, "-m", "x").strip()
        git(repo, "reset", "-q", "--hard", made)
    git(repo, "checkout", "-q", "main")


def under_a_false_graph(repo: Path) -> None:
    """The cache of commits says that the side has the files of this branch."""
    on_a_side(repo, **{ACTING: EVIL})
    git(repo, "commit-graph", "write", "--reachable")
    side, main = (
        bytes.fromhex(git(repo, "rev-parse", f"{name}^{{tree}}").strip())
        for name in ("side", "main")
    )
    graph = repo / ".git/objects/info/commit-graph"
    content = graph.read_bytes()[:-20]
    assert content.count(side) == 1
    content = content.replace(side, main)
    graph.chmod(0o644)
    graph.write_bytes(content + hashlib.sha1(content).digest())


@pytest.mark.parametrize(
    ("prepare", "tool", "arguments", "plain"),
    [
        (under_a_false_graph, "git_merge", {"branch": "side"}, "merge side"),
        (changed_on_a_side, "git_merge", {"branch": "side"}, "merge side"),
        (added_to_a_moved_folder, "git_merge", {"branch": "side"}, "merge side"),
        (with_two_bases, "git_merge", {"branch": "side"}, "merge side"),
        (changed_on_a_side, "git_pick", {"commits": ["side"]}, "cherry-pick side"),
        (by_a_first_commit, "git_pick", {"commits": ["other"]}, "cherry-pick other"),
        (mended_before, "git_pick", {"commits": ["HEAD~1"], "revert": True}, "revert HEAD~1"),
        (on_the_side, "git_rebase", {"onto": "main"}, "rebase main"),
        (only_in_between, "git_rebase", {"onto": "main"}, "rebase main"),
        (in_a_stash, "git_stash", {"action": "pop"}, "stash pop"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_it_is_asked_before_it_is_written(
    tmp_path: Path,
    prepare: Callable[[Path], None],
    tool: str,
    arguments: dict[str, Any],
    plain: str,
) -> None:
    repo = make_repository(tmp_path / "ws", **{"tools.json": TEXT, "a.txt": "1\n"})
    prepare(repo)
    async with Toolbox(workspace=repo) as box:
        text = await refused(box, tool, **arguments)
    assert "needs_approval" in text
    assert ACTING in text
    assert not (repo / ACTING).exists() or (repo / ACTING).read_text() == TEXT
    git(repo, *plain.split(), ok=False, GIT_EDITOR=":")
    assert (repo / ACTING).read_text() == EVIL


async def test_other_renames_are_merged_unasked(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "ws", **{"tools.json": TEXT, ACTING: "{}\n"})
    on_a_side(repo, **{"tools.json": EVIL})
    moved(repo, new="lib/tools.json")
    async with Toolbox(workspace=repo) as box:
        result = await box.call("git_merge", {"branch": "side"})
    assert result.error is None, result.render()
    assert (repo / "lib" / "tools.json").read_text() == EVIL
