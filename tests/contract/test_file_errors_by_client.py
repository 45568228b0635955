"""Each tool of the file groups refuses something over MCP: a code, a reason and what to do."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, stdio
from toolcrib.core.registry import Registry
from toolcrib.toolbox import installed

pytestmark = [pytest.mark.timeout(120), pytest.mark.rows("E05")]
GROUPS = ("files", "backup", "workspace", "code")
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("append_file", "path_denied", {"path": ".git/config", "content": "x"}),
    ("apply_patch", "bad_input", {"patch": "no patch"}),
    ("archive_files", "bad_input", {"action": "unpack", "archive": "evil.zip", "folder": "out"}),
    ("change_directory", "path_denied", {"path": "/"}),
    ("code_outline", "not_found", {"path": "none.py"}),
    ("copy_path", "not_found", {"source": "none", "destination": "b"}),
    ("create_backup", "bad_input", {"name": "../x"}),
    ("delete_backup", "not_found", {"name": "none", "confirm": True}),
    ("delete_path", "path_denied", {"path": "."}),
    ("diff_files", "not_found", {"a": "none", "b": "a.py"}),
    ("directory_tree", "not_found", {"path": "none"}),
    ("edit_file", "not_found", {"path": "a.py", "old": "nowhere to be found", "new": "x"}),
    ("edit_lines", "bad_input", {"path": "a.py", "operation": "delete", "start": 900}),
    ("file_info", "not_found", {"path": "none"}),
    ("find_files", "not_found", {"query": "x", "path": "none"}),
    ("find_symbol", "not_found", {"name": "x", "path": "none"}),
    ("find_usages", "not_found", {"name": "f", "path": "none.py"}),
    ("get_workspace", "bad_input", {"no_such_argument": 1}),
    ("list_backups", "bad_input", {"sort": "colour"}),
    ("list_changes", "path_denied", {"path": "/etc"}),
    ("list_directory", "not_found", {"path": "none"}),
    ("make_directory", "conflict", {"path": "a.py"}),
    ("manage_profiles", "not_found", {"action": "switch", "name": "none"}),
    ("move_path", "conflict", {"source": "a.py", "destination": "b.py"}),
    ("project_overview", "not_found", {"path": "none"}),
    ("read_file", "path_denied", {"path": "/etc/passwd"}),
    ("refactor_code", "not_found", {"path": "none.py", "operation": "unused_import_cleanup"}),
    ("rename_symbol", "not_found", {"name": "none", "new_name": "x", "path": "a.py"}),
    ("replace_in_files", "bad_input", {"pattern": "(a", "replacement": "x"}),
    ("restore_backup", "not_found", {"name": "none", "confirm": True}),
    ("search_files", "not_found", {"pattern": "x", "path": "none"}),
    ("undo_changes", "no_results", {}),
    ("watch_paths", "not_found", {"action": "start", "path": "none"}),
    ("write_file", "path_denied", {"path": ".git/hooks/pre-commit", "content": "x"}),
]


async def test_every_tool_refuses_something(tmp_path: Path, hint) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("def f():\n    return 1\n")
    (folder / "b.py").write_text("x = 1\n")
    with zipfile.ZipFile(folder / "evil.zip", "w") as archive:
        archive.writestr("../evil", "x")
    held = {path.name: path.read_bytes() for path in folder.iterdir()}
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
        "policy": {"rules": [{"action": "allow", "tool": "delete_backup"}]},
    }
    wrong = []
    async with stdio(config, tmp_path, MODERN) as send:
        for name, code, arguments in REFUSED:
            outcome = await send(name, arguments)
            if outcome.code != code:
                wrong.append((name, outcome.code, outcome.text[:200]))
            elif len(outcome.text.splitlines()) < 2 or "Traceback" in outcome.text:
                wrong.append((name, "no hint", outcome.text[:200]))
    assert wrong == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == held
    wanted = {tool.name for tool in Registry(installed()) if tool.group in GROUPS}
    assert {name for name, _, _ in REFUSED} <= wanted
    for name in sorted(wanted - {name for name, _, _ in REFUSED}):
        hint(f"{name}: no refusal of it is tried over MCP; add a line to REFUSED in {__name__}")
