"""A tree with everything that search has to treat in its own way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.files.paths import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    return root


@pytest.fixture
def workspace(ws: Path) -> Workspace:
    return Workspace([str(ws)])


@pytest.fixture
def full(ws: Path, tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle outside\n")
    for folder in (
        "src/deep",
        "node_modules/pkg",
        "build",
        ".hidden",
        ".git",
        ".ssh",
        ".config/gh",
        "gen",
        "logs",
    ):
        (ws / folder).mkdir(parents=True)
    texts = {
        "src/a.py": "one\nneedle here\nNeedle again\n",
        "src/deep/b.PY": "x needle\r\nend$needle\r\n",
        "src/c.txt": "no such thing\n",
        "node_modules/pkg/index.js": "needle\n",
        "build/out.txt": "needle\n",
        ".hidden/x.txt": "needle\n",
        ".git/config": "needle\n",
        ".dotfile": "needle\n",
        ".env": "needle=1\n",
        ".ENV.local": "needle=1\n",
        ".env.example": "needle=\n",
        ".env.examples": "needle=\n",
        "id_rsa.pub": "needle\n",
        "id_rsa": "needle\n",
        "id_rsa_b": "needle\n",
        "server.KEY": "needle\n",
        ".ssh/known": "needle\n",
        ".config/gh/hosts.yml": "needle\n",
        "gen/code.py": "needle\n",
        "logs/a.log": "needle\n",
        "logs/keep.log": "needle\n",
        ".gitignore": "/gen/\n*.log\n!keep.log\n",
        ".ignore": "c.txt\nsrc\n",
        ".rgignore": "src\n",
        ".ripgreprc": "--pre=cat\n--no-ignore\n",
    }
    for name, text in texts.items():
        (ws / name).write_bytes(text.encode())
    (ws / "wide.txt").write_bytes("first\nneedle wide\n".encode("utf-16"))
    (ws / "big-end.txt").write_bytes(b"\xfe\xff" + "needle be\n".encode("utf-16-be"))
    (ws / "marked.txt").write_bytes(b"\xef\xbb\xbfneedle marked\n")
    (ws / "latin.txt").write_bytes(b"caf\xe9 needle\n")
    (ws / "binary.bin").write_bytes(b"needle\n" * 5000 + b"\0\n")
    (ws / "odd: name\n.txt").write_text("needle\n")
    (ws / "out").symlink_to(outside)
    (ws / "outfile.txt").symlink_to(outside / "secret.txt")
    (ws / "inside.txt").symlink_to(ws / "src" / "a.py")
    os.link(ws / ".env", ws / "innocent.txt")
    os.mkfifo(ws / "pipe")
    return ws


def engines() -> list[str]:
    """The engines of this machine; the first is a dependency and always there."""
    return ["rg", "python"]
