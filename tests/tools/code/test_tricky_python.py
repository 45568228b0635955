"""Changes of tricky Python: what the program prints stays, or the change is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.code.programs import contents, fill
from tests.tools.code.tricky_python import PROGRAMS, REFUSED, Program
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C083", "E41")


def run(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "main.py"], cwd=folder, capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: f"{p[3].split('_')[0]}:{p[0]}")
async def test_a_change_keeps_the_program_or_is_refused(
    ws: Path, box: Toolbox, program: Program
) -> None:
    label, files, path, operation, given = program
    fill(ws, files)
    before, texts = run(ws), contents(ws)
    result = await box.call("refactor_code", {"path": path, "operation": operation, **given})
    if result.error is None:
        assert run(ws) == before, result.data["diff"]
    else:
        assert result.error.code != "internal"
        assert result.error.hint
        assert contents(ws) == texts
        assert f"{operation.split('_')[0]}:{label}" in REFUSED, result.error.message


NEWER = [
    ("type Vector = list[float]\nx = 1\n", "a type statement needs Python 3.12"),
    ("type Pair[A] = tuple[A, A]\n", "a type statement needs Python 3.12"),
    ("def first[T](a: list[T]) -> T:\n    return a[0]\n", "type parameters need Python 3.12"),
    ("class Box[T]:\n    value: T\n", "type parameters need Python 3.12"),
    ("x = 'a'\nprint(f'{x + 'b'}')\n", "not valid Python before 3.12"),
    ("x = t'{1}'\n", "a t-string needs Python 3.14"),
]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
@pytest.mark.parametrize(("text", "why"), NEWER)
async def test_the_syntax_of_a_newer_python_is_told(
    ws: Path, box: Toolbox, text: str, why: str
) -> None:
    fill(ws, {"a.py": text, "b.py": "def other():\n    return 1\n"})
    result = await box.call("refactor_code", {"path": "a.py", "operation": "unused_import_cleanup"})
    assert result.error is not None
    assert result.error.code == "unsupported_content"
    assert why in result.error.message
    assert "Run toolcrib on that Python" in result.error.hint
    renamed = await box.call(
        "rename_symbol", {"name": "other", "new_name": "else_", "path": "b.py"}
    )
    assert renamed.error is None, renamed.render()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
async def test_a_rename_that_such_a_file_may_need_is_refused(ws: Path, box: Toolbox) -> None:
    fill(
        ws, {"a.py": "from b import other\ntype T = int\n", "b.py": "def other():\n    return 1\n"}
    )
    before = contents(ws)
    result = await box.call("rename_symbol", {"name": "other", "new_name": "else_", "path": "b.py"})
    assert result.error is not None
    assert "needs Python 3.12" in result.error.message
    assert contents(ws) == before
