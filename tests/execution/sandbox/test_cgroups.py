"""Limits by a control group, where this machine lets one be made."""

from __future__ import annotations

import asyncio
import os
import subprocess

import pytest

from tests.execution.sandbox.conftest import Box
from toolcrib.execution.sandbox.resources import GROUP_PREFIX, ControlGroup, delegated
from toolcrib.execution.sandbox.terms import Bind, Limits

pytestmark = [
    pytest.mark.rows("E30"),
    pytest.mark.skipif(delegated() is None, reason="no control group is delegated to the tests"),
]


async def test_a_run_is_in_a_group_of_its_own_and_the_group_goes_with_it(box: Box) -> None:
    place = delegated()
    assert place is not None
    async with await box.sandbox.spawn(
        ["sh", "-c", "echo ready; sleep 60 & sleep 60"], cwd=box.workspace.start(), views=Bind()
    ) as run:
        async for _ in run.output():
            break
        groups = list(place.glob(f"{GROUP_PREFIX}{os.getpid()}-*"))
        members = [pid for group in groups for pid in (group / "cgroup.procs").read_text().split()]
        assert len(members) >= 2
    assert not list(place.glob(f"{GROUP_PREFIX}{os.getpid()}-*"))


async def test_the_group_refuses_what_is_above_the_limits() -> None:
    group = await asyncio.to_thread(ControlGroup.make, Limits(processes=5, memory_bytes=50_000_000))
    assert group is not None
    enter = f"echo 0 > {group.path}/cgroup.procs; "
    flood = "for i in 1 2 3 4 5 6 7 8 9; do sleep 9 & done"
    if group.of_processes:
        done = subprocess.run(["sh", "-c", enter + flood], capture_output=True, check=False)
        assert b"fork" in done.stderr
    if group.of_memory:
        big = enter + "head -c 400000000 /dev/zero | tail"
        assert subprocess.run(["sh", "-c", big], capture_output=True, check=False).returncode
        assert group.ran_out()
    group.close()
    assert not group.path.exists()
