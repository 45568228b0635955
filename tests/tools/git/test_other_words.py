"""Calls in the words of git's own command line, and of small models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.made import commit, git, write
from toolcrib.toolbox import Toolbox

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("git_add", {"files": "new.txt a.txt"}, "Staged 2 files"),
    ("git_show", {"ref": "HEAD"}, "second"),
    ("git_diff", {"commit": "HEAD~1"}, "+two"),
    ("git_log", {"ref": "HEAD~1"}, "first"),
    ("git_blame", {"file": "a.txt", "lines": "1-1", "ref": "HEAD"}, "1|two"),
    ("git_branch", {"name": "x", "create": True}, "Created x"),
    ("git_branch", {"list": True}, "* main"),
    ("git_branch", {"name": "x", "delete": "true"}, "Deleted x"),
    ("git_tag", {"name": "v1", "target": "HEAD~1"}, "Created v1"),
    ("git_checkout", {"b": "y"}, "new branch y"),
    ("git_checkout", {"branch": "z", "b": True}, "new branch z"),
    ("git_checkout", {"new_branch": "w", "create": False}, "new branch w"),
    ("git_checkout", {"files": ["a.txt"], "ref": "HEAD~1"}, "Restored from HEAD~1: a.txt"),
    ("git_reset", {"soft": True, "target": "HEAD~1"}, "first"),
    ("git_reset", {"hard": False, "ref": "HEAD"}, "Staged: 0"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), CALLS, ids=str)
async def test_other_words_are_understood(
    box: Toolbox, repo: Path, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    write(repo, **{"a.txt": "one\n"})
    commit(repo, "first")
    write(repo, **{"a.txt": "two\n"})
    commit(repo, "second")
    if tool == "git_add":
        write(repo, **{"a.txt": "three\n", "new.txt": "new\n"})
    elif "delete" in arguments:
        git(repo, "branch", "x")
    done = await box.call(tool, arguments)
    assert done.error is None, done.text
    assert expected in done.text


async def test_a_name_with_a_blank_is_one_file(box: Toolbox, repo: Path) -> None:
    write(repo, **{"a b": "1\n", "a": "2\n", "b": "3\n"})
    assert (await box.call("git_add", {"paths": "a b"})).text == "Staged 1 file: a b"
    assert (await box.call("git_reset", {"hard": True})).error is not None
