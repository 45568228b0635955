"""Which settings of a repository are harmless."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from toolcrib.files.repositories.settings import IDENTITY, is_plain_url, trouble, trouble_of_change

PLAIN = b"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[remote "origin"]
\turl = https://example.org/a/b.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[user]
\tname = J\xc3\xb6rg \\"J\\" Doe
\temail = j@example.org
"""


def inside(path: str) -> bool:
    return path.startswith("/ws/")


def test_what_git_writes_itself_is_harmless() -> None:
    assert trouble(PLAIN, inside) == ""
    assert trouble(PLAIN.replace(b"\n", b"\r\n"), inside) == ""
    assert trouble(b"", inside) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[core] fsmonitor = evil", "line 1 is unusual"),
        ("[core]\nbare = false\\\nfsmonitor = evil", "line 2 is unusual"),
        ('[core]\nfilemode = "a\nfsmonitor = evil"', "line 2 is unusual"),
        ("[CORE]\nFSMonitor = evil", "sets core.fsmonitor"),
        ("[core]\n\tfilemode = true\n\tfsmonitor = true", "sets core.fsmonitor"),
        ("\ufeff[core]\nbare = false", "line 1 is unusual"),
        ("[core]\nbare = fa\0lse", "line 2 is unusual"),
        ("[core]\nbare = false\x0b\nfsmonitor=x", "line 2 is unusual"),
        ("[core]\u2028fsmonitor = evil", "line 1 is unusual"),
        ("# comment\r[core]\rfsmonitor = evil", "line 1 is unusual"),
        ("[alias.st]\nx = y", "line 1 is unusual"),
        ("[core.x]\nbare = y", "line 1 is unusual"),
        ("bare = true", "line 1 is unusual"),
        ("[user]\nname = " + "x" * 1100, "line 2 is unusual"),
        ("[include]\npath = ../evil", "sets include.path"),
        ('[includeIf "gitdir:/"]\npath = x', "sets includeif.gitdir:/.path"),
        ("[remote]\nurl = https://example.org/x", "sets remote.url"),
        ('[remote "-x"]\nprune = true', "sets remote.-x.prune"),
        ('[remote "--upload-pack=touch x;git"]\nurl = /ws/src', "sets remote.--upload-pack"),
        ('[remote "a b"]\nurl = https://example.org/x', "sets remote.a b.url"),
        ('[branch "--x"]\nmerge = refs/heads/m', "sets branch.--x.merge"),
        ('[user "x"]\nname = y', "sets user.x.name"),
        ("[core]\nrepositoryformatversion = 2", "repositoryformatversion"),
        ("[commit]\ngpgsign = true", "commit.gpgsign"),
        ("[extensions]\nworktreeconfig = true", "extensions.worktreeconfig"),
        ("[extensions]\npartialclone = origin", "extensions.partialclone"),
        ('[branch "m"]\nremote = ext::sh -c evil', "branch.m.remote"),
        ('[branch "m"]\nremote = --upload-pack=evil', "branch.m.remote"),
        ('[remote "o"]\nfetch = +refs/heads/*:refs/heads/*', "remote.o.fetch"),
        ("[core]\nhookspath", "core.hookspath"),
    ],
)  # fmt: skip
def test_what_could_run_something_is_not(text: str, why: str) -> None:
    assert why in trouble(text.encode(), inside)


def test_bytes_that_are_no_text_and_large_ones_are_not() -> None:
    assert trouble(b"[core]\nbare = \xff", inside)
    assert trouble(b"# x\n" * 50_000, inside)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://example.org/a.git", True),
        ("https://user:token@example.org:8443/a%20b.git", True),
        ("ssh://git@example.org/~x/a", True),
        ("git@example.org:a/b.git", True),
        ("/ws/a", True),
        ("file:///ws/a", True),
        ("/etc", False),
        ("/ws/../etc", False),
        ("file:///etc", False),
        ("../other", False),
        ("ext::sh -c evil", False),
        ("fd::17", False),
        ("ssh://-oProxyCommand=evil/x", False),
        ("ssh://x@-oProxyCommand=evil/x", False),
        ("-oProxyCommand=evil:x", False),
        ("https://example.org/a b", False),
        ("ftp://example.org/a", False),
        ("http::https://example.org", False),
        ("--upload-pack=evil", False),
        ("", False),
    ],
)
def test_urls(url: str, plain: bool) -> None:
    assert is_plain_url(url, inside) == plain


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("../o.git", True),
        ("o.git", True),
        ("./a/o.git", True),
        ("/ws/r/../o.git", True),
        ("../../etc", False),
        ("../../ws/o.git", True),
        ("/ws/r/../../etc", False),
        ("file:///ws/r/../../etc", False),
        ("file://../o.git", False),
        ("~/o.git", False),
        ("-x", False),
        ("ext::../o.git", False),
        ("", False),
    ],
)
def test_paths_from_the_top_of_a_repository(url: str, plain: bool) -> None:
    assert is_plain_url(url, inside, "/ws/r") == plain


def test_a_new_setting_is_not_called_another_one() -> None:
    new = PLAIN + b'[remote "n"]\nurl = ../../etc\n'
    assert trouble_of_change(PLAIN, new, inside, "/ws/r")[0] == "its config sets remote.n.url"
    new = PLAIN.replace(b"example.org/a", b"evil.example/a")
    assert "has another remote.origin.url" in trouble_of_change(PLAIN, new, inside)[0]
    login = PLAIN + b'[remote "n"]\nurl = https://u:secret@h/x\n'
    assert trouble_of_change(PLAIN, login, inside) == ("", ["remote.n.url=https://h/x"])
    new = PLAIN + b'[remote "n"]\nurl = ../o.git\n'
    assert trouble_of_change(PLAIN, new, inside, "/ws/r") == ("", ["remote.n.url=../o.git"])


FETCHED = b'[remote "n"]\nfetch = %s\n'
NESTED = b'[remote "origin/x"]\nfetch = +refs/heads/*:refs/remotes/origin/x/*\n'
OLD = b"[core]\n\tbare = false\n[alias]\n\tst = status\n"


@pytest.mark.parametrize(
    ("old", "new", "fine"),
    [
        (OLD, OLD, True),
        (OLD, OLD + b"[user]\n\tname = n\n\temail = e\n", True),
        (OLD + b"[user]\n\tname = n\n", OLD + b"[user]\n\tname = other\n", True),
        (OLD, OLD + b'[remote "o"]\nurl = https://h/x\n[branch "m"]\nremote = o\n', True),
        (OLD, OLD.replace(b"status", b"!evil"), False),
        (OLD, OLD + b"[alias]\nx = !evil\n", False),
        (OLD, b"[core]\n\tbare = false\n", False),
        (OLD, b"[alias]\n\tst = status\n[core]\n\tbare = false\n", False),
        (OLD, OLD + b"[core]\n\tbare = true\n", False),
        (PLAIN, PLAIN.replace(b"example.org/a", b"evil.example/a"), False),
        (PLAIN, PLAIN + b'[remote "origin"]\nurl = https://evil.example/x\n', False),
        (PLAIN, PLAIN + b'[branch "main"]\nremote = .\n', False),
        (PLAIN, PLAIN + b'[branch "x"]\nremote = origin\nmerge = refs/heads/x\n', True),
        (PLAIN, PLAIN + b'[remote "n"]\nurl = https://h/x\n[branch "x"]\nremote = n\n', False),
        (PLAIN, PLAIN + b'[remote "n"]\nurl = https://h/x\n', True),
        (PLAIN, PLAIN + b'[remote "n"]\nurl = ext::sh\n', False),
        (PLAIN, PLAIN + b'[remote "--upload-pack=x;git"]\nurl = /ws/src\n', False),
        (PLAIN, PLAIN + b'[remote "n"]\npushurl = https://h/x\n', False),
        (PLAIN, PLAIN + FETCHED % b"+refs/heads/*:refs/remotes/n/*", True),
        (PLAIN, PLAIN + FETCHED % b"refs/heads/main:refs/remotes/n/main", True),
        (PLAIN, PLAIN + FETCHED % b"+refs/heads/*:refs/remotes/origin/*", False),
        (PLAIN, PLAIN + FETCHED % b"+refs/heads/a:refs/remotes/n/b", False),
        (PLAIN, PLAIN + FETCHED % b"+refs/tags/*:refs/tags/*", False),
        (PLAIN, PLAIN + NESTED, False),
        (PLAIN, b"", False),
        (OLD + b"[a] b = c\n", OLD + b"[a] b = c\n[user]\nname = n\n", False),
    ],
)
def test_changes_of_what_was_there(old: bytes, new: bytes, fine: bool) -> None:
    why, news = trouble_of_change(old, new, inside)
    assert (why == "") == fine, why
    assert not news or fine


FINE = st.sampled_from(
    ["[core]\nbare = true", "[user]\nname = x", '[remote "o"]\nurl = https://h/x', "; c", "", "\r",
     "[user]\n\tname = a ; b", "[core]\nbare = x # c"]
)  # fmt: skip
ODD = st.sampled_from(
    ["[alias]", "[include]", "fsmonitor = evil", "hooksPath = evil", "path = evil", "st = !evil",
     'name = "a', 'b"', "name = a\\", "bare = x \\", "# c \\", "[core] bare = true", "[core",
     "[core]fsmonitor=evil", 'name = \\"', "[user] # x", "name = x", "url = https://h/x"]
)  # fmt: skip
LINES = st.lists(FINE, max_size=6) | st.tuples(st.lists(FINE), ODD, st.lists(FINE)).map(
    lambda parts: [*parts[0], parts[1], *parts[2]]
)
HARMLESS = {"core.bare", "user.name", "remote.o.url", *IDENTITY}


@settings(max_examples=60, deadline=None)
@given(lines=LINES)
def test_git_finds_nothing_else_in_what_is_harmless(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    data = "\n".join(lines).encode()
    fine = trouble(data, inside) == ""
    event("harmless with a setting" if fine and b"=" in data else "refused or empty")
    if not fine:
        return
    file: Path = tmp_path_factory.mktemp("config") / "config"
    file.write_bytes(data)
    done = subprocess.run(
        ["git", "config", "--file", str(file), "--list", "--name-only"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert set(done.stdout.split()) <= HARMLESS
