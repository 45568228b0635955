"""What a hostile repository plants is neither run nor followed, by any of the tools."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.git.hostile import (
    ALONE,
    APART,
    LEADING,
    RUNNING,
    Payload,
    combined,
    listener,
    shows_canary,
    shows_secret,
)
from tests.tools.git.made import git, git_in_terminal, make_repository
from tests.tools.git.test_local import refused
from toolcrib import Toolbox
from toolcrib.core.registry import Registry
from toolcrib.toolbox import installed

TOOLS = [tool.name for tool in Registry(installed()).select("git") if tool.group == "git"]
ALLOW: dict[str, Any] = {"policy": {"default": "allow", "taint": False}}
LOOKING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("git_status", {}),
    ("git_diff", {}),
    ("git_diff", {"range": "HEAD"}),
    ("git_log", {"graph": True}),
    ("git_log", {"path": "a.txt"}),
    ("git_show", {}),
    ("git_show", {"path": "a.txt"}),
    ("git_blame", {"path": "a.txt"}),
    ("git_conflicts", {}),
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *LOOKING,
    ("git_reset", {"paths": ["inner"]}),
    ("git_rebase", {"action": "continue"}),
    ("git_conflicts", {"abort": True}),
    ("git_add", {"all": True}),
    ("git_commit", {"message": "x"}),
    ("git_commit", {"message": "y", "amend": True}),
    ("git_merge", {"branch": "side"}),
    ("git_conflicts", {"path": "a.txt", "take": "theirs"}),
    ("git_commit", {"message": "merged"}),
    ("git_branch", {"action": "create", "name": "b"}),
    ("git_checkout", {"branch": "new", "create": True}),
    ("write_file", {"path": "a.txt", "content": "again\n"}),
    ("git_stash", {"untracked": True}),
    ("git_stash", {"action": "pop"}),
    ("git_checkout", {"paths": ["a.txt"]}),
    ("git_reset", {"revision": "HEAD~1"}),
    ("git_stash", {"untracked": True}),
    ("git_pick", {"commits": ["main"]}),
    ("git_pick", {"commits": ["HEAD"], "revert": True}),
    ("git_rebase", {"onto": "main"}),
    ("git_tag", {"action": "create", "name": "v1", "message": "m"}),
    ("undo_changes", {}),
    ("git_init", {"path": "fresh"}),
    ("git_fetch", {"remote": "origin"}),
    ("git_pull", {}),
    ("git_pull", {"remote": "origin", "branch": "main"}),
    ("git_push", {"remote": "origin", "branch": "main"}),
    ("git_clone", {"url": ".", "path": "cloned"}),
)
"""Each of them, in an order in which later ones find something to do."""
DISPLAYED_BY_PLAIN_GIT = (shows_secret, shows_canary)
FEW = (
    *LOOKING[:2],
    ("git_log", {}),
    ("git_show", {}),
    ("git_reset", {"paths": ["inner"]}),
    ("git_rebase", {"action": "continue"}),
    ("git_add", {"all": True}),
    ("git_commit", {"message": "x"}),
    ("git_merge", {"branch": "side"}),
    ("write_file", {"path": "a.txt", "content": "again\n"}),
    ("git_checkout", {"paths": ["."]}),
    ("git_stash", {"untracked": True}),
    *CALLS[-5:-1],
)
NEAREST = {
    "rebase under way": ("git_status", "git_rebase"),
    "rebase under way, indented": ("git_status", "git_rebase"),
    "linked objects": ("git_show", "git_log"),
    "hook post-merge": ("git_merge",),
    "submodule, unborn": ("git_status", "git_reset"),
    "alternates": ("git_show", "git_log"),
    "alternates, linked pack": ("git_show", "git_log"),
    "alternates, linked folders": ("git_show", "git_log"),
    "alternates, linked objects": ("git_show", "git_log"),
    "alternates in quotes": ("git_show", "git_log"),
    "alternates in parts": ("git_show", "git_log"),
    "index that shows": ("git_status", "git_diff"),
    "url.insteadOf": ("git_fetch", "git_pull"),
    "remote.pushurl": ("git_push",),
    "url.pushInsteadOf": ("git_push",),
    ".git in disguise": ("git_merge", "git_checkout"),
    "git~1": ("git_merge", "git_checkout"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("plain") / "repo")


def planted(payload: Payload, plain: Path, folder: Path) -> tuple[Path, Path]:
    """A copy of a plain repository with a payload in it, and the mark that a command leaves."""
    folder.mkdir()
    repo, mark = folder / "repo", folder.parent / f"{folder.name}.mark"
    subprocess.run(["cp", "-r", str(plain), str(repo)], check=True)
    payload.plant(repo, f"touch {mark}")
    return repo, mark


def happened(payload: Payload, repo: Path, mark: Path) -> bool:
    return payload.effect(repo) if payload.effect else mark.exists()


def number(values: tuple[Payload, ...]) -> Iterator[tuple[int, Payload]]:
    return iter(enumerate(values))


def test_plain_git_falls_for_each(plain: Path, tmp_path: Path) -> None:
    harmless = []
    for count, payload in number((*RUNNING, *LEADING)):
        repo, mark = planted(payload, plain, tmp_path / f"{count}")
        mark.unlink(missing_ok=True)
        for command in payload.control:
            if payload.terminal:
                git_in_terminal(repo, *command)
            else:
                git(repo, *command, ok=False)
        if not happened(payload, repo, mark):
            harmless.append(payload.name)
    assert not harmless, ", ".join(harmless)


def test_every_tool_is_tried() -> None:
    assert [name for name in TOOLS if name not in {tool for tool, _ in CALLS}] == []


async def fallen(payload: Payload, plain: Path, folder: Path, calls: Any) -> str:
    """The name of a payload that did anything by our tools; "" where none did."""
    repo, mark = planted(payload, plain, folder)
    mark.unlink(missing_ok=True)
    texts = []
    listener().seen.clear()
    egress = {"allow_hosts": [f"127.0.0.1:{listener().port}"]}
    async with Toolbox({**ALLOW, "egress": egress}, workspace=repo) as box:
        for name, arguments in calls:
            texts.append((await box.call(name, arguments)).render())
    assert not any("Error (internal)" in text for text in texts), texts
    if mark.exists() or any("canary-4711" in text for text in texts):
        return payload.name
    effect = payload.effect if payload.effect not in DISPLAYED_BY_PLAIN_GIT else None
    return f"{payload.name} (effect)" if effect and effect(repo) else ""


async def test_no_tool_runs_what_one_repository_has_of_all(plain: Path, tmp_path: Path) -> None:
    everything = Payload("all at once", combined, ())
    repo, mark = planted(everything, plain, tmp_path / "control")
    mark.unlink(missing_ok=True)
    git(repo, "status", ok=False)
    assert mark.exists()
    assert await fallen(everything, plain, tmp_path / "ours", CALLS) == ""


async def test_no_tool_follows_what_is_put_together_otherwise(plain: Path, tmp_path: Path) -> None:
    """By day each by the tools that are nearest to it, at night by all of them."""
    alone = [p for p in RUNNING if p.name in ALONE]
    leading = [p for p in LEADING if p.name not in APART]
    found = []
    for count, payload in enumerate((*alone, *leading)):
        names = NEAREST.get(payload.name, ("git_status", "git_add", "git_commit", "git_checkout"))
        calls = [call for call in FEW if call[0] in names]
        assert calls
        found.append(await fallen(payload, plain, tmp_path / f"{count}", calls))
    assert not any(found), found


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".mailmap"])
@pytest.mark.parametrize("trusted", [False, True])
async def test_git_does_not_wait_for_a_pipe(name: str, trusted: bool, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    make_repository(repo)
    os.mkfifo(repo / name)
    settings = {**ALLOW, "git": {"trusted": [str(repo)] if trusted else []}}
    async with Toolbox(settings, workspace=repo) as box:
        for tool, arguments in (*LOOKING[:4], ("git_add", {"all": True})):
            result = await box.call(tool, arguments)
            assert result.error is not None
            assert f"{name} in {repo} is a named pipe" in result.error.message
        await box.call("delete_path", {"path": name})
        assert (await box.call("git_status", {})).error is None


async def test_programs_of_the_workspace_on_path_are_not_started(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, mark = tmp_path / "repo", tmp_path / "mark"
    subprocess.run(["cp", "-r", str(plain), str(repo)], check=True)
    program = repo / ".venv" / "bin" / "ssh"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    git(repo, "remote", "add", "origin", "ssh://127.0.0.1:1/x")
    path = f"{program.parent}:{os.environ['PATH']}"
    git(repo, "fetch", "origin", ok=False, PATH=path)
    assert mark.exists()
    mark.unlink()
    monkeypatch.setenv("PATH", path)
    config = {**ALLOW, "egress": {"allow_hosts": ["127.0.0.1:1"]}}
    async with Toolbox(config, workspace=repo) as box:
        assert (await box.call("git_fetch", {"remote": "origin"})).error is not None
    assert not mark.exists()


async def test_remotes_that_are_no_address_are_refused(plain: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    subprocess.run(["cp", "-r", str(plain), str(repo)], check=True)
    async with Toolbox(ALLOW, workspace=repo) as box:
        for number, url in enumerate(("fd::7", "ext::sh -c x", "-u", "--upload-pack=x")):
            git(repo, "config", f"remote.r{number}.url", url)
            for name in ("git_fetch", "git_pull", "git_push"):
                result = await box.call(name, {"remote": f"r{number}"})
                assert result.error is not None, (name, url)
                assert result.error.code in ("denied", "bad_input", "not_found"), result.render()
            result = await box.call("git_clone", {"url": url, "path": "x"})
            assert result.error is not None


async def test_a_part_of_the_files_and_a_sparse_index_are_understood(tmp_path: Path) -> None:
    repo = make_repository(
        tmp_path / "repo", **{"in/a.txt": "a\n", "out/b.txt": "b\n", "out/deep/c.txt": "c\n"}
    )
    git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert not (repo / "out").exists()
    (repo / "in" / "a.txt").write_text("changed\n")
    async with Toolbox(ALLOW, workspace=repo) as box:
        displayed = (await box.call("git_status", {})).render()
        assert "in/a.txt" in displayed
        assert "out" not in displayed
        await box.call("git_commit", {"message": "m", "all": True})
    assert git(repo, "ls-tree", "-r", "--name-only", "HEAD").split() == [
        "in/a.txt", "out/b.txt", "out/deep/c.txt",
    ]  # fmt: skip
    assert not (repo / "out").exists()


@pytest.mark.parametrize("payload", [*RUNNING, *LEADING], ids=lambda payload: payload.name)
async def test_no_tool_follows_any(payload: Payload, plain: Path, tmp_path: Path) -> None:
    calls = FEW if payload.name in APART else CALLS
    assert await fallen(payload, plain, tmp_path / "one", calls) == ""


BARE = (
    "mkdir -p sub/objects sub/refs; echo ref: refs/heads/main > sub/HEAD; touch sub/refs/a "
    "sub/objects/a; printf '[core]\\n\\tfsmonitor = touch owned; false\\n' > sub/config"
)


@pytest.mark.parametrize(
    "made",
    [
        BARE,
        "mkdir scripts; echo 'touch owned' > scripts/pre-commit; chmod +x scripts/pre-commit",
        "mkdir -p .venv/bin; echo x > .venv/bin/python",
        "mkdir __pycache__; echo x > __pycache__/a.cpython-311.pyc",
    ],
)
async def test_a_branch_by_which_something_runs_is_asked_about(
    box: Toolbox, repo: Path, made: str
) -> None:
    script = (
        "git config core.hooksPath scripts; git checkout -qb evil; mkdir -p x; "
        f"{made}; git add -fA; git commit -qnm evil; git checkout -qf main; git clean -qffdx"
    )
    subprocess.run(["sh", "-c", script], cwd=repo, check=True)
    result = await box.call("git_checkout", {"branch": "evil"})
    assert result.error is not None and result.error.code == "needs_approval", result.text
    assert (await box.call("git_merge", {"branch": "evil"})).error is not None
    subprocess.run(["sh", "-c", "git clone -q --bare . up; git remote add up ./up"], cwd=repo)
    pull = await box.call("git_pull", {"remote": "up", "branch": "evil"})
    assert pull.error is not None and "git_merge" in str(pull.error.hint), pull.text


async def test_what_was_put_aside_beside_a_run_is_named(box: Toolbox, repo: Path) -> None:
    (repo / ".git/HEAD").rename(repo / ".git/HEAD.refused")
    for tool in ("git_status", "git_log", "git_diff"):
        assert "HEAD was put aside as HEAD.refused" in await refused(box, tool)
