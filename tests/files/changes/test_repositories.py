"""File tools make nothing in a repository of git, and no repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from toolcrib import Toolbox

EVIL = "[core]\n\tfsmonitor = touch owned; false\n"
MADE = [
    [("copy_path", {"source": "x.idx", "target": ".git/index"})],
    [("move_path", {"source": "x.idx", "target": ".git/index"})],
    [("write_file", {"path": ".git/info/attributes", "content": "*"})],
    [
        ("write_file", {"path": "b/config", "content": EVIL}),
        ("write_file", {"path": "b/HEAD", "content": "ref: refs/heads/main\n"}),
        ("make_directory", {"path": "b/refs"}),
        ("make_directory", {"path": "b/objects"}),
    ],
    [
        ("make_directory", {"path": "b/refs"}),
        ("make_directory", {"path": "b/objects"}),
        ("write_file", {"path": "b/config", "content": EVIL}),
        ("write_file", {"path": "b/HEADx", "content": "ref: refs/heads/main\n"}),
        ("move_path", {"source": "b/HEADx", "target": "b/HEAD"}),
    ],
    [
        ("write_file", {"path": "b/HEAD", "content": "ref: refs/heads/main\n"}),
        ("write_file", {"path": "b/refs/x", "content": ""}),
        ("write_file", {"path": "b/objects/x/y", "content": ""}),
    ],
    [("copy_path", {"source": "part", "target": "whole"}),
     ("make_directory", {"path": "whole/objects"})],
    [("write_file", {"path": "bare/config", "content": EVIL})],
    [
        ("write_file", {"path": "b/HEAD", "content": "ref: refs/heads/main\n"}),
        ("delete_path", {"path": "b/HEAD"}),
        ("write_file", {"path": "b/config", "content": EVIL}),
        ("make_directory", {"path": "b/refs"}),
        ("make_directory", {"path": "b/objects"}),
        ("undo_changes", {"id": 2}),
    ],
    [
        ("make_directory", {"path": "b/refs"}),
        ("make_directory", {"path": "b/objects"}),
        ("delete_path", {"path": "b/refs"}),
        ("delete_path", {"path": "b/objects"}),
        ("write_file", {"path": "b/config", "content": EVIL}),
        ("write_file", {"path": "b/HEAD", "content": "ref: refs/heads/main\n"}),
        ("undo_changes", {"id": 3}),
        ("undo_changes", {"id": 4}),
    ],
]  # fmt: skip


@pytest.mark.parametrize("calls", MADE)
async def test_no_file_tool_writes_what_git_obeys(
    tmp_path: Path, calls: list[tuple[str, dict[str, str]]]
) -> None:
    root = tmp_path / "ws"
    for name in ("part/refs", "bare"):
        (root / name).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(root / "bare")], check=True)
    (root / "x.idx").write_bytes(b"DIRC")
    (root / "part/HEAD").write_text("ref: refs/heads/main\n")
    (root / "part/config").write_text(EVIL)
    async with Toolbox(workspace=root) as box:
        *first, last = [await box.call(name, arguments) for name, arguments in calls]
    assert last.error is not None and last.error.code == "path_denied", last.text
    assert all(result.error is None for result in first), [result.text for result in first]
    for folder in filter(Path.is_dir, root.iterdir()):
        subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)
    assert not list(root.rglob("owned"))


@pytest.mark.parametrize("name", ["config", "hooks/post-checkout"])
async def test_undo_brings_no_settings_into_a_repository(tmp_path: Path, name: str) -> None:
    """That came to be meanwhile."""
    async with Toolbox(workspace=tmp_path) as box:
        await box.call("write_file", {"path": f"b/{name}", "content": EVIL})
        await box.call("delete_path", {"path": f"b/{name}"})
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "b")], check=True)
        if name == "config":
            (tmp_path / "b/config").unlink()
        back = await box.call("undo_changes", {"id": 2})
    assert back.error is not None and back.error.code == "path_denied", back.text
    assert not (tmp_path / "b" / name).exists()


async def test_undo_brings_a_whole_repository_back(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "b")], check=True)
    async with Toolbox(workspace=tmp_path) as box:
        gone = await box.call("run_command", {"command": "rm -r b"})
        assert gone.error is None and not (tmp_path / "b").exists(), gone.text
        back = await box.call("undo_changes", {})
    assert back.error is None, back.text
    assert (tmp_path / "b/config").exists()
