"""The index of a repository by what it says."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.files.changes.deltas import index_digest


@dataclass
class Pieces:
    data: bytes

    def chunks(self) -> Iterator[bytes]:
        yield from (self.data[n : n + 7] for n in range(0, len(self.data), 7))


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for name in ("a", "dir/b", "name of 8", "x" * 250):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name[:20]}\n")
    git(tmp_path, "add", ".")
    return tmp_path / ".git/index"


def test_times_do_not_matter_and_all_else_does(index: Path) -> None:
    root = index.parents[1]
    first = index.read_bytes()
    known = index_digest(first)
    assert known
    assert index_digest(Pieces(first)) == known
    os.utime(root / "a", (1, 1))
    git(root, "status")
    assert index.read_bytes() != first
    assert index_digest(index.read_bytes()) == known
    seen = {known}
    for words in (
        ["update-index", "--chmod=+x", "a"],
        ["rm", "-q", "--cached", "dir/b"],
        ["update-index", "--assume-unchanged", "a"],
        ["update-index", "--skip-worktree", "name of 8"],
    ):
        git(root, *words)
        found = index_digest(index.read_bytes())
        assert found
        assert found not in seen
        seen.add(found)
    (root / "fresh").write_text("f\n")
    git(root, "add", "-N", "fresh")
    assert index_digest(index.read_bytes()) not in {"", *seen}


def test_what_is_not_understood_means_nothing(index: Path) -> None:
    root, data = index.parents[1], index.read_bytes()
    assert index_digest(data[:-1] + bytes([data[-1] ^ 1])) == ""
    git(root, "update-index", "--index-version", "4")
    assert index_digest(index.read_bytes()) == index_digest(data)
    git(root, "update-index", "--split-index")
    assert index_digest(index.read_bytes()) == ""


@given(data=st.binary(max_size=200), count=st.integers(0, 2**32 - 1))
def test_damaged_ones_do_no_harm(data: bytes, count: int) -> None:
    import hashlib

    whole = b"DIRC\0\0\0\2" + count.to_bytes(4, "big") + data
    assert isinstance(index_digest(whole + hashlib.sha1(whole).digest()), str)
