"""run_tests starts in the root of the project, whatever path it is given."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolbox

pytestmark = [pytest.mark.rows("C076", "E37"), pytest.mark.timeout(120)]
PATHS = ["", "tests", "tests/test_mod.py", "tests/test_mod.py::test_f"]
PYTEST = "from mod import f\n\ndef test_f():\n    assert f() == open('data').read()\n"
UNITTEST = (
    "import unittest\nfrom mod import f\nclass T(unittest.TestCase):\n"
    "    def test_f(self): self.assertEqual(f(), open('data').read())\n"
)


def project(box: Toolbox, at: str, marks: list[str], tests: str) -> Path:
    root = Path(box.config.workspace.roots[0], at)
    (root / "tests").mkdir(parents=True)
    (root / "mod.py").write_text("def f(): return 'x'\n")
    (root / "data").write_text("x")
    (root / "tests/test_mod.py").write_text(tests)
    for mark in marks:
        place = root / mark
        place.mkdir() if mark == ".git" else place.write_text("")
    return root


async def one_passes(box: Toolbox, **arguments: Any) -> None:
    result = await box.call("run_tests", arguments)
    assert result.error is None, result.render()
    assert ": 1 passed, 0 failed" in result.text, result.render()


@pytest.mark.parametrize("path", PATHS)
async def test_from_the_root_of_a_plain_project(box: Toolbox, path: str) -> None:
    project(box, "", ["conftest.py"], PYTEST)
    await one_passes(box, **({"path": path} if path else {}))


@pytest.mark.parametrize("marks", [["conftest.py"], ["pyproject.toml"], [".git"], ["setup.cfg"]])
async def test_from_the_root_of_a_project_below(box: Toolbox, marks: list[str]) -> None:
    project(box, "a", [*marks, "tests/conftest.py"], PYTEST)
    for path in PATHS:
        await one_passes(box, path="/".join(part for part in ("a", path) if part))


async def test_a_project_goes_before_what_lies_around_it(box: Toolbox) -> None:
    root = project(box, "a", [".git"], PYTEST)
    (root.parent / "pyproject.toml").write_text("")
    await one_passes(box, path="a/tests/test_mod.py")


@pytest.mark.parametrize("package", [False, True])
async def test_unittest_likewise(box: Toolbox, package: bool) -> None:
    project(box, "", ["tests/__init__.py"] if package else [], UNITTEST)
    for path in ("tests", "tests/test_mod.py"):
        await one_passes(box, path=path)
        await one_passes(box, path=path, runner="unittest")


async def test_unittest_finds_what_lies_beside_a_test(box: Toolbox) -> None:
    root = project(box, "", [], UNITTEST.replace("from mod", "from beside"))
    (root / "mod.py").rename(root / "tests/beside.py")
    await one_passes(box, path="tests/test_mod.py")


async def test_one_test_is_run_though_the_runner_is_named(box: Toolbox) -> None:
    project(box, "", ["conftest.py"], PYTEST + "\ndef test_other():\n    assert False\n")
    await one_passes(box, path="tests/test_mod.py::test_f", runner="pytest")


async def test_a_folder_without_a_mark_is_run_from_the_present_one(box: Toolbox) -> None:
    project(box, "", [], PYTEST)
    await one_passes(box, path="tests/test_mod.py")


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not on this machine")
async def test_node_from_where_its_package_is(box: Toolbox) -> None:
    root = Path(box.config.workspace.roots[0], "a")
    (root / "tests").mkdir(parents=True)
    (root / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (root / "data").write_text("x")
    (root / "tests/a.test.js").write_text(
        "require('node:test').test('t', () => { require('node:fs').readFileSync('data'); });\n"
    )
    await one_passes(box, path="a/tests/a.test.js")
    await one_passes(box, path="a/tests/a.test.js", runner="node")
