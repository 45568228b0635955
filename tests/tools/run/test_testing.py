"""run_tests and lint_project: what runners print, and real projects."""

from __future__ import annotations

import json
import shutil
import sys
import venv
from pathlib import Path

import pytest

from toolcrib import Toolbox
from toolcrib.execution.interpreters.programs import how_to_get, not_installed
from toolcrib.tools.run import runner_output
from toolcrib.tools.run.lint_project import problems_in

pytestmark = [pytest.mark.rows("C076", "E37", "E38"), pytest.mark.timeout(120)]

PYTEST = """.F.sE                                                          [100%]
=================================== FAILURES ===================================
_________________________________ TestA.test_b _________________________________
tests/test_a.py:9: in test_b
    assert 1 == 2
E   assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_a.py::TestA::test_b - assert 1 == 2
ERROR tests/test_c.py - ImportError: no
1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error in 0.12s
"""
UNITTEST = """test_a (t.T.test_a) ... ok
======================================================================
FAIL: test_b (t.T.test_b)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 4 tests in 0.001s

FAILED (failures=1, skipped=1, expected failures=1)
"""
CARGO = """running 3 tests
test tests::a ... ok
test tests::b ... FAILED

failures:

---- tests::b stdout ----
thread 'tests::b' panicked at src/lib.rs:5:9:
left: 1

failures:
    tests::b

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
"""
GO = "\n".join(
    json.dumps(event)
    for event in (
        {"Action": "run", "Package": "p", "Test": "TestA"},
        {"Action": "pass", "Package": "p", "Test": "TestA"},
        {"Action": "output", "Package": "p", "Test": "TestB", "Output": "    b_test.go:5: wrong\n"},
        {"Action": "fail", "Package": "p", "Test": "TestB"},
        {"Action": "skip", "Package": "p", "Test": "TestC"},
        {"Action": "fail", "Package": "p"},
        {"Action": "output", "Package": "q", "Output": "q.go:1: syntax error\n"},
        {"Action": "fail", "Package": "q"},
    )
)
JEST = "noise\n" + json.dumps(
    {
        "numTotalTests": 4,
        "numPassedTests": 2,
        "numFailedTests": 1,
        "numPendingTests": 1,
        "testResults": [
            {
                "assertionResults": [
                    {"status": "failed", "fullName": "a b", "failureMessages": ["E"]}
                ]
            }
        ],
    }
)
MOCHA = json.dumps(
    {
        "stats": {"passes": 1, "failures": 1, "pending": 2},
        "failures": [{"fullTitle": "x y", "err": {"message": "boom"}}],
    }
)


@pytest.mark.parametrize(
    ("understood", "text", "counts", "failures"),
    [
        (
            runner_output.pytest,
            PYTEST,
            (2, 2, 2),
            [("tests/test_a.py::TestA::test_b", "assert 1 == 2")],
        ),
        (
            runner_output.unittest,
            UNITTEST,
            (1, 1, 2),
            [("test_b (t.T.test_b)", "AssertionError: 1 != 2")],
        ),
        (runner_output.cargo, CARGO, (3, 1, 1), [("tests::b", "panicked at src/lib.rs:5:9")]),
        (
            runner_output.go,
            GO,
            (1, 2, 1),
            [("p.TestB", "b_test.go:5: wrong"), ("q", "syntax error")],
        ),
        (runner_output.jest, JEST, (2, 1, 1), [("a b", "E")]),
        (runner_output.mocha, MOCHA, (1, 1, 2), [("x y", "boom")]),
    ],
)
def test_outputs_are_understood(understood, text, counts, failures) -> None:  # type: ignore[no-untyped-def]
    totals = understood(text)
    assert (totals.passed, totals.failed, totals.skipped) == counts
    for (name, message), found in zip(failures, totals.failures, strict=False):
        assert found.name == name
        assert message in found.message


@pytest.mark.parametrize("text", ["", "{", "{" * 5000, "nothing", "in 0.1s", '{"Action": 1}'])
def test_any_output_is_taken(text: str) -> None:
    for understood in (
        runner_output.pytest,
        runner_output.unittest,
        runner_output.cargo,
        runner_output.go,
    ):
        assert understood(text).count == 0
    for understood in (runner_output.jest, runner_output.mocha, runner_output.tap):
        assert understood(text).count == 0


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a.py:1:2: E501 too long", ("a.py", 1, 2)),
        ("a.py:3: error: bad  [misc]", ("a.py", 3, 1)),
        ("/x/a.js\n  4:5  error  Unexpected var  no-var", ("/x/a.js", 4, 5)),
        ("warning: unused\n  --> src/main.rs:6:7", ("src/main.rs", 6, 7)),
        ("vet: ./a.go:8:9: undefined: x", ("vet: ./a.go", 8, 9)),
    ],
)
def test_places_of_problems(line: str, place: tuple[str, int, int]) -> None:
    found = problems_in(line)
    assert [(p.line, p.column) for p in found] == [place[1:]]


def root(box: Toolbox) -> Path:
    return Path(box.config.workspace.roots[0])


async def test_a_project_of_pytest(box: Toolbox) -> None:
    tests = root(box) / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text(
        "import os, pytest\n\ndef test_ci():\n    assert os.environ['CI'] == 'true'\n\n"
        "def test_bad():\n    assert 1 == 2, 'numbers differ'\n\n"
        "@pytest.mark.skip\ndef test_later():\n    pass\n"
    )
    result = await box.call("run_tests", {})
    assert result.error is None
    assert result.text.startswith("FAILED (pytest): 1 passed, 1 failed, 1 skipped")
    assert "numbers differ" in result.text.split("[exit code")[0]
    assert result.data["success"] is False
    assert result.data["failures"][0]["name"].endswith("::test_bad")
    one = await box.call("run_tests", {"path": "tests/test_a.py", "framework": "auto"})
    assert "1 failed" in one.text
    assert not list(root(box).rglob("__pycache__"))


async def test_a_project_of_unittest(box: Toolbox) -> None:
    (root(box) / "test_u.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_ok(self): pass\n    def test_no(self): self.assertEqual(1, 2)\n"
    )
    result = await box.call("run_tests", {})
    assert result.text.startswith("FAILED (unittest): 1 passed, 1 failed, 0 skipped")
    assert "1 != 2" in result.text


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not on this machine")
async def test_a_project_of_node(box: Toolbox) -> None:
    (root(box) / "package.json").write_text('{"scripts": {"test": "node --test"}}')
    (root(box) / "a.test.js").write_text(
        "const {test} = require('node:test'); const assert = require('node:assert');\n"
        "test('fine', () => {}); test('wrong', () => assert.equal(1, 2));\n"
    )
    result = await box.call("run_tests", {})
    assert result.text.startswith("FAILED (node): 1 passed, 1 failed, 0 skipped"), result.text
    assert "--- wrong" in result.text


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not on this machine")
async def test_other_suites_of_a_project_are_named(box: Toolbox) -> None:
    (root(box) / "package.json").write_text('{"scripts": {"test": "echo 1 passing"}}')
    (root(box) / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n")
    (root(box) / "tests").mkdir()
    (root(box) / "tests/test_a.py").write_text(
        "import pytest\n\ndef test_a():\n    assert False\n\n"
        "@pytest.mark.xfail\ndef test_later():\n    assert False\n"
    )
    result = await box.call("run_tests", {})
    assert result.text.startswith("PASSED (command)"), result.text
    assert 'Not run, though its files are here too: runner="pytest".' in result.text
    assert result.data["other_runners"] == ["pytest"]
    other = await box.call("run_tests", {"runner": "pytest"})
    assert other.text.startswith("FAILED (pytest): 0 passed, 1 failed, 1 skipped"), other.text
    assert "Not run" not in other.text
    bare = await box.call("run_tests", {"runner": "npm"})
    assert bare.data["command"][-1] == "npm test"
    alone = await box.call("run_tests", {"path": "tests"})
    assert alone.text.startswith("FAILED (pytest): 0 passed, 1 failed, 1 skipped")
    assert "Not run" not in alone.text


async def test_a_command_as_runner(box: Toolbox) -> None:
    command = "echo line; test $CI = true"
    result = await box.call("run_test_command", {"command": command})
    assert result.text.startswith("PASSED (command)")
    assert result.data["success"] is True
    failed = await box.call("run_tests", {"runner": "exit 1"})
    assert failed.data["success"] is False


async def test_what_has_no_tests_or_linter_says_so(box: Toolbox) -> None:
    for tool in ("run_tests", "lint_project"):
        result = await box.call(tool, {})
        assert result.error is not None
        assert result.error.code == "bad_input"
        missing = await box.call(tool, {"path": "nowhere"})
        assert missing.error is not None
        assert missing.error.code == "not_found"


async def test_no_tests_are_no_failure(box: Toolbox) -> None:
    (root(box) / "test_a.py").write_text("import pytest\n")
    for runner in ("", "unittest", f"{sys.executable} -m pytest -k nothing"):
        result = await box.call("run_tests", {"runner": runner})
        assert result.text.startswith("NO TESTS ("), result.text
    (root(box) / "test_a.py").write_text("import nothing_like_it, pytest\n")
    for runner in ("", f"{sys.executable} -m pytest no_such_folder"):
        result = await box.call("run_tests", {"runner": runner})
        assert result.text.startswith("FAILED ("), result.text


async def test_a_missing_runner_is_one_line(box: Toolbox) -> None:
    (root(box) / "package.json").write_text('{"devDependencies": {"jest": "1"}}')
    result = await box.call("run_tests", {})
    assert result.error is not None
    assert result.error.code == "unavailable"
    assert result.error.message == "jest is not installed."
    assert result.error.hint == "Install it in the project: npm install --save-dev jest."


@pytest.mark.parametrize("name", ["ruff", "no_such_linter"])
def test_what_is_missing_is_said_with_where_it_goes(name: str) -> None:
    error = not_installed(name)
    assert error.message == f"{name} is not installed."
    if name == "ruff":
        assert error.hint == (
            'Install it in the workspace\'s .venv, by run_command with network=["packages"]: '
            "python3 -m venv .venv; .venv/bin/pip install ruff."
        )
        assert how_to_get(name) == f"{error.message} {error.hint}".rstrip(".")


@pytest.mark.skipif(not shutil.which("ruff"), reason="ruff is not on PATH")
async def test_a_project_of_ruff(box: Toolbox) -> None:
    (root(box) / "ruff.toml").write_text("")
    (root(box) / "a.py").write_text("import os\n")
    result = await box.call("lint_project", {})
    assert result.error is None
    assert "ruff: 1 problem\n" in result.text
    assert "a.py:1:8: F401" in result.text
    assert result.data["clean"] is False
    (root(box) / "a.py").write_text("x = 1\n")
    assert "no problems" in (await box.call("lint_project", {"path": "a.py"})).text


async def test_a_python_without_the_runner_has_run_no_tests(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_a.py").write_text("def test_a(): pass\n")
    venv.create(folder / ".venv", with_pip=False)
    store = {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    async with Toolbox(store, workspace=folder) as box:
        result = await box.call("run_tests", {})
        other = await box.call("run_tests", {"runner": "unittest"})
    assert other.text.startswith("NO TESTS (unittest): none were found")
    assert result.error is not None
    assert result.error.code == "unavailable"
    assert "has no pytest" in result.error.message
    assert ".venv/bin/pip install pytest" in result.error.hint


async def test_code_beside_the_tests_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    for name, text in {
        "proj/shop/__init__.py": "def price():\n    return 1\n",
        "proj/tests/test_f.py": "from shop import price\n\ndef test_f():\n    assert price()\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    store = {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    for settings in (store, {**store, "run": {"python": sys.executable}}):
        async with Toolbox(settings, workspace=folder) as box:
            for path in ("proj", "proj/tests", "proj/tests/test_f.py"):
                result = await box.call("run_tests", {"path": path})
                assert result.text.startswith("PASSED (pytest): 1 passed"), result.render()
            await box.call("change_directory", {"path": "proj"}, session="inside")
            result = await box.call("run_tests", {}, session="inside")
            assert result.text.startswith("PASSED (pytest): 1 passed"), result.render()


async def test_modules_of_python_and_of_the_environment_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    for name, text in {
        "lib/helper.py": "NUMBER = 1\n",
        "proj/random.py": "raise SystemExit('not of Python')\n",
        "proj/src/inner.py": "",
        "proj/tests/test_f.py": "import helper\n\ndef test_f():\n    assert helper.NUMBER\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder / "lib"))
    settings = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "run": {"environment": ["PYTHONPATH"]},
    }
    async with Toolbox(settings, workspace=folder) as box:
        result = await box.call("run_tests", {"path": "proj"})
        assert result.text.startswith("PASSED (pytest): 1 passed"), result.render()
        (folder / "proj/pytest.ini").write_text("[pytest]\npythonpath = src\n")
        (folder / "proj/tests/test_g.py").write_text("import inner\n\ndef test_g(): pass\n")
        result = await box.call("run_tests", {"path": "proj"})
        assert result.text.startswith("PASSED (pytest): 2 passed"), result.render()


async def test_a_runner_that_cannot_start_has_run_no_tests(box: Toolbox) -> None:
    for runner, code in (("no_such_runner --all", 127), ("/etc/passwd", 126)):
        result = await box.call("run_tests", {"runner": runner})
        assert result.error is not None and result.error.code == "unavailable", result.text
        assert f"could not start (exit code {code})" in result.error.message
