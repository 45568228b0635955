"""Repositories of `git.trusted`: hooks, filters and signing run, in the sandbox where one holds."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.servers.git_http import git_server
from tests.tools.git.made import commit, git, make_repository, write
from tests.tools.git.test_local import do, refused
from toolcrib import Toolbox
from toolcrib.execution.sandbox.sandbox import Sandbox

NEVER_REQUESTED = {"default": "allow", "taint": False}


def settings(repo: Path, **more: Any) -> dict[str, Any]:
    return {"git": {"trusted": [str(repo)]}, "policy": NEVER_REQUESTED, **more}


def hook(repo: Path, name: str, script: str) -> None:
    place = repo / ".git" / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


async def needs_sandbox(box: Toolbox) -> None:
    if (await box.use(Sandbox).report()).level != "strong":
        pytest.skip("there is no sandbox of level strong here")


async def test_hooks_and_filters_run_and_reach_nothing_outside(repo: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("private")
    hook(repo, "pre-commit", f"cat {outside} && touch {tmp_path}/ran; touch {repo}/hook-ran")
    git(repo, "config", "filter.upper.clean", "tr a-z A-Z")
    git(repo, "config", "filter.upper.smudge", "tr A-Z a-z")
    write(repo, **{".gitattributes": "*.up filter=upper\n", "x.up": "word\n", ".env": "A=1\n"})
    async with Toolbox(settings(repo), workspace=repo) as box:
        await needs_sandbox(box)
        await do(box, "git_add", paths=[".gitattributes", "x.up"])
        assert "did not run" not in await do(box, "git_commit", message="x")
        assert (repo / "hook-ran").exists()
        assert not (tmp_path / "ran").exists()
        assert git(repo, "cat-file", "blob", "HEAD:x.up") == "WORD\n"
        (repo / "x.up").unlink()
        await do(box, "git_checkout", paths=["x.up"])
        assert (repo / "x.up").read_text() == "word\n"
        await do(box, "undo_changes")
        assert not (repo / "x.up").exists()
        await do(box, "git_checkout", branch="new", create=True)
        await do(box, "git_branch", action="rename", name="new", new_name="newer")
    assert git(repo, "branch", "--show-current").strip() == "newer"
    git(repo, "fsck", "--connectivity-only")


async def test_a_hook_that_refuses_is_obeyed(repo: Path) -> None:
    hook(repo, "pre-commit", "echo no such commits >&2; exit 1")
    write(repo, **{"a.txt": "x\n"})
    async with Toolbox(settings(repo), workspace=repo) as box:
        assert "no such commits" in await refused(box, "git_commit", message="x", all=True)
    assert git(repo, "log", "--format=%s").split() == ["first"]


async def test_a_hook_changes_nothing_that_git_obeys(repo: Path) -> None:
    config = (repo / ".git" / "config").read_text()
    hook(
        repo,
        "pre-commit",
        "cd .git; echo '[core] fsmonitor = x' >> config; echo x >> hooks/pre-commit; "
        "echo ../other > commondir; mv hooks old; mv ../.git ../.old; exit 0",
    )
    script = (repo / ".git" / "hooks" / "pre-commit").read_text()
    write(repo, **{"a.txt": "x\n"})
    async with Toolbox(settings(repo), workspace=repo) as box:
        await needs_sandbox(box)
        assert "commondir" in await refused(box, "git_commit", message="x", all=True)
    assert (repo / ".git" / "config").read_text() == config
    assert (repo / ".git" / "hooks" / "pre-commit").read_text() == script
    assert sorted(os.listdir(repo)) == [".git", "a.txt"]
    assert git(repo, "log", "--format=%s").split() == ["first"]
    assert not (repo / ".git" / "commondir").exists()


async def test_the_users_own_settings_hold_without_credentials(repo: Path, person: Path) -> None:
    hooks = person / "hooks"
    hooks.mkdir()
    (hooks / "commit-msg").write_text(f"#!/bin/sh\ngit config --list > {repo}/seen\n")
    (hooks / "commit-msg").chmod(0o755)
    signer = person / "sign"
    signer.write_text("#!/bin/sh\ncat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo signed\n")
    signer.chmod(0o755)
    with (person / ".gitconfig").open("a") as file:
        file.write("[core]\n\thooksPath = ~/hooks\n[credential]\n\thelper = store\n")
        file.write(f"[gpg]\n\tprogram = {signer}\n[commit]\n\tgpgSign = true\n")
    write(repo, **{"a.txt": "x\n"})
    async with Toolbox(settings(repo), workspace=repo) as box:
        await needs_sandbox(box)
        assert "signed" not in await do(box, "git_commit", message="x", all=True)
    seen = (repo / "seen").read_text()
    assert "user.name=Ann" in seen
    assert "credential" not in seen
    assert "signed" in git(repo, "cat-file", "commit", "HEAD")


@pytest.mark.skipif(not shutil.which("gpg"), reason="needs the program gpg")
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_real_key_signs_where_the_repository_is_trusted(
    repo: Path, person: Path, trusted: bool
) -> None:
    keys = person / ".gnupg"
    keys.mkdir(mode=0o700)
    made = ["--quick-gen-key", "Ann <ann@example.com>", "ed25519", "sign", "never"]
    gpg = ["gpg", "--homedir", str(keys), "--batch", "--passphrase", ""]
    subprocess.run([*gpg, *made], check=True, capture_output=True)
    with (person / ".gitconfig").open("a") as file:
        file.write("[commit]\n\tgpgSign = true\n")
    write(repo, **{"a.txt": "x\n"})
    try:
        async with Toolbox(settings(repo) if trusted else None, workspace=repo) as box:
            await needs_sandbox(box)
            message = await do(box, "git_commit", message="x", all=True)
        assert ("not signed" in message) is not trusted
        # With the home of the person, where the keys are.
        command = ["git", "-C", str(repo), "log", "-1", "--format=%G?"]
        verdict = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert verdict.strip() == ("G" if trusted else "N")
    finally:
        subprocess.run(["gpgconf", "--homedir", str(keys), "--kill", "all"], check=False)


async def test_a_remote_is_reached_from_outside_without_what_is_its_own(
    tmp_path: Path, repo: Path
) -> None:
    served = tmp_path / "served"
    served.mkdir()
    git(served, "clone", "-q", "--bare", str(make_repository(tmp_path / "source")), "x.git")
    git(served / "x.git", "config", "http.receivepack", "true")
    with git_server(served) as server:
        opened = settings(repo, egress={"allow_hosts": [server.host]})
        git(repo, "remote", "add", "origin", f"{server.url}/x.git")
        git(repo, "config", "credential.helper", f"!touch {tmp_path}/ran;")
        hook(repo, "pre-push", f"touch {tmp_path}/ran; touch {repo}/ran")
        hook(repo, "reference-transaction", f"touch {tmp_path}/ran")
        async with Toolbox(opened, workspace=repo) as box:
            await needs_sandbox(box)
            assert "origin/main" in await do(box, "git_fetch")
            await do(box, "git_checkout", branch="topic", create=True)
            commit(repo, "mine")
            assert "pre-push did not run" in await do(box, "git_push")
            assert (await do(box, "git_status")).startswith("topic -> origin/topic")
    assert not (repo / "ran").exists()
    assert git(served / "x.git", "log", "-1", "--format=%s", "topic").strip() == "mine"
    assert "branch.topic.merge" in git(repo, "config", "--list")


async def test_without_a_sandbox_they_run_as_in_the_users_shell(repo: Path, tmp_path: Path) -> None:
    hook(repo, "post-commit", f"touch {tmp_path}/ran")
    write(repo, **{"a.txt": "x\n"})
    async with Toolbox(settings(repo, run={"level": "none"}), workspace=repo) as box:
        await do(box, "git_commit", message="x", all=True)
    assert (tmp_path / "ran").exists()
