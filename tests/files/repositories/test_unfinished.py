"""Which states of a rebase or of picks have git do more than picking commits."""

from __future__ import annotations

import pytest

from toolcrib.files.repositories.places import unfinished_names
from toolcrib.files.repositories.unfinished import MAX_TODO_BYTES, state_trouble

TODO = "rebase-merge/git-rebase-todo"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (TODO, "pick 0a1b2c x\n  exec touch owned\n"),
        (TODO, "x make\n"),
        (TODO, "pick 0a\n" * MAX_TODO_BYTES),
        (TODO.upper(), "exec a"),
        ("rebase-merge/git-rebase-todo.backup", "exec a"),
        ("sequencer/todo", "exec a"),
        ("rebase-merge/strategy", "evil\n"),
        ("rebase-merge/strategy_opts", " '--x=/tmp/evil'"),
        ("rebase-merge/gpg_sign_opt", "--exec=evil"),
        ("sequencer/opts", "[options]\n\tStrategy = evil\n"),
        ("sequencer/opts", "[options] strategy = index\n"),
        ("sequencer/opts", "[options]\n\tstrategy = ort\u00a0\n"),
        ("sequencer/opts", "[options]\n\tedit = true\n[include]\n\tpath = x\n"),
        ("rebase-merge/strategy", "ort\u00a0\n"),
        ("rebase-merge/author-script", "GIT_AUTHOR_NAME='A'; touch owned"),
        ("rebase-merge/author-script", "GIT_AUTHOR_NAME='A$(x)'\\''`touch owned`\n"),
        ("rebase-apply/author-script", "touch owned"),
        ("rebase-apply/apply-opt", "--directory=../.."),
        ("rebase-merge/head-name", "refs/heads/../../config\n"),
        ("rebase-merge/head-name", "HEAD"),
        ("rebase-merge/refs-to-delete", "refs/rewritten/onto\nrefs/heads/main\n"),
        ("rebase-merge/update-refs", "refs/replace/0a\n0a\n0b\n"),
    ],
)
def test_what_does_more(path: str, text: str) -> None:
    assert state_trouble(path.split("/"), text.encode())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (TODO, "pick 0a1b # exec x\n# exec y\n\nfixup -C 0b\nupdate-ref refs/heads/x\nbreak\n"),
        (TODO, "pick 0a One\u2028exec is in the\x0bsubject\r\n# \u2028exec y\n"),
        ("sequencer/todo", "pick 0a x\nrevert 0b y\n"),
        ("sequencer/opts", "[options]\n\tsignoff = true\n\tstrategy = ort\n\tmainline = 1\n"),
        ("sequencer/opts", "[options]\n\tstrategy-option = subtree=a/b\n\tgpg-sign = 0A1B\n"),
        ("rebase-merge/strategy", "ort\n"),
        ("rebase-merge/strategy_opts", " '--theirs' '--find-renames=50%'"),
        ("rebase-merge/gpg_sign_opt", "-S0A1B\n"),
        (
            "rebase-merge/author-script",
            "GIT_AUTHOR_NAME='D'\\''Arcy'\nGIT_AUTHOR_EMAIL='a@b'\nGIT_AUTHOR_DATE='@1 +0100'\n",
        ),
        ("rebase-merge/head-name", "refs/heads/fix/#12-\u00e4\n"),
        ("rebase-merge/head-name", "detached HEAD\n"),
        ("rebase-merge/update-refs", "refs/heads/a\n0a\n0b\nrefs/heads/b\n0c\n0d\n"),
        ("rebase-merge/refs-to-delete", "refs/rewritten/onto\nrefs/rewritten/a-b\n"),
        ("rebase-merge/message", "exec\n"),
        ("rebase-apply/apply-opt", "-p1"),
    ],
)
def test_what_only_picks(path: str, text: str) -> None:
    assert not state_trouble(path.split("/"), text.encode())


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("rebase-merge/onto", "rebase-merge/onto"),
        ("worktrees/x/Sequencer/todo", "sequencer/todo"),
        ("modules/a/b/rebase-apply/patch", "rebase-apply/patch"),
        ("refs/heads/rebase-merge/x", ""),
        ("logs/refs/heads/sequencer/x", ""),
        ("rr-cache/0a/postimage", ""),
        ("HEAD", ""),
    ],
)
def test_where_they_are(path: str, found: str) -> None:
    assert "/".join(unfinished_names(path.split("/"))) == found
