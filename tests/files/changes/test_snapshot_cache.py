"""Contents that are kept before a run at level kernel: what a further run costs, their bound."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.files.changes import snapshots
from toolcrib.files.changes.snapshots import SnapshotCache, take_snapshot
from toolcrib.state.blobs import YOUNG_SECONDS, Blobs

Run = Callable[[], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    for number in range(5):
        (root / f"f{number}").write_text(f"file {number}")
    return root


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def run(root: Path, store: Path) -> Run:
    """Does what is done before a run, and at its end."""
    cache = SnapshotCache(store, str(root))

    def before_a_run() -> None:
        folder = store / "run"
        folder.mkdir(parents=True, exist_ok=True)
        top = os.open(root, os.O_RDONLY)
        try:
            index = take_snapshot(top, frozenset(), lambda: None)
            cache.keep(top, index, lambda: None, folder)
        finally:
            os.close(top)
        assert not index.unkept
        for name, seen in index.entries.items():
            assert b"".join(cache.blobs.read(seen.image.digest)) == (root / name).read_bytes()
        cache.forget_old()
        for file in folder.iterdir():
            file.unlink()

    return before_a_run


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What was found at each look at all contents."""
    found: list[int] = []
    stored_bytes = Blobs.stored_bytes

    def noted(self: Blobs) -> int:
        found.append(stored_bytes(self))
        return found[-1]

    monkeypatch.setattr(Blobs, "stored_bytes", noted)
    return found


def test_not_each_run_looks_at_all_contents(
    run: Run, root: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "LOOK_BYTES", 10_000)
    for _ in range(4):
        run()
    assert len(looks) == 1
    for number in range(6):
        (root / "new").write_bytes(os.urandom(4_000))
        run()
        assert len(looks) == 1 + (number + 1) // 3


@pytest.mark.usefixtures("looks")
def test_contents_do_not_grow_without_end_between_the_looks(
    run: Run, root: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "LOOK_BYTES", 10_000)
    monkeypatch.setattr(snapshots, "MAX_STORED_BYTES", 20_000)
    monkeypatch.setattr("toolcrib.state.blobs.YOUNG_SECONDS", -60.0)
    for _ in range(30):
        (root / "new").write_bytes(os.urandom(4_000))
        run()
        assert sum(p.stat().st_size for p in store.glob("contents/*/*")) < 35_000


def test_where_too_many_stay_the_next_run_looks_again(
    run: Run, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are too young to be removed, and are not later."""
    monkeypatch.setattr(snapshots, "MAX_STORED_BYTES", 10)
    for _ in range(3):
        run()
    assert len(looks) == 3


def test_contents_are_renewed_each_half_hour(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    contents = sorted(store.glob("contents/??/*"))
    renewed: list[str] = []
    utime = os.utime
    monkeypatch.setattr(os, "utime", lambda path, *a: renewed.append(str(path)) or utime(path, *a))
    run()
    assert renewed == []
    now = time.time()
    for path, age in zip(contents, (0.45, 0.45, 0.55, 0.99, 5.0), strict=True):
        utime(path, (now, now - age * YOUNG_SECONDS))
    run()
    assert sorted(renewed) == list(map(str, contents[2:]))
    # None is old enough to be swept within the time that a snapshot may take.
    for path in contents:
        assert now - path.stat().st_mtime < YOUNG_SECONDS / 2
    for path in contents[:3]:
        path.unlink()
    run()  # what is gone is kept again
