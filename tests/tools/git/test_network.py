"""Remotes: clone, fetch, pull and push by a real server, and what the guard has to say."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.servers.git_http import GitServer, git_server
from tests.tools.git.made import commit, git, make_repository, write
from tests.tools.git.test_local import do, refused
from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Question, Services
from toolcrib.git.remotes import TUNNEL, read_address
from toolcrib.net.egress.guard_proxy import GuardProxy
from toolcrib.state.sessions import Sessions

PUSH_FREELY = {
    "rules": [{"action": "allow", "tool": "git_push", "rights": ["send", "net", "read"]}]
}


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a bare repository `x.git` of two commits and a tag."""
    source = make_repository(tmp_path / "source")
    write(source, **{"a.txt": "one\n2\nthree\n"})
    commit(source, "second")
    git(source, "tag", "v1")
    root = tmp_path / "served"
    root.mkdir()
    git(root, "clone", "-q", "--bare", str(source), "x.git")
    git(root / "x.git", "config", "http.receivepack", "true")
    return root


@pytest.fixture
def server(served: Path) -> Iterator[GitServer]:
    with git_server(served) as running:
        yield running


def settings(server: GitServer, **more: Any) -> dict[str, Any]:
    return {"egress": {"allow_hosts": [server.host]}, "policy": PUSH_FREELY, **more}


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


def by_another(served: Path, folder: Path, name: str = "x.git", **files: str) -> None:
    """A commit that somebody else pushes."""
    git(folder.parent, "clone", "-q", str(served / name), str(folder))
    write(folder, **files)
    commit(folder, "by another")
    git(folder, "push", "-q", "origin", "HEAD")


@pytest.mark.rows("C065", "E66", "E67", "E72")
async def test_a_day_with_a_remote(
    server: GitServer, served: Path, ws: Path, tmp_path: Path
) -> None:
    async with Toolbox(settings(server), workspace=ws) as box:
        text = await do(box, "git_clone", url=f"{server.url}/x.git")
        assert "main at" in text
        assert git(ws / "x", "log", "--format=%s").split() == ["second", "first"]
        await do(box, "change_directory", path="x")
        write(ws / "x", **{"mine.txt": "mine\n"})
        await do(box, "git_checkout", branch="topic", create=True)
        await do(box, "git_add", all=True)
        await do(box, "git_commit", message="mine")
        assert "1 commit to topic of origin" in await do(box, "git_push")
        assert git(served / "x.git", "log", "-1", "--format=%s", "topic").strip() == "mine"
        assert (await do(box, "git_status")).startswith("topic -> origin/topic (up to date)")
        assert "has all of it" in await do(box, "git_push")

        await do(box, "git_checkout", branch="main")
        by_another(served, tmp_path / "another", **{"a.txt": "theirs\n"})
        assert "origin/main" in await do(box, "git_fetch")
        assert "behind 1" in await do(box, "git_status")
        assert "by another" in await do(box, "git_pull")
        assert (ws / "x" / "a.txt").read_text() == "theirs\n"
        await do(box, "undo_changes")
        write(ws / "x", **{"a.txt": "ours\n"})
        await do(box, "git_commit", message="ours", all=True)
        assert "rejected" in await refused(box, "git_push")
        assert "a.txt" in await do(box, "git_pull")
        assert "theirs" in await do(box, "git_conflicts")
        await do(box, "git_conflicts", path="a.txt", take="text", text="both\n")
        await do(box, "git_commit", message="merged")
        assert "Pushed 2 commits to main" in await do(box, "git_push")
        assert git(served / "x.git", "show", "main:a.txt") == "both\n"

        assert "protected" in await refused(box, "git_push", force=True)
        assert "protected" in await refused(box, "git_push", delete=True, branch="main")
        assert "Deleted topic" in await do(box, "git_push", delete=True, branch="topic")
        await do(box, "git_checkout", branch="topic")
        await do(box, "git_push")
        await do(box, "git_commit", message="again", amend=True)
        await refused(box, "git_push")
        assert "Pushed" in await do(box, "git_push", force=True)
    assert "refs/toolcrib" not in git(served / "x.git", "for-each-ref")


async def test_a_push_asks_and_shows_what(server: GitServer, ws: Path) -> None:
    config = {"egress": {"allow_hosts": [server.host]}}
    async with Toolbox(config, workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git", path="c")
        await do(box, "change_directory", path="c")
        write(ws / "c", **{"a.txt": "x\n"})
        await do(box, "git_commit", message="a subject", all=True)
        text = await refused(box, "git_push")
    assert text.startswith("needs_approval")
    for part in ("1 commit", "main of origin", server.url, "a subject"):
        assert part in text


async def test_what_is_pushed_is_what_the_person_saw(
    server: GitServer, served: Path, ws: Path
) -> None:
    """A commit that takes the place of another while the question stands is asked about too."""
    config = {"egress": {"allow_hosts": [server.host]}}
    reasons: list[str] = []

    async def ask(question: Question) -> bool:
        reasons.append(question.reason)
        if len(reasons) == 1:
            write(ws / "c", **{"a.txt": "a secret\n"})
            git(ws / "c", "commit", "-q", "--all", "--amend", "--no-edit")
        return len(reasons) == 1

    async with Toolbox(config, workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git", path="c")
        await do(box, "change_directory", path="c")
        write(ws / "c", **{"a.txt": "x\n"})
        await do(box, "git_commit", message="a subject", all=True)
        caller = Caller("test", ask=ask)
        result = await box.call("git_push", {}, caller=caller)
    assert result.error is not None
    assert result.error.code == "denied"
    assert len(reasons) == 2
    assert "a subject" not in git(served / "x.git", "log", "--format=%s", "main")


PLANS = 2
"""How often a push looks at the log for each plan: what comes, and what that replaces."""
JUDGED = 2
"""Before the question, and once more after the answer."""


@pytest.mark.parametrize("plans", [JUDGED, JUDGED + 1], ids=["after the answer", "at the push"])
async def test_a_branch_that_moves_meanwhile_is_not_pushed(
    server: GitServer,
    served: Path,
    ws: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plans: int,
) -> None:
    """By a git that moves the branch when it has been asked for the log so often."""
    real, counter, program = shutil.which("git"), tmp_path / "counter", tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
"{real}" "$@"
code=$?
[ -e {counter} ] && case " $* " in *" log "*)
    echo >> {counter}
    if [ "$(wc -l < {counter})" -eq {plans * PLANS} ]; then
        "{real}" -C {ws}/c update-ref refs/heads/main refs/heads/other
    fi
esac
exit $code
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    questions: list[Question] = []

    async def ask(question: Question) -> bool:
        questions.append(question)
        return True

    async with Toolbox({"egress": {"allow_hosts": [server.host]}}, workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git", path="c")
        await do(box, "change_directory", path="c")
        write(ws / "c", **{"a.txt": "a secret\n"})
        commit(ws / "c", "what nobody saw")
        git(ws / "c", "branch", "other")
        git(ws / "c", "reset", "-q", "--hard", "HEAD~")
        write(ws / "c", **{"a.txt": "x\n"})
        commit(ws / "c", "what the person saw")
        counter.touch()
        result = await box.call("git_push", {}, caller=Caller("test", ask=ask))
    assert "what nobody saw" in git(ws / "c", "log", "-1", "--format=%s", "main")
    assert len(questions) == 1
    assert (result.error.code if result.error else "") == ("conflict" if plans == JUDGED else "")
    pushed = git(served / "x.git", "log", "-1", "--format=%s", "main").strip()
    assert pushed == ("second" if plans == JUDGED else "what the person saw")


@pytest.mark.parametrize("branch", ["main", "new"])
async def test_no_more_commits_are_pushed_than_the_person_was_told_of(
    server: GitServer, served: Path, ws: Path, branch: str
) -> None:
    """What the remote has is noted in the folder, where a run may have written."""
    async with Toolbox(settings(server), workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git")
        await do(box, "change_directory", path="x")
        git(ws / "x", "checkout", "-q", "-B", branch)
        write(ws / "x", **{"a.txt": "a secret\n"})
        commit(ws / "x", "what nobody saw")
        noted = "main" if branch == "main" else "other"
        git(ws / "x", "update-ref", f"refs/remotes/origin/{noted}", "HEAD")
        write(ws / "x", **{"a.txt": "x\n"})
        commit(ws / "x", "what is told")
        assert "more than the 1" in await refused(box, "git_push")
        await do(box, "git_fetch", prune=True)
        assert "Pushed 2 commits" in await do(box, "git_push")


async def test_commits_that_are_hidden_while_a_person_looks(server: GitServer, ws: Path) -> None:
    """What is noted of the remote when they are asked is what it is when they have answered."""
    seen: list[str] = []

    async def ask(question: Question) -> bool:
        seen.append(question.reason)
        git(ws / "x", "update-ref", "-d", "refs/remotes/origin/forged")
        return len(seen) == 1

    async with Toolbox({"egress": {"allow_hosts": [server.host]}}, workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git")
        await do(box, "change_directory", path="x")
        git(ws / "x", "checkout", "-q", "-b", "new")
        write(ws / "x", **{"a.txt": "a secret\n"})
        commit(ws / "x", "what nobody saw")
        git(ws / "x", "update-ref", "refs/remotes/origin/forged", "HEAD")
        write(ws / "x", **{"a.txt": "x\n"})
        commit(ws / "x", "what is told")
        result = await box.call("git_push", {}, caller=Caller("test", ask=ask))
    assert ["1 commit " in seen[0], "2 commits " in seen[1]] == [True, True], seen
    assert result.error is not None
    assert result.error.code == "denied"


async def test_a_commit_that_stands_for_another_hides_nothing(server: GitServer, ws: Path) -> None:
    seen: list[Question] = []

    async def ask(question: Question) -> bool:
        seen.append(question)
        return False

    async with Toolbox({"egress": {"allow_hosts": [server.host]}}, workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git")
        await do(box, "change_directory", path="x")
        write(ws / "x", **{"a.txt": "a secret\n"})
        commit(ws / "x", "what nobody saw")
        git(ws / "x", "replace", "HEAD", "HEAD~")
        await box.call("git_push", {}, caller=Caller("test", ask=ask))
    assert "what nobody saw" in seen[0].reason


async def test_a_branch_is_pushed_where_another_moved_meanwhile(
    server: GitServer, served: Path, ws: Path, tmp_path: Path
) -> None:
    """What somebody else pushed is not known here, and does not matter."""
    git(ws, "clone", "-q", str(served / "x.git"), "x")
    git(ws / "x", "remote", "set-url", "origin", f"{server.url}/x.git")
    by_another(served, tmp_path / "another", **{"b.txt": "theirs\n"})
    async with Toolbox(settings(server), workspace=ws) as box:
        (await box.use(Sessions).load("one")).began += 100
        await box.call("change_directory", {"path": "x"}, session="one")
        git(ws / "x", "checkout", "-q", "-b", "topic")
        write(ws / "x", **{"a.txt": "ours\n"})
        commit(ws / "x", "ours")
        done = await box.call("git_push", {}, session="one")
    assert "Pushed 1 commit to topic" in done.text, done.render()


async def test_a_branch_that_was_pushed_is_fetched_without_a_question(
    server: GitServer, ws: Path
) -> None:
    """Its server was sent the name with it; also where all of that is of one conversation."""
    async with Toolbox(settings(server), workspace=ws) as box:
        call = partial(box.call, session="one")
        await call("git_clone", {"url": f"{server.url}/x.git"})
        await call("change_directory", {"path": "x"})
        await call("git_checkout", {"branch": "topic", "create": True})
        assert (await call("git_push", {})).error is None
        await call("read_file", {"path": "a.txt"})
        fetched = await call("git_fetch", {})
        assert fetched.error is None, fetched.render()
        git(ws / "x", "config", "branch.topic.merge", "refs/heads/private")
        refused = await call("git_fetch", {})
        assert refused.error is not None
        assert refused.error.code == "needs_approval"


async def test_forcing_tells_what_goes_and_is_not_asked_where_it_is_refused(
    server: GitServer, ws: Path
) -> None:
    async with Toolbox(settings(server), workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git", path="c")
        await do(box, "change_directory", path="c")
        await do(box, "git_checkout", branch="topic", create=True)
        write(ws / "c", **{"a.txt": "x\n"})
        await do(box, "git_commit", message="what was there", all=True)
        await do(box, "git_push")
        await do(box, "git_commit", message="what comes", amend=True)
    config = {"egress": {"allow_hosts": [server.host]}}
    async with Toolbox(config, workspace=ws) as box:
        await do(box, "change_directory", path="c")
        text = await refused(box, "git_push", force=True)
        assert text.startswith("needs_approval")
        for part in ("1 commit", "what comes", "replaces 1 commit: what was there"):
            assert part in text
        for arguments in ({"force": True, "branch": "main"}, {"delete": True, "branch": "main"}):
            assert (await refused(box, "git_push", **arguments)).startswith("denied: main of")


async def test_a_password_comes_from_the_users_helper(served: Path, ws: Path, person: Path) -> None:
    with git_server(served, login="ann:s3cret") as server:
        async with Toolbox(settings(server), workspace=ws) as box:
            text = await refused(box, "git_clone", url=f"{server.url}/x.git")
            assert "sign-in" in text
            assert not (ws / "x").exists()
        (person / ".git-credentials").write_text(f"http://ann:s3cret@{server.host}\n")
        with (person / ".gitconfig").open("a") as file:
            file.write("[credential]\n\thelper = store\n")
        async with Toolbox(settings(server), workspace=ws) as box:
            await do(box, "git_clone", url=f"{server.url}/x.git")
            git(ws / "x", "config", "credential.helper", "!touch stolen; true")
            git(ws / "x", "config", "core.askPass", "touch stolen; true")
            await do(box, "change_directory", path="x")
            assert "Nothing new" in await do(box, "git_fetch")
            (person / ".git-credentials").unlink()
            await refused(box, "git_fetch")
    assert not (ws / "x" / "stolen").exists()


async def test_the_guard_is_asked(server: GitServer, ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        text = await refused(box, "git_clone", url=f"{server.url}/x.git")
        assert "egress.allow_hosts" in text
        make_repository(ws / "r")
        git(ws / "r", "remote", "add", "origin", f"{server.url}/x.git")
        await do(box, "change_directory", path="r")
        assert "egress.allow_hosts" in await refused(box, "git_fetch")
    assert server.hits == []
    with git_server(ws) as other:
        server.leads_to = other.url
        async with Toolbox(settings(server), workspace=ws) as box:
            text = await refused(box, "git_clone", url=f"{server.url}/away/x.git")
        assert other.hits == []


async def test_too_much_is_cut_off(server: GitServer, ws: Path) -> None:
    config = settings(server, git={"max_transfer_mb": 2})
    async with Toolbox(config, workspace=ws) as box:
        assert "git.max_transfer_mb" in await refused(box, "git_clone", url=f"{server.url}/flood")
    assert list(ws.iterdir()) == []


async def test_folders_as_remotes(served: Path, ws: Path, tmp_path: Path) -> None:
    outside = served / "x.git"
    for name in ("post-receive", "update", "reference-transaction"):
        (outside / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (outside / "hooks" / name).chmod(0o755)
    git(outside, "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    async with Toolbox(workspace=ws) as box:
        assert "git.local_remotes" in await refused(box, "git_clone", url=str(outside))
    config = {"git": {"local_remotes": [str(served)]}, "policy": PUSH_FREELY}
    async with Toolbox(config, workspace=ws) as box:
        await do(box, "git_clone", url=str(outside))
        await do(box, "change_directory", path="x")
        write(ws / "x", **{"a.txt": "x\n"})
        await do(box, "git_commit", message="x", all=True)
        await do(box, "git_push")
        assert "Nothing new" in await do(box, "git_fetch")
    assert git(outside, "log", "-1", "--format=%s").strip() == "x"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c x", "fd::3", "git://h/x", "-x", "--upload-pack=x", "file:///etc", "h\n.git", ""],
)
async def test_addresses_that_are_none(url: str, ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        await refused(box, "git_clone", url=url)
    assert list(ws.iterdir()) == []


def test_addresses_are_read() -> None:
    read = {
        text: (found.protocol, found.target and (found.target.host, found.target.port))
        for text in (
            "https://example.com/x.git",
            "git@example.com:ann/x.git",
            "ssh://git@example.com:2222/x",
            "example.com:x",
        )
        for found in [read_address(text)]
    }
    assert list(read.values()) == [
        ("https", ("example.com", 443)),
        ("ssh", ("example.com", 22)),
        ("ssh", ("example.com", 2222)),
        ("ssh", ("example.com", 22)),
    ]


async def test_ssh_goes_through_the_guard(services: Services) -> None:
    """The program by which ssh connects, on its own: what is judged, and what comes through."""
    import asyncio

    with socket.create_server(("127.0.0.1", 0)) as far:
        port = far.getsockname()[1]

        def echo() -> None:
            connection, _ = far.accept()
            with connection:
                connection.sendall(b"SSH-2.0-x\r\n" + connection.recv(100))

        threading.Thread(target=echo, daemon=True).start()
        opened = Services(Config.load({"egress": {"allow_hosts": [f"127.0.0.1:{port}"]}}))
        try:
            texts = []
            for each in (services, opened):
                lease = await each.use(GuardProxy).lease()
                import base64

                login = base64.b64encode(f"{lease.username}:{lease.password}".encode()).decode()
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", str(TUNNEL), "127.0.0.1", str(port)),
                    env={"TOOLCRIB_TUNNEL": f"{lease.port}:{login}"},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                texts.append(await process.communicate(b"hello"))
        finally:
            await opened.close()
    assert texts[0][0] == b""
    assert b"403" in texts[0][1]
    assert texts[1][0] == b"SSH-2.0-x\r\nhello"


async def test_the_words_of_a_remote_that_rejects_are_told(
    server: GitServer, served: Path, ws: Path
) -> None:
    hook = served / "x.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no pushes on fridays >&2\nexit 1\n")
    hook.chmod(0o755)
    async with Toolbox(settings(server), workspace=ws) as box:
        await do(box, "git_clone", url=f"{server.url}/x.git")
        await do(box, "change_directory", path="x")
        git(ws / "x", "commit", "-q", "--allow-empty", "-m", "empty")
        assert "no pushes on fridays" in await refused(box, "git_push")


@pytest.mark.parametrize("form", ["../o.git", "{r}/../o.git", "../r/inner/../../o.git", "../l"])
async def test_a_folder_of_the_workspace_by_a_relative_path(ws: Path, form: str) -> None:
    repo = make_repository(ws / "r")
    (repo / "inner").mkdir()
    git(ws, "init", "-q", "--bare", "-b", "main", "o.git")
    (ws / "l").symlink_to("o.git")
    git(repo, "remote", "add", "origin", form.format(r=repo))
    async with Toolbox({"policy": PUSH_FREELY}, workspace=ws) as box:
        assert "Pushed 1 commit to main of origin" in await do(box, "git_push", repo="r")
        by_another(ws, ws / "other", name="o.git", **{"b.txt": "theirs\n"})
        assert "origin/main" in await do(box, "git_fetch", repo="r")
        await do(box, "git_pull", repo="r")
    assert (repo / "b.txt").read_text() == "theirs\n"


@pytest.mark.parametrize("form", ["../../o.git", "../l/o.git", "{r}/../l/../o.git"])
async def test_a_relative_path_leads_nowhere_else(tmp_path: Path, ws: Path, form: str) -> None:
    repo = make_repository(ws / "r")
    (tmp_path / "far").mkdir()
    for place in (tmp_path, tmp_path / "far"):
        git(place, "init", "-q", "--bare", "-b", "main", "o.git")
    (ws / "l").symlink_to(tmp_path / "far")
    git(repo, "remote", "add", "origin", form.format(r=repo))
    async with Toolbox({"policy": PUSH_FREELY}, workspace=ws) as box:
        for tool in ("git_push", "git_fetch"):
            assert "is not one that git may use" in await refused(box, tool, repo="r")
