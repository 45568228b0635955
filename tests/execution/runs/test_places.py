"""Where the workspace and our own folders may lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench, need_overlay
from toolcrib.core.config import Config
from toolcrib.core.context import Services, Session
from toolcrib.system.file_systems import has_own_clock, kind_of_system


def bench_on(*roots: Path, **sections: dict[str, object]) -> RunBench:
    config = Config.load({"workspace": {"roots": [str(root) for root in roots]}, **sections})
    return RunBench(roots[0], Services(config), Session("one"))


async def test_several_roots_one_in_another_are_one_step(root: Path, tmp_path: Path) -> None:
    inner, other = root / "inner", tmp_path / "other"
    inner.mkdir()
    other.mkdir()
    bench = bench_on(root, inner, other)
    await need_overlay(bench)
    outcome = await bench.changed(f"echo 1 > a; echo 2 > inner/b; echo 3 > {other}/c")
    assert outcome.state == "applied"
    assert (inner / "b").read_text() == "2\n"
    assert (other / "c").read_text() == "3\n"
    assert len(await bench.steps()) == 1
    await bench.undo()
    assert not (inner / "b").exists()
    assert not (other / "c").exists()
    await bench.services.close()


async def test_our_own_data_inside_the_workspace(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_DATA", str(root / "state"))
    bench = bench_on(root, run={"level": "none"})
    (root / "a").write_text("a\n")
    outcome = await bench.changed("echo b >> a")
    assert outcome.state == "applied"
    assert [changed.path for changed in outcome.files] == ["a"]
    await bench.undo()
    assert (root / "a").read_text() == "a\n"
    await bench.services.close()


async def test_a_root_that_is_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "name").symlink_to(root)
    bench = bench_on(tmp_path / "name")
    await need_overlay(bench)
    outcome = await bench.changed("echo x > x")
    assert outcome.state == "applied"
    assert os.listdir(root) == ["x"]
    await bench.services.close()


def test_the_kind_of_a_file_system(tmp_path: Path) -> None:
    assert kind_of_system("/proc") == "proc"
    assert not has_own_clock("/proc")
    assert not has_own_clock("/nowhere/at/all/../x") or kind_of_system("/")
    assert kind_of_system(str(tmp_path))
