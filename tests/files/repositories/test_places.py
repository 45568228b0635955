"""Files of a repository that have git do something unseen, by their path in it."""

from __future__ import annotations

from tests.cases import each_case
from toolcrib.files.repositories.places import file_trouble, may_mislead


@each_case(
    "path",
    [
        "rebase-merge/git-rebase-todo",
        "worktrees/refs/rebase-merge/git-rebase-todo",
        "worktrees/logs/sequencer/todo",
        "modules/a/rebase-apply/x",
        "modules/refs/rebase-merge/done",
        "modules/a/b/worktrees/c/rr-cache/x/preimage",
        "RR-CACHE/x/postimage",
        "info/grafts",
        "refs/replace/0a",
    ],
)
def test_what_git_would_obey(path: str) -> None:
    assert may_mislead(path.split("/"))
    assert file_trouble(path.split("/"), b"x")


@each_case(
    "path",
    [
        "refs/heads/rebase-merge/x",
        "refs/heads/info/grafts",
        "refs/heads/replace/x",
        "refs/remotes/origin/refs/replace2/x",
        "logs/refs/heads/sequencer/x",
        "logs/refs/replace/x",
        "worktrees/tree/logs/refs/heads/rr-cache/x",
        "modules/a/refs/heads/sequencer/x",
        "objects/info/packs",
        "info/exclude",
    ],
)
def test_branches_have_any_name(path: str) -> None:
    assert not file_trouble(path.split("/"), b"0" * 40)
