"""What a run may not leave in the workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.execution.runs.conftest import RunBench, picture
from toolcrib.files.changes.links import leads_out
from toolcrib.files.handles import Root
from toolcrib.files.paths import SafePath, Workspace


@pytest.mark.parametrize(
    ("script", "path", "rule"),
    [
        ("mkdir sub; echo 'gitdir: ../x' > sub/.git", "sub/.git", ".git"),
        ("mkdir .GIT", ".GIT", ".git"),
        ("echo '{}' > .mcp.json", ".mcp.json", ".mcp.json"),
        ("mkdir .vscode; echo '{}' > .vscode/tasks.json", ".vscode", ".vscode"),
        ("mkdir -p a/b; echo x > a/b/.env", "a/b/.env", ".env*"),
        ("ln -s ok .mcp.json", ".mcp.json", ".mcp.json"),
        ("mkdir .MCP.json", ".MCP.json", ".mcp.json"),
    ],
)
async def test_protected_names_are_refused_and_the_rest_is_taken_over(
    bench: RunBench, root: Path, script: str, path: str, rule: str
) -> None:
    outcome = await bench.changed(f"{script}; echo ok > ok")
    assert outcome.state == "applied"
    assert not os.path.lexists(root / path)
    assert (root / "ok").read_text() == "ok\n"
    assert f"not taken over: {path} is protected ({rule})" in outcome.notes


async def test_what_git_would_run_is_refused_in_a_repository_too(
    bench: RunBench, root: Path
) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".git/config").write_text("[core]\n")
    before = picture(root)
    ran = await bench.sh(
        "(echo evil > .git/hooks/pre-commit); (echo '[core] fsmonitor=evil' > .git/config); true"
    )
    assert picture(root) == before
    assert ran.outcome.state == "none"
    # Where the boundary covers them, the program itself is told.
    assert ".git/hooks" in str(ran.stderr) + str(ran.outcome.notes)


async def test_a_commit_of_git_goes_through(bench: RunBench, root: Path) -> None:
    import subprocess

    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "a").write_text("a\n")
    outcome = await bench.changed(f"{' '.join(git)} add a && {' '.join(git)} commit -qm first")
    assert outcome.state == "applied", outcome
    log = subprocess.run(
        ["git", "-C", str(root), "log", "--format=%s"], check=True, capture_output=True, text=True
    )
    assert log.stdout == "first\n"
    status = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True).stdout == b""
    assert subprocess.run(["git", "-C", str(root), "fsck"], check=True, capture_output=True)
    assert not any("not taken over" in note for note in outcome.notes)
    await bench.undo()
    assert subprocess.run(status, check=True, capture_output=True).stdout == b"?? a\n"


async def test_links_out_pipes_and_setuid_files_are_left_out_and_told(
    bench: RunBench, root: Path
) -> None:
    outcome = await bench.changed(
        """
        ln -s /etc/passwd out; ln -s ../../x up; mkdir d; ln -s d l; ln -s l/../../x round
        ln -s /usr/bin/env program; ln -s d/../ok fine || true; ln -s ok good; echo ok > ok
        mkfifo pipe; echo x > suid; chmod 4755 suid || true
        """
    )
    names = sorted(os.listdir(root))
    assert "good" in names
    assert "program" in names
    assert not {"out", "up", "round", "pipe"} & set(names)
    text = "\n".join(outcome.notes)
    assert "out -> /etc/passwd" in text
    assert "named pipe" in text
    assert "suid" not in names or not (root / "suid").stat().st_mode & 0o6000


async def test_a_folder_with_a_repository_in_it_is_not_deleted(bench: RunBench, root: Path) -> None:
    (root / "sub/.git").mkdir(parents=True)
    (root / "sub/.git/HEAD").write_text("ref\n")
    (root / "sub/f").write_text("f\n")
    ran = await bench.sh("rm -rf sub; echo ok > ok")
    assert (root / "sub/.git/HEAD").exists()
    assert (root / "ok").exists()
    assert ran.outcome.state == "applied"


TOP = Root("/w/here", "/w/real")
PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "usr", "w", "here"]), max_size=8)


@given(names=PARTS, absolute=st.booleans(), depth=st.integers(1, 4))
def test_a_link_that_stays_inside_really_does(names: list[str], absolute: bool, depth: int) -> None:
    target = ("/" if absolute else "") + "/".join(names)
    gate = Workspace([]).gate
    path = SafePath(TOP, tuple("abcd"[:depth]), gate, 0)
    if leads_out(path, target, [TOP]):
        return
    there = os.path.normpath(os.path.join("/w/real", *path.parts[:-1], target))
    there = there.replace("//", "/")
    assert there.startswith(("/w/real", "/w/here", "/usr", os.path.normpath(sys.base_prefix)))
