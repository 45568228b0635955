"""git tools while programs run that change the same repository at any moment."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.tools.git.made import commit, git, on_a_side, write
from toolcrib import Toolbox
from toolcrib.core.result import Result
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.files.live_runs import begin_run
from toolcrib.git.cover import Cover
from toolcrib.git.program import GitProgram
from toolcrib.system import openat

RACER = """
import os, sys, time
target = sys.argv[1]
os.chdir(".git")
print("begins", flush=True)
while True:
    if os.path.exists("index.lock"):
        try:
            os.symlink(target, "made")
            os.rename("made", "COMMIT_EDITMSG")
        except OSError:
            pass
        until = time.time() + 1
        while os.path.exists("index.lock") and time.time() < until:
            pass
"""


async def fine(box: Toolbox, name: str, **arguments: object) -> Result:
    result = await box.call(name, arguments)
    assert result.error is None, result.text
    return result


async def start(box: Toolbox, command: str) -> str:
    if (await box.use(Sandbox).report()).level != "strong":
        absent("the level strong does not work here")
    result = await fine(box, "run_command", command=command, background=True)
    await asyncio.sleep(0.5)
    assert result.data is not None
    return str(result.data["id"])


@pytest.mark.parametrize("inside", [False, True])
async def test_git_is_led_nowhere_by_a_program_that_runs(
    box: Toolbox, repo: Path, tmp_path: Path, inside: bool
) -> None:
    outside = tmp_path / "outside"
    (repo / ".vscode").mkdir()
    settings = repo / ".vscode/tasks.json"
    settings.write_text("{}")
    (repo / "racer.py").write_text(RACER)
    await start(box, f"python3 racer.py {'../.vscode/tasks.json' if inside else outside}")
    for number in range(12):
        (repo / "a.txt").write_text(f"{number}\n")
        result = await box.call("git_commit", {"message": f"evil {number}", "all": True})
        assert result.error is None or result.error.code != "internal", result.text
    assert not outside.exists()
    assert settings.read_text() == "{}"


async def test_it_works_as_without_them(box: Toolbox, repo: Path, tmp_path: Path) -> None:
    await start(box, "sleep 99")
    (tmp_path / "home/.config/git").mkdir(parents=True)
    (tmp_path / "home/.config/git/ignore").write_text("ignored\n")
    (repo / "new.txt").write_text("1\n")
    (repo / "ignored").write_text("1\n")
    assert "ignored" not in (await fine(box, "git_status")).text
    await fine(box, "git_add", paths=["new.txt"])
    await fine(box, "git_commit", message="one")
    await fine(box, "git_checkout", branch="other", create=True)
    (repo / "new.txt").write_text("2\n")
    await fine(box, "git_stash")
    await fine(box, "git_stash", action="pop")
    await fine(box, "git_commit", message="two", all=True)
    await fine(box, "undo_changes")
    assert (repo / "new.txt").read_text() == "2\n"
    assert "one" in (await fine(box, "git_log")).text


async def test_modules_and_working_trees(box: Toolbox, repo: Path, tmp_path: Path) -> None:
    """What they have of their own lies in the repository that holds them."""
    other = tmp_path / "other"
    for words in (
        ("init", "-q", str(other)),
        ("-C", str(other), "commit", "-q", "--allow-empty", "-m", "x"),
        ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "a/sub"),
        ("worktree", "add", "-q", "tree"),
    ):
        subprocess.run(["git", *words], cwd=repo, check=True)
    hook = repo / ".git/modules/a/sub/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    await start(box, "sleep 99")
    for place in ("a/sub", "tree"):
        (repo / place / "n").write_text("n\n")
        await fine(box, "git_add", repo=place, paths=["n"])
        await fine(box, "git_commit", repo=place, message="two")
        assert "two" in (await fine(box, "git_log", repo=place)).text
    async with Cover((), (), sees_all=False, temporary=tmp_path).words(box) as front:
        assert subprocess.run([*front, "touch", str(hook)], check=False).returncode
        assert not subprocess.run([*front, "touch", str(repo / "x")], check=False).returncode


async def test_credentials_are_written_anew_before_no_program(box: Toolbox, repo: Path) -> None:
    url = "https://me:LOGIN99@host.invalid/x.git"
    for words in (
        ("remote", "add", "origin", url),
        ("update-ref", "refs/remotes/origin/topic", "HEAD"),
    ):
        subprocess.run(["git", *words], cwd=repo, check=True)
    await start(box, "sleep 99")
    result = await box.call("git_checkout", {"branch": "topic"})
    assert result.error is not None and result.error.code == "busy", result.text
    assert "[branch" not in (repo / ".git/config").read_text().split("topic")[-1]


@pytest.mark.parametrize(
    ("is_tracked", "calls"),
    [
        (False, [("git_stash", {"untracked": True})]),
        (False, [("git_stash", {}), ("git_stash", {"action": "pop"})]),
        (True, [("git_checkout", {"paths": ["a.txt"]})]),
        (True, [("git_checkout", {"branch": "o"}), ("git_reset", {"mode": "mixed"})]),
    ],
)
async def test_what_must_not_be_read_is_in_no_object(
    box: Toolbox, repo: Path, is_tracked: bool, calls: list[tuple[str, dict[str, object]]]
) -> None:
    env = repo / ".env"
    if is_tracked:
        env.write_text("KEY=placeholder\n")
        subprocess.run(["git", "add", "-f", ".env"], cwd=repo, check=True)
        subprocess.run(["git", "commit", "-qm", "e"], cwd=repo, check=True)
    subprocess.run(["git", "branch", "o"], cwd=repo, check=True)
    env.write_text("KEY=SECRET31\n")
    (repo / "a.txt").write_text("changed\n")
    (repo / "fresh.txt").write_text("new\n")
    for name, arguments in calls:
        await box.call(name, arguments)
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"],
        cwd=repo,
        capture_output=True,
        check=True,
    )
    assert b"SECRET31" not in listed.stdout
    assert env.read_text() == "KEY=SECRET31\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git_clone", {"url": "src", "path": "copied"}),
        ("git_fetch", {}),
        ("git_pull", {"branch": "main"}),
        ("git_push", {}),
    ],
)
async def test_a_folder_that_a_program_could_exchange_is_no_remote(
    repo: Path, tool: str, arguments: dict[str, object]
) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", ".", "src"], cwd=repo, check=True)
    subprocess.run(["git", "remote", "add", "origin", "./src"], cwd=repo, check=True)
    settings = {"policy": {"rules": [{"tool": "git_*", "action": "allow"}]}}
    async with Toolbox(workspace=repo, config=settings) as box:
        with openat.closing(begin_run()):
            result = await box.call(tool, arguments)
            assert result.error is not None and result.error.code == "busy", result.text
        await fine(box, tool, **arguments)


async def test_beside_a_program_a_snapshot_reads_by_checked_paths(box: Toolbox, repo: Path) -> None:
    """By its path, git would store what a folder leads to that was exchanged meanwhile."""
    (repo / "a.txt").write_text("changed\n")
    with openat.closing(begin_run()):
        await fine(box, "git_checkout", paths=["a.txt"])
    await fine(box, "undo_changes")
    assert (repo / "a.txt").read_text() == "changed\n"


async def test_a_remote_that_the_user_opened_is_reached(repo: Path, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    subprocess.run(["git", "remote", "add", "origin", str(remote)], cwd=repo, check=True)
    settings = {
        "git": {"local_remotes": [str(remote)]},
        "policy": {"rules": [{"tool": "git_*", "action": "allow"}]},
    }
    async with Toolbox(workspace=repo, config=settings) as box:
        await start(box, "sleep 99")
        await fine(box, "git_push")
        await fine(box, "git_fetch")
        # A clone would have settings that lead out, which the guard of the job puts aside.
        done = await box.call("git_clone", {"url": str(remote), "path": "copied"})
        assert done.error and done.error.code == "busy", done
        assert not (repo / "copied").exists()
    heads = subprocess.run(
        ["git", "for-each-ref"], cwd=remote, capture_output=True, check=True, text=True
    )
    assert "refs/heads/" in heads.stdout


async def test_beside_a_program_odd_names_are_kept_for_undo(box: Toolbox, repo: Path) -> None:
    names = ["a b.txt", "tab\tname", "quote'\"", "é", "line\nend", "-n"]
    for name in names:
        (repo / name).write_text("1\n")
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "odd"], cwd=repo, check=True)
    for name in names:
        (repo / name).write_text("mine\n")
    with openat.closing(begin_run()):
        await fine(box, "git_stash")
    await fine(box, "undo_changes")
    assert {(repo / name).read_text() for name in names} == {"mine\n"}


async def test_a_link_leads_git_to_nothing_protected(
    box: Toolbox, repo: Path, tmp_path: Path
) -> None:
    git(repo, "remote", "add", "origin", "https://me:LOGIN77@host.invalid/x.git")
    write(repo, **{".env": "KEY=LOGIN77\n", ".aws/credentials": "LOGIN77\n", "plain": "read\n"})
    write(repo, **{".vscode/tasks.json": "{}\n"})
    await start(box, "sleep 99")

    async def published(paths: Sequence[str]) -> set[str]:
        assert sorted(paths) == sorted(map(str, (repo / ".env", repo / ".aws/credentials")))
        return {str(repo / ".env")}

    cover = Cover((), (), sees_all=False, temporary=tmp_path)
    for each, env in ((cover, ""), (replace(cover, published=published), "KEY=LOGIN77\n")):
        async with each.words(box) as front:

            def run(script: str, front: list[str] = front) -> str:
                words = [*front, "sh", "-c", script]
                out, both = subprocess.PIPE, subprocess.STDOUT
                return subprocess.run(words, cwd=repo, stdout=out, stderr=both, text=True).stdout

            assert run("cat plain .env .aws/credentials") == f"read\n{env}"
            assert "LOGIN77" not in run("cat .git/config")
            assert "host.invalid" in run("cat .git/config")
            protected = (".aws/new", ".aws/credentials", ".git/config", ".vscode/tasks.json")
            for place in protected if env else (".env", *protected):
                assert "Read-only" in run(f"echo > {place}")
            assert run("echo > new; rm new") == ""
        assert not list(tmp_path.glob("*.cover"))


async def test_a_protected_file_that_git_knows_is_what_it_was(box: Toolbox, repo: Path) -> None:
    write(repo, **{".env": "KEY=1\n", ".ssh/config": "Host *\n"})
    commit(repo, "with a key")
    write(repo, **{"x/.env": "KEY=3\n"})
    git(repo, "add", "x/.env")
    before = (await fine(box, "git_status")).text
    await start(box, "sleep 99")
    assert (await fine(box, "git_status")).text == before
    (repo / "a.txt").write_text("new\n")
    await fine(box, "git_commit", message="all", all=True)
    assert git(repo, "show", "HEAD:.env") == "KEY=1\n"
    assert git(repo, "status", "--porcelain") == ""


async def test_a_change_that_git_cannot_see_is_not_forgotten(box: Toolbox, repo: Path) -> None:
    write(repo, **{".env": "PORT=1\n"})
    commit(repo, "port")
    write(repo, **{".env": "PORT=2\n", "new": "n\n"})  # of the same size, in the same second
    await start(box, "sleep 99")
    for tool, arguments in {
        "git_add": {"paths": ["new"]},
        "git_commit": {"message": "all", "all": True},
        "git_stash": {},
    }.items():
        refused = await box.call(tool, arguments)
        assert refused.error is not None and refused.error.code == "busy", refused.text
        assert refused.error.message.startswith(".env is protected, known to git")
    await fine(box, "git_diff")
    assert " M .env" in git(repo, "status", "--porcelain")
    assert (repo / ".env").read_text() == "PORT=2\n"


async def test_what_is_protected_is_not_written_by_half(box: Toolbox, repo: Path) -> None:
    write(repo, **{".vscode/tasks.json": "{}\n"})
    commit(repo, "base")
    on_a_side(repo, **{".vscode/tasks.json": "[]\n", "b": "b\n"})
    await start(box, "sleep 99")
    calls: dict[str, dict[str, object]] = {
        "git_checkout": {"branch": "side"},
        "git_merge": {"branch": "side"},
        "git_pick": {"commits": ["side"]},
    }
    for tool, arguments in calls.items():
        refused = await box.call(tool, arguments)
        assert refused.error is not None and refused.error.code == "busy", refused.text
    assert git(repo, "status", "--porcelain") == ""
    assert not (repo / "b").exists()


async def test_so_much_is_protected_that_it_waits(box: Toolbox, repo: Path) -> None:
    (repo / ".gitignore").write_text(".env.*\n")
    for number in range(310):
        (repo / f".env.{number}").write_text("K=1\n")
    await start(box, "sleep 99")
    refused = await box.call("git_status", {})
    assert refused.error is not None and refused.error.code == "busy", refused.text
    assert "Too many protected names" in refused.error.message


async def test_git_goes_on_with_nothing_that_a_program_may_change(box: Toolbox, repo: Path) -> None:
    """Between its being judged and read an order could be added to it."""
    on_a_side(repo, **{"a.txt": "theirs\n"})
    write(repo, **{"a.txt": "mine\n"})
    commit(repo, "mine")
    job = await start(box, "sleep 99")
    await fine(box, "git_rebase", onto="side")
    await fine(box, "git_conflicts", path="a.txt", take="theirs")
    going_on: dict[str, dict[str, object]] = {
        "git_rebase": {"action": "continue"},
        "git_conflicts": {"abort": True},
    }
    for tool, arguments in going_on.items():
        refused = await box.call(tool, arguments)
        assert refused.error is not None and refused.error.code == "busy", refused.text
    await fine(box, "stop_job", id=job)
    await fine(box, "git_rebase", action="continue")


STAGER = """
import subprocess, sys, time
def git(*args):
    return subprocess.run(["git", *args], capture_output=True, text=True).stdout.strip()
digest = git("rev-parse", "HEAD:a.txt")
known = open(".git/HEAD").read()
print("begins", flush=True)
while True:
    time.sleep(0.002)
    if (now := open(".git/HEAD").read()) != known:
        known = now
        while ".env" not in git("ls-files"):
            git("update-index", "--add", "--cacheinfo", f"100644,{digest},.env")
        time.sleep(1)
        git("update-index", "--force-remove", ".env")
"""


async def test_a_file_that_a_program_stages_is_not_taken_away(box: Toolbox, repo: Path) -> None:
    """What it did to the index is taken back at most, and not the user's file of that name."""
    write(repo, **{".gitignore": ".env\njob.py\n", "job.py": STAGER})
    commit(repo, "ignored")
    on_a_side(repo, **{f"d/{number}": "x\n" for number in range(30)})
    write(repo, **{".env": "KEY=own\n"})
    await start(box, "python3 job.py")
    for branch in ("side", "main") * 3:
        await box.call("git_checkout", {"branch": branch})
        assert (repo / ".env").read_text() == "KEY=own\n"
        await asyncio.sleep(1.2)


async def test_where_nothing_goes_on_there_is_nothing_to_abort(box: Toolbox, repo: Path) -> None:
    """Whatever is changed there: it is not busy, and nobody is asked."""
    write(repo, **{".env": "K=1\n"})
    commit(repo, "settings")
    write(repo, **{".env": "K=2\n"})
    for job in ("", await start(box, "sleep 99")):
        refused = await box.call("git_conflicts", {"abort": True})
        assert refused.error is not None and refused.error.code == "not_found", (job, refused.text)


async def test_git_writes_no_folder_of_ours_but_its_own(
    box: Toolbox, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs and settings lie in them, which git obeys in other calls."""
    seen: list[tuple[list[str], list[str]]] = []

    @asynccontextmanager
    async def words(cover: Cover, ctx: object) -> AsyncIterator[list[str]]:
        seen.append((list(cover.writable), list(cover.readable)))
        async with real(cover, ctx) as front:
            yield front

    real = Cover.words
    monkeypatch.setattr(Cover, "words", words)
    await start(box, "sleep 99")
    await fine(box, "git_status")
    folder = str(box.use(GitProgram).views)
    assert seen
    for writable, readable in seen:
        assert folder in readable
        assert all(place.startswith(f"{folder}/") for place in writable)
