"""A working day by the library, as a program of its own: `other_system.py` runs it elsewhere.

    session.py WORKSPACE PAGE_ORIGIN PLATFORM

Prints one JSON object: the error code of each step ("" where it went well), and what was found.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from toolcrib.files.handles import best_opener
from toolcrib.toolbox import Toolbox

PYTHON = "class Crib:\n    def issue(self, name):\n        return name\n\n\nCrib().issue('file')\n"


STEPS: list[tuple[str, str, dict[str, Any]]] = [
    ("write", "write_file", {"path": "src/main.py", "content": PYTHON}),
    ("lines", "write_file", {"path": "dos.txt", "content": "one\r\ntwo\r\n"}),
    ("edit", "edit_file", {"path": "dos.txt", "old": "two", "new": "three"}),
    ("read", "read_file", {"path": "src/main.py"}),
    ("list", "list_directory", {"path": ".", "depth": 3}),
    ("find", "find_files", {"query": "main"}),
    ("search", "search_files", {"pattern": "def issue"}),
    ("copy", "copy_path", {"source": "src", "destination": "copy"}),
    ("move", "move_path", {"source": "copy/main.py", "destination": "copy/Moved.py"}),
    ("archive", "archive_files", {"action": "pack", "archive": "a.zip", "paths": ["copy"]}),
    ("unpack", "archive_files", {"action": "unpack", "archive": "a.zip", "folder": "out"}),
    ("backup", "create_backup", {"name": "before", "paths": ["src"]}),
    ("delete", "delete_path", {"path": "src"}),
    ("undo", "undo_changes", {}),
    ("again", "delete_path", {"path": "src"}),
    ("restore", "restore_backup", {"name": "before", "confirm": True}),
    ("protected", "read_file", {"path": ".Env.Local"}),
    ("git", "write_file", {"path": ".GIT/config", "content": "x"}),
    ("outside", "read_file", {"path": "../outside.txt"}),
    ("link", "read_file", {"path": "link.txt"}),
    ("linked folder", "list_directory", {"path": "away"}),
    ("through a link", "write_file", {"path": "away/new.txt", "content": "x"}),
    ("second name", "write_file", {"path": "hard.txt", "content": "x"}),
    ("delete a link", "delete_path", {"path": "away"}),
    ("outline", "code_outline", {"path": "src/main.py"}),
    ("symbol", "find_symbol", {"name": "issue"}),
    ("rename", "rename_symbol", {"path": "src/main.py", "name": "issue", "new_name": "lend"}),
    ("page", "fetch_url", {"url": "ORIGIN/page"}),
    ("document", "read_document", {"path": "sheet.csv"}),
    ("javascript", "run_javascript", {"code": "console.log(6 * 7)"}),
    ("python", "run_python", {"code": "print(6 * 7)"}),
    ("command", "run_command", {"command": "echo hello"}),
    ("tests", "run_tests", {"path": ".", "runner": "pytest"}),
    ("lint", "lint_project", {"path": "."}),
    ("terminal", "start_terminal", {"command": "echo hello"}),
    ("history", "usage_stats", {}),
]
ON_WINDOWS: list[tuple[str, str, dict[str, Any]]] = [
    ("backslashes", "read_file", {"path": "src\\main.py"}),
    ("drive", "read_file", {"path": "C:\\Windows\\win.ini"}),
    ("share", "read_file", {"path": "\\\\server\\share\\a.txt"}),
    ("device", "write_file", {"path": "src/nul.txt", "content": "x"}),
    ("stream", "write_file", {"path": "a.txt:hidden", "content": "x"}),
    ("dot", "write_file", {"path": "a.txt.", "content": "x"}),
]


async def main(workspace: Path, origin: str, platform: str) -> dict[str, Any]:
    codes: dict[str, str] = {}
    texts: dict[str, str] = {}
    config = {
        "egress": {"allow_hosts": [origin.removeprefix("http://")]},
        "policy": {"default": "allow"},
        "run": {"level": "none" if platform == "darwin" else "auto"},
        "web": {"fetch": {"host_gap_seconds": 0}},
    }
    async with Toolbox(config, workspace=workspace) as box:
        for label, tool, arguments in STEPS + (ON_WINDOWS if platform == "win32" else []):
            if "url" in arguments:
                arguments["url"] = arguments["url"].replace("ORIGIN", origin)
            result = await box.call(tool, arguments)
            codes[label] = result.error.code if result.error else ""
            hint = f" {result.error.hint}" if result.error else ""
            texts[label] = f"{result.text}{hint}"[:2000]
    return {
        "codes": codes,
        "texts": texts,
        "opener": type(best_opener()).__name__,
        "left": sorted(os.listdir(workspace)),
    }


if __name__ == "__main__":
    found = asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
    sys.stdout.write(json.dumps(found))
