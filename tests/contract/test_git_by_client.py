"""Every tool of the group git, used by a real client in a clone from a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, Outcome, stdio
from tests.servers.git_http import git_server
from tests.tools.git.made import commit, git, make_repository, write
from toolcrib.toolbox import installed

pytestmark = [pytest.mark.timeout(180)]

PERSON = "[user]\n\tname = Ann\n\temail = ann@example.com\n"
ASIDE: list[tuple[str, dict[str, Any]]] = [
    ("git_stash", {"message": "for later"}),
    ("git_stash", {"action": "pop"}),
    ("git_add", {"paths": ["a.txt"]}),
    ("git_reset", {"paths": ["a.txt"]}),
]
AT_THE_END: list[tuple[str, dict[str, Any]]] = [
    ("git_init", {"path": "fresh"}),
    ("git_add", {"all": True}),
    ("git_commit", {"message": "b"}),
    ("git_pick", {"commits": ["HEAD"], "revert": True}),
]


async def test_a_model_works_in_a_clone_over_stdio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "served/x.git")
    git(tmp_path / "served" / "x.git", "config", "http.receivepack", "true")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(PERSON)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    clone = tmp_path / "work" / "x"
    used: set[str] = set()

    with git_server(tmp_path / "served") as server:
        config = {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "workspace": {"roots": [str(tmp_path / "work")]},
            "egress": {"allow_hosts": [server.host]},
            "policy": {
                "rules": [
                    {"action": "allow", "tool": "git_push", "rights": ["send", "net", "read"]}
                ]
            },
        }
        async with stdio(config, tmp_path, MODERN) as send:

            async def asks(name: str, /, **arguments: Any) -> str:
                used.add(name)
                outcome: Outcome = await send(name, arguments)
                assert outcome.code is None, (name, arguments, outcome.text)
                return str(outcome.text)

            assert "main at" in await asks("git_clone", url=f"{server.url}/x.git")
            await send("change_directory", {"path": "x"})
            assert "clean" in await asks("git_status")
            await asks("git_checkout", branch="topic", create=True)
            await send("edit_file", {"path": "a.txt", "old": "two", "new": "2"})
            assert "+2" in await asks("git_diff")
            for name, arguments in ASIDE:
                await asks(name, **arguments)
            await asks("git_commit", message="A digit", all=True)
            assert "A digit" in await asks("git_show")
            assert "A digit" in await asks("git_blame", path="a.txt")
            assert "A digit" in await asks("git_log")
            await asks("git_tag", action="create", name="v1")
            assert "Pushed" in await asks("git_push")
            write(source, **{"a.txt": "one\nzwei\nthree\n"})
            commit(source, "German")
            git(source, "push", "-q", str(tmp_path / "served" / "x.git"), "main")
            assert "origin/main" in await asks("git_fetch")
            assert "a.txt" in await asks("git_merge", branch="origin/main")
            assert "zwei" in await asks("git_conflicts")
            await asks("git_conflicts", path="a.txt", take="theirs")
            await asks("git_commit", message="Merge")
            await asks("git_push")
            await asks("git_checkout", branch="main")
            assert "German" in await asks("git_pull")
            await asks("git_rebase", onto="topic")
            assert "* main" in await asks("git_branch")
            await send("undo_changes", {})
            write(clone, **{"b.txt": "b\n"})
            for name, arguments in AT_THE_END:
                await asks(name, **arguments)
    assert git(tmp_path / "served" / "x.git", "show", "topic:a.txt") == "one\nzwei\nthree\n"
    assert {tool.name for tool in installed() if tool.group == "git"} == used
