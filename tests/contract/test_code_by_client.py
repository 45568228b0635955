"""The tools of the group code, used by a real client on a project of two languages."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, Outcome, stdio

pytestmark = [pytest.mark.timeout(180), pytest.mark.rows("E41", "C083")]

FILES = {
    "app/main.py": "import json\nimport os\nfrom app.prices import total\n\nprint(total([1, 2]), os.sep)\n",
    "app/__init__.py": "",
    "app/prices.py": "RATE = 2\n\n\ndef total(items):\n    return sum(items) * RATE\n\n\ndef label(text):\n    return text.upper()\n",
    "web/package.json": '{"type": "module"}\n',
    "web/main.js": "import { greet, shout } from './words.js';\nimport fs from 'node:fs';\nconst name = 'x';\nconst text = greet(name);\nconsole.log(text, shout(text));\n",
    "web/words.js": "export const greet = (name) => `hello ${name}`;\nexport function shout(text) {\n  return text.toUpperCase();\n}\n",
    "web/view.ts": "import { Shape, area } from './shapes';\n\nexport function show(shape: Shape): string {\n  return `${shape.kind} ${area(shape)}`;\n}\n",
    "web/shapes.ts": "export interface Shape { kind: string; side: number }\nexport function area(shape: Shape): number {\n  return shape.side ** 2;\n}\n",
}


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def reply(folder: Path) -> str:
    reported = subprocess.run(
        [sys.executable, "-B", "-m", "app.main"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert reported.returncode == 0, reported.stderr
    node = shutil.which("node")
    if node is None:
        return reported.stdout
    more = subprocess.run(
        [node, "web/main.js"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert more.returncode == 0, more.stderr
    return reported.stdout + more.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "work"


CHANGES: list[tuple[str, dict[str, Any], Callable[[dict[str, str]], bool]]] = [
    ("rename_symbol", {"name": "total", "new_name": "grand_total"}, lambda f: "import grand_total" in f["app/main.py"]),
    ("rename_symbol", {"name": "Shape", "new_name": "Figure"}, lambda f: "shape: Figure" in f["web/view.ts"]),
    ("refactor_code", {"path": "app/main.py", "operation": "unused_import_cleanup"}, lambda f: "json" not in f["app/main.py"]),
    ("refactor_code", {"path": "web/main.js", "operation": "unused_import_cleanup"}, lambda f: "fs" not in f["web/main.js"]),
    ("refactor_code", {"path": "web/words.js", "operation": "move_function", "name": "shout", "target": "web/loud.js"}, lambda f: "from './loud.js'" in f["web/main.js"]),
    ("refactor_code", {"path": "web/shapes.ts", "operation": "move_function", "name": "area", "target": "web/area.ts"}, lambda f: "import type { Shape } from './shapes';" in f["web/area.ts"]),
    ("refactor_code", {"path": "app/prices.py", "operation": "move_function", "name": "label", "target": "app/labels.py"}, lambda f: "def label" in f["app/labels.py"]),
    ("refactor_code", {"path": "web/main.js", "operation": "extract_function", "start": 3, "end": 4, "new_name": "prepared"}, lambda f: "const text = prepared();" in f["web/main.js"]),
]  # fmt: skip


async def test_a_model_changes_code_over_stdio(folder: Path, tmp_path: Path) -> None:
    before, output = contents(folder), reply(folder)
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
    }
    async with stdio(config, tmp_path, MODERN) as send:

        async def asks(name: str, /, **arguments: Any) -> Outcome:
            outcome: Outcome = await send(name, arguments)
            assert outcome.code is None, (name, arguments, outcome.text)
            return outcome

        outline = (await asks("code_outline", path="web/shapes.ts")).text
        assert re.search(r"^2: .*function area", outline, re.MULTILINE)
        assert "app/prices.py:4" in (await asks("find_symbol", name="total")).text
        uses = (await asks("find_usages", name="total", path="app/prices.py", limit=1)).text
        assert "To go on: find_usages" in uses
        following = json.loads(
            re.search(r"^To go on: find_usages (\{.*\})$", uses, re.MULTILINE)[1]
        )  # type: ignore[index]
        assert "app/main.py:3" in (await asks("find_usages", **following)).text
        for name, arguments, is_done in CHANGES:
            displayed = await asks(name, **arguments, dry_run=True)
            assert "Nothing is changed yet" in displayed.text
            assert contents(folder) == before
            await asks(name, **arguments)
            after = contents(folder)
            assert is_done(after), after
            assert reply(folder) == output
            await asks("undo_changes")
            assert contents(folder) == before
        refused = await send(
            "refactor_code",
            {
                "path": "web/words.js",
                "operation": "move_function",
                "name": "none",
                "target": "a.js",
            },
        )
        assert refused.code == "not_found"
        assert contents(folder) == before
