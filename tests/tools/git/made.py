"""Repositories that tests make, by the git program itself and without anybody's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def git(folder: Path, *args: str, ok: bool = True, stdin: str = "", **more: str) -> str:
    """What plain git prints in a folder."""
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        env={**ENVIRONMENT, "HOME": str(folder.parent), **more},
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    if ok:
        assert done.returncode == 0, (args, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape")


def git_in_terminal(folder: Path, *args: str) -> None:
    """Plain git where it takes its output for a terminal."""
    ours, its = os.openpty()
    env = {**ENVIRONMENT, "HOME": str(folder.parent), "TERM": "xterm"}
    try:
        subprocess.run(["git", *args], cwd=folder, env=env, stdout=its, stderr=its, timeout=60)
    finally:
        os.close(ours)
        os.close(its)


def make_repository(folder: Path, **files: str) -> Path:
    """A new one with a first commit of some files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    write(folder, **(files or {"a.txt": "one\ntwo\nthree\n"}))
    commit(folder, "first")
    return folder


def on_a_side(folder: Path, **files: str) -> None:
    """A branch `side` with a commit of some files; `main` is checked out again."""
    git(folder, "checkout", "-q", "-b", "side")
    write(folder, **files)
    commit(folder, "side")
    git(folder, "checkout", "-q", "main")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def commit(folder: Path, message: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD").strip()
