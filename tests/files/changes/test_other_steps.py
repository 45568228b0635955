"""What a program did, told apart from what tools did meanwhile."""

from __future__ import annotations

from pathlib import Path

from toolcrib import Toolbox
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.comparison import OtherSteps
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.paths import Workspace
from toolcrib.files.writer import staged_prefix


async def test_names_of_a_step_are_its_own_only_as_long_as_it_uses_them(tmp_path: Path) -> None:
    async with Toolbox(workspace=tmp_path) as box:
        await box.call("write_file", {"path": "a.txt", "content": "x"})
        changes, workspace = box.use(Changes), box.use(Workspace)
        (step,) = await changes.since(0)
        (change,) = step.read_changes(workspace)
        others = await OtherSteps.since(0, changes, workspace)

        def is_theirs(name: str) -> bool:
            return others.made(Delta(workspace.start("").child(name)))

        used, _ = change.staged_names(step.token)
        assert is_theirs(used)
        (tmp_path / used).write_text("put there by a program")
        assert not is_theirs(used)
        assert not is_theirs(f"{staged_prefix(step.token)}evil")
