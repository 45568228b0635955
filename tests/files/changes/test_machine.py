"""Whatever is changed in whatever order: undo makes the tree byte for byte as it was."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.files.changes.conftest import Bench, Picture, picture
from toolcrib.core.errors import ToolError
from toolcrib.files.changes.step import Step

pytestmark = pytest.mark.rows("C027")

NAMES = st.sampled_from(["a", "b", "c/a", "c/b", "c/d/a", "e", "e/f"])
DATA = st.sampled_from([b"", b"one", b"two\r\n", b"long" * 500])
CHANGE = st.one_of(
    st.tuples(st.just("write"), NAMES, DATA),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("folder"), NAMES),
)


class Tree(RuleBasedStateMachine):
    """Steps of one to four changes, and undo of any number of them."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="toolcrib-"))
        self.root = self.top / "ws"
        self.root.mkdir()
        self.loop = asyncio.new_event_loop()
        os.environ["TOOLCRIB_DATA"] = str(self.top / "state")
        self.bench = Bench.on(self.root)
        self.states: list[Picture] = [picture(self.root)]

    def teardown(self) -> None:
        self.loop.run_until_complete(self.bench.services.close())
        self.loop.close()
        shutil.rmtree(self.top)

    @rule(changes=st.lists(CHANGE, min_size=1, max_size=4), replace=st.booleans())
    def change(self, changes: list[tuple[str, ...]], replace: bool) -> None:
        step = Step("x")
        for kind, name, *rest in changes:
            path = self.bench.path(name)
            if kind == "write":
                step.write(path, rest[0])  # type: ignore[arg-type]
            elif kind == "delete":
                step.delete(path)
            elif kind == "move":
                step.move(path, self.bench.path(rest[0]), replace=replace)
            else:
                step.make_folder(path)
        try:
            applied = self.loop.run_until_complete(self.bench.apply(step))
        except ToolError:
            assert picture(self.root) == self.states[-1]
            return
        if applied.step:
            self.states.append(picture(self.root))
        else:
            assert picture(self.root) == self.states[-1]

    @precondition(lambda self: len(self.states) > 1)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(1, min(len(self.states) - 1, 5)))
        applied = self.loop.run_until_complete(self.bench.undo(count))
        assert _bare(picture(self.root)) == _bare(self.states[-1 - count])
        if applied.step:
            self.states.append(picture(self.root))

    @invariant()
    def nothing_is_left_behind(self) -> None:
        assert not [name for name in picture(self.root) if ".toolcrib-" in name]


def _bare(tree: Picture) -> Picture:
    """Without the times: a redo writes anew what a step had just written."""
    return {name: (found[0], found[1], found[-1]) for name, found in tree.items()}


TestTree = pytest.mark.timeout(240)(Tree.TestCase)
TestTree.settings = settings(
    max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
