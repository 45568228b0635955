"""`github_write` and `github_status` against a GitHub of the tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.servers.github import TOKEN, GitHub
from tests.tools.git.made import git, make_repository
from tests.tools.git.test_local import do, refused
from tests.tools.github.conftest import settings
from toolcrib import Toolbox
from toolcrib.core.context import Caller, Question

SIGNED_IN = """#!/bin/sh
case "$1 $2" in
"auth token") test -e "$HOME/signed-in" && cat "$HOME/signed-in" ;;
"auth login")
    echo "! First copy your one-time code: ABCD-1234" >&2
    echo "Open this URL to continue in your web browser: https://github.com/login/device" >&2
    echo "$HTTPS_PROXY" > "$HOME/proxy"
    while ! test -e "$HOME/typed"; do sleep 0.05; done
    cp "$HOME/typed" "$HOME/signed-in" ;;
esac
"""


@pytest.mark.rows("C059", "C062", "E74", "E77")
async def test_each_is_made_once(hub: GitHub, ws: Path) -> None:
    repo = hub.repo("ann/x")
    repo.issue("Old")
    pull = repo.pull("A change", head="topic")
    sha = pull["head"]["sha"]
    calls: list[tuple[dict[str, Any], str, str]] = [
        ({"kind": "issue", "title": "T", "body": "b", "labels": ["bug"]}, "Opened", "already"),
        ({"kind": "comment", "number": 1, "body": "hello"}, "Commented", "already"),
        ({"kind": "label", "number": 1, "labels": ["bug"]}, "bug", "bug"),
        ({"kind": "review", "number": 2, "verdict": "approve"}, "Reviewed", "already"),
        ({"kind": "review", "number": 2, "body": "hm", "verdict": "request_changes"}, "Rev", "alr"),
        ({"kind": "pull", "title": "P", "head": "other"}, "Opened", "already"),
        ({"kind": "merge", "number": 2, "head": sha[:12], "method": "squash"}, "Merged", "already"),
        ({"kind": "close", "number": 1}, "Closed", "already"),
        ({"kind": "release", "tag": "v1", "body": "notes"}, "Released", "already"),
    ]
    async with Toolbox(settings(hub, repository="ann/x"), workspace=ws) as box:
        for arguments, first, _ in calls:
            assert first in await do(box, "github_write", **arguments), arguments
    sent = len(hub.sent("POST") + hub.sent("PATCH") + hub.sent("PUT"))
    # Another process, which knows nothing of the first.
    async with Toolbox(settings(hub, repository="ann/x"), workspace=ws) as box:
        for arguments, _, second in calls:
            assert second in await do(box, "github_write", **arguments), arguments
    again = len(hub.sent("POST") + hub.sent("PATCH") + hub.sent("PUT")) - sent
    assert again == 1, "labels are added by their names, which makes none twice"
    issue = next(body for path, body in hub.sent("POST") if path.endswith("/issues"))
    assert issue["body"].startswith("b\n\n<!-- toolcrib:") and issue["labels"] == ["bug"]
    assert hub.sent("PUT")[0][1] == {"merge_method": "squash", "sha": sha}
    assert {"event": "APPROVE"}.items() <= dict(hub.sent("POST")[3][1]).items()


async def test_equal_calls_at_once_and_one_whose_answer_is_lost(hub: GitHub, ws: Path) -> None:
    repo = hub.repo("ann/x")
    given = {"kind": "issue", "title": "T", "repository": "ann/x"}
    async with Toolbox(settings(hub), workspace=ws) as box:
        await asyncio.gather(*(box.call("github_write", given) for _ in range(5)))
        assert len(repo.issues) == 1

        def lost(method: str, path: str) -> Any:
            if method == "POST":
                repo.issue(
                    "U", body=hub.requested[-1][3]["body"], created_at="2999-01-01T00:00:00Z"
                )
                return 502, {"message": "Bad gateway"}, {}
            return None

        hub.failures = [lost]
        await box.call("github_write", {**given, "title": "U"})
        hub.failures = []
        assert "already" in await do(box, "github_write", **{**given, "title": "U"})
        assert len(repo.issues) == 2


async def test_it_asks_and_shows_what_it_sends(hub: GitHub, ws: Path) -> None:
    hub.repo("ann/x")
    secret = hub.repo("ann/secret", private=True)
    secret.issue("Hidden")
    questions: list[Question] = []

    async def no(question: Question) -> bool:
        questions.append(question)
        return False

    given = {"kind": "issue", "title": "A title", "body": "All the words", "repository": "ann/x"}
    config = settings(hub, policy={})
    caller = Caller("test", ask=no)
    async with Toolbox(config, workspace=ws) as box:
        result = await box.call("github_write", given, caller=caller)
        assert result.error is not None and result.error.code == "denied"
        requested = questions[-1].reason
        assert "opens an issue in ann/x, which is public" in requested
        assert (
            "title: A title" in requested
            and "All the words" in requested
            and "toolcrib:" in requested
        )
        key = {**given, "body": f"key {TOKEN}"}
        await box.call("github_write", key, caller=caller)
        assert "looks like a secret (GitHub token" in questions[-1].reason
        await box.call("github_read", {"kind": "issue", "number": 1, "repository": "ann/secret"})
        await box.call("github_write", given, caller=caller)
        assert "has read the private ann/secret" in questions[-1].reason
        await box.call("github_write", {**given, "repository": "ann/secret"}, caller=caller)
        assert "which is private" in questions[-1].reason
        assert "has read" not in questions[-1].reason
    assert hub.sent("POST") == []


async def test_what_is_refused(hub: GitHub, ws: Path) -> None:
    repo = hub.repo("ann/x")
    repo.issue("One")
    number = repo.pull("P")["number"]
    async with Toolbox(settings(hub, repository="ann/x"), workspace=ws) as box:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"kind": "issue"}, "needs title"),
            ({"kind": "comment"}, "needs number and body"),
            ({"kind": "label", "number": 1}, "needs labels"),
            ({"kind": "comment", "number": 99, "body": "x"}, "no issue 99"),
            ({"kind": "review", "number": number}, "needs body"),
            ({"kind": "close", "number": 1, "body": "x"}, "kind=comment first"),
            ({"kind": "pull", "title": "T"}, "needs head"),
            ({"kind": "pull", "title": "T", "head": "main"}, "both main"),
            ({"kind": "pull", "title": "T", "head": "nowhere"}, "head invalid"),
            ({"kind": "merge", "number": number}, "head=0000000000"),
            ({"kind": "merge", "number": number, "head": "abcdef1"}, "not at abcdef1"),
            ({"kind": "release"}, "needs tag"),
            ({"kind": "issue", "title": "T", "body": "x" * 70_000}, "Shorten"),
        ]
        for arguments, words in cases:
            assert words in await refused(box, "github_write", **arguments), arguments
        wrong = (422, {"message": "Validation Failed"}, {})
        hub.failures = [lambda method, _: wrong if method == "POST" else None]
        assert "Validation Failed" in await refused(box, "github_write", kind="issue", title="T")
    assert len(repo.issues) == 1 and len(repo.pulls) == 1
    async with Toolbox(settings(hub, repository="ann/x", read_only=True), workspace=ws) as box:
        assert "github.read_only" in await refused(box, "github_write", kind="issue", title="T")
    config = {"github": {"base_url": hub.api}, "policy": {"default": "allow"}}
    async with Toolbox(config, workspace=ws) as box:
        text = await refused(box, "github_write", kind="issue", title="T", repository="ann/x")
        assert "Nobody is signed in" in text


async def test_a_pull_request_of_the_branch_of_the_clone(hub: GitHub, ws: Path) -> None:
    hub.repo("ann/x")
    make_repository(ws)
    git(ws, "checkout", "-q", "-b", "topic")
    git(ws, "remote", "add", "origin", f"{hub.api.removesuffix('/api/v3')}/ann/x.git")
    async with Toolbox(settings(hub), workspace=ws) as box:
        assert "Opened" in await do(box, "gh_create_pr", title="T", body="why")
    assert hub.sent("POST")[0][1] == {"title": "T", "body": "why", "head": "topic", "base": "main"}


@pytest.mark.rows("C058", "E73")
async def test_status_and_signing_in(
    hub: GitHub, ws: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo("ann/x", private=True)
    async with Toolbox(settings(hub, repository="ann/x", lockdown=True), workspace=ws) as box:
        text = await do(box, "github_status")
        for part in ("ann, by MY_TOKEN", "rights of the token: repo", "5000 of 5000 (core)",
                     "ann/x (private, may push)", "lockdown"):  # fmt: skip
            assert part in text, (part, text)
        assert TOKEN not in text
        assert "ann, by MY_TOKEN" in await do(box, "gh_auth")
    monkeypatch.setenv("MY_TOKEN", "wrong")
    async with Toolbox(settings(hub), workspace=ws) as box:
        assert "does not accept the token from MY_TOKEN" in await do(box, "github_status")
    monkeypatch.delenv("MY_TOKEN")
    async with Toolbox(settings(hub), workspace=ws) as box:
        assert "MY_TOKEN, which is not set" in await refused(box, "github_status")
    bare = {"github": {"base_url": hub.api}, "policy": {"default": "allow"}}
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    async with Toolbox(bare, workspace=ws) as box:
        text = await do(box, "github_status")
        assert "nobody is signed in" in text and "settings/tokens" in text
        if "install GitHub's gh" in text:
            assert "no gh" in await refused(box, "github_status", sign_in=True)
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(SIGNED_IN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    home = tmp_path / "home"
    async with Toolbox({"github": {"base_url": hub.api}}, workspace=ws) as box:
        assert "gh auth login" in await refused(box, "github_status", sign_in=True)
    async with Toolbox(bare, workspace=ws) as box:
        text = await do(box, "github_status", sign_in=True)
        assert "ABCD-1234" in text and "https://github.com/login/device" in text
        assert "ABCD-1234" in await do(box, "github_status", sign_in=True)
        assert "127.0.0.1" in (home / "proxy").read_text()
        (home / "typed.new").write_text(TOKEN)
        (home / "typed.new").rename(home / "typed")
        async with asyncio.timeout(20):
            while "ann, by gh" not in (text := await do(box, "github_status")):
                assert "nobody" in text
                await asyncio.sleep(0.05)
