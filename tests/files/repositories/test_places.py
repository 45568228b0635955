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
        "refs/replace/x/y/0a",
        "REFS/Replace/x/0a",
        "modules/logs/refs/replace/0a",
        "modules/a/b/refs/replace/x/0a",
        "worktrees/logs/refs/replace/0a",
        "MERGE_AUTOSTASH",
        "worktrees/refs/MERGE_AUTOSTASH",
        "modules/a/merge_autostash",
        "packed-refs",
        "modules/a/packed-refs",
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
        "refs/heads/refs/replace/x",
        "refs/heads/MY_AUTOSTASH",
        "logs/refs/heads/MY_AUTOSTASH",
        "refs/heads/packed-refs",
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


@each_case(
    ("path", "target", "is_usual"),
    [
        ("HEAD", "refs/heads/a/b", True),
        ("worktrees/refs/HEAD", "refs/heads/a", True),
        ("modules/a/b/HEAD", "refs/heads/a", True),
        ("refs/remotes/o/p/HEAD", "refs/remotes/o/p/main", True),
        ("NOTES_MERGE_REF", "refs/notes/commits", True),
        ("HEAD", "refs/heads", False),
        ("HEAD", "refs/remotes/o/main", False),
        ("HEAD", "refs/heads/../remotes/o", False),
        ("ORIG_HEAD", "refs/heads/a", False),
        ("FETCH_HEAD", "refs/heads/a", False),
        ("worktrees/x/ORIG_HEAD", "refs/heads/a", False),
        ("refs/heads/HEAD", "refs/heads/a", False),
        ("refs/heads/x/HEAD", "refs/heads/x/a", False),
        ("refs/remotes/HEAD", "refs/remotes/a", False),
        ("refs/remotes/o/main", "refs/remotes/o/a", False),
        ("refs/remotes/o/HEAD", "refs/remotes/p/a", False),
        ("modules/a/refs/stash", "refs/heads/a", False),
        ("refs/bisect/bad", "refs/heads/a", False),
    ],
)
def test_names_that_stand_for_others(path: str, target: str, is_usual: bool) -> None:
    assert may_mislead(path.split("/"))
    for text in (f"ref: {target}\n", f"ref:{target}", f"ref:\t {target} "):
        assert bool(file_trouble(path.split("/"), text.encode())) != is_usual
