"""Whatever a model writes as a path, the canary outside is not what it gets."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.files.paths.conftest import CANARY, OPENERS, Tree, plant
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import can_pin, has_openat2
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace

NAMES = [
    "..",
    ".",
    "",
    "~",
    "ws",
    "ws_evil",
    "secret.txt",
    "src",
    "deep",
    "climb",
    "in",
    "out",
    "out-rel",
    "out-folder",
    "abs-in",
    "back-in",
    "chain",
    "loop",
    "proc-root",
    "proc-cwd",
    "fifo",
    "%2e%2e",
    "\uff0e\uff0e",
    "..\\..",
    "\0",
    "proc/self/root",
    "ROOT",
    "OUTSIDE",
]
PATHS = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda start, names: start + "/".join(names),
        st.sampled_from(["", "/", "./", "ROOT/", "OUTSIDE/", "~/", "//", "file://"]),
        st.lists(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), max_size=8),
    ),
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return plant(tmp_path_factory.mktemp("any"))


@given(PATHS, st.sampled_from(["", "ROOT/src", "OUTSIDE"]))
@example("ROOT/out-folder/secret.txt", "")
@example("../../ws_evil/secret.txt", "ROOT/src")
@settings(max_examples=300)
@pytest.mark.parametrize("name", OPENERS)
def test_no_path_reads_outside(planted: Tree, name: str, text: str, directory: str) -> None:
    if (name == "openat2" and not has_openat2()) or (name == "walk" and not can_pin()):
        pytest.skip("not on this system")
    workspace = Workspace([str(planted.root)], Protection(), OPENERS[name]())

    def placed(path: str) -> str:
        return path.replace("ROOT", str(planted.root)).replace("OUTSIDE", str(planted.outside))

    try:
        path = workspace.resolve(placed(text), placed(directory))
    except ToolError:
        return
    assert Path(path.absolute).is_relative_to(planted.root)
    with suppress(ToolError):
        assert CANARY not in path.read_bytes(100_000)
    with suppress(ToolError):
        assert "secret.txt" not in {entry.name for entry in path.list()}
