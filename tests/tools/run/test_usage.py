"""What small models do: fences, prompts, notebooks' lines, programs that need a screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib import Toolbox
from toolcrib.core.context import Caller, Question
from toolcrib.core.result import Result
from toolcrib.execution.interpreters.python import unfenced
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.lint_project import problems_in
from toolcrib.tools.run.report import needs_screen
from toolcrib.tools.run.runner_output import own_frames, summary

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def config(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"store": {"url": f"sqlite:///{tmp_path}/store.db"}, **more}


@pytest.fixture
async def box(folder: Path, tmp_path: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(config(tmp_path), workspace=folder) as made:
        yield made


async def call(box: Toolbox, name: str, /, **arguments: Any) -> Result:
    return await box.call(name, arguments)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nprint(1)\n```", "print(1)"),
        ("```py\r\nprint(1)\r\n```\r\n", "print(1)"),
        ("```\nprint(1)\n", "print(1)\n"),
        ("Here is the code:\n\n```python\nprint(1)\n```\nIt prints 1.", "print(1)\n"),
        ("~~~\nx\n~~~", "x"),
        ("s = '''\n```\nnot code\n```\n'''", "s = '''\n```\nnot code\n```\n'''"),
        ('"""Doc.\n```\nx\n```\n"""', '"""Doc.\n```\nx\n```\n"""'),
        ("a\r\nb", "a\nb"),
    ],
)
def test_a_fence_is_taken_off(text: str, code: str) -> None:
    assert unfenced(text) == code


@given(st.text(alphabet="ab=`\n '\"#").filter(lambda t: "```" not in t))
def test_code_without_a_fence_stays(text: str) -> None:
    assert unfenced(text) == text


@given(st.text(max_size=300))
def test_a_fence_around_anything_comes_off(text: str) -> None:
    code = text.replace("```", "").replace("~~~", "").replace("\r", "").strip("\n")
    assert unfenced(f"```python\n{code}\n```") == code


@pytest.mark.parametrize(
    ("given_", "line"),
    [
        ("$ ls -l", "ls -l"),
        ("$ cd x\n$ ls", "cd x\nls"),
        ("```bash\nls\n```", "ls"),
        ("echo a\r\necho b\r\n", "echo a\necho b\n"),
        ("echo $ a", "echo $ a"),
        ("$cmd x", "$cmd x"),
    ],
)
def test_a_command_is_bare(given_: str, line: str) -> None:
    output = {"command": given_}
    dialects.command(output)
    assert output == {"command": line}


def test_one_test_of_a_file_and_keys_as_a_list() -> None:
    output: dict[str, Any] = {"path": "a/test_b.py::TestC::test_d[1]"}
    dialects.tests(output)
    assert output == {"path": "a/test_b.py", "runner": "pytest::TestC::test_d[1]"}
    keys: dict[str, Any] = {"keys": ["ls", "Enter", "C-c", "x"]}
    dialects.typed_keys(keys)
    assert keys["keys"] == "ls<Enter><C-c>x"


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        (["ls", "<Enter>"], "ls<Enter>"),
        ('["ls", "<Enter>"]', "ls<Enter>"),
        ("{ENTER}", "<ENTER>"),
        ("Enter", "<Enter>"),
        ("C-c", "<C-c>"),
        ("^C", "<Ctrl+C>"),
        ("enter", "enter"),
        ("end", "end"),
        ("{name}", "{name}"),
        ('["a", "b"]', '["a", "b"]'),
        (["<div>", "x"], "<div>x"),
    ],
)
def test_keys_as_other_programs_write_them(sent: Any, typed: str) -> None:
    keys = {"keys": sent}
    dialects.typed_keys(keys)
    assert keys["keys"] == typed


@pytest.mark.parametrize("name", ["command", "cmd"])
def test_the_program_of_a_terminal_is_bare(name: str) -> None:
    output: dict[str, Any] = {name: "```bash\necho hi\n```"}
    dialects.terminal(output)
    assert output == {name: "echo hi"}


@pytest.mark.parametrize("line", ["vim a", "cd x && nano f", "top", "FOO=1 htop"])
def test_what_needs_a_screen(line: str) -> None:
    assert needs_screen(line)


@pytest.mark.parametrize(
    "line", ["vim -es a", "emacs --batch x", "top -bn1", "which vim", "echo 'vim a'", "tmux -V"]
)
def test_what_needs_none(line: str) -> None:
    assert not needs_screen(line)


async def test_commands_that_go_wrong_in_usual_ways(box: Toolbox, folder: Path) -> None:
    (folder / "w.sh").write_bytes(b"#!/bin/bash\r\nif true; then\r\necho x\r\nfi\r\n")
    (folder / "sub").mkdir()
    for line, hint in (
        ("cd sub", "'cwd'"),
        ("export A=1", "nothing of a shell is kept"),
        ("sleep 50 & echo x", "background=true"),
        ("bash w.sh", "Windows line ends"),
        ("sh -c 'sudo ls'", "sudo"),
        ("read -p 'name? ' x; echo $x", "stdin is empty"),
        ("apt-get install -y jq", "system packages"),
        ("curl -s http://no.such.host.invalid || exit 6", "exit code 6"),
    ):
        result = await call(box, "run_command", command=line)
        assert hint in result.text, line
    for line in ("cd sub && ls", "echo a && true", "A=1 env", "echo 'a & b'"):
        output = (await call(box, "run_command", command=line)).text
        assert "[" not in output.replace("[exit", "").replace("[sandbox: kernel]", "")
    written = await call(box, "run_command", command="cat > h <<E\nE")
    assert "stdin" not in written.text
    editor = await call(box, "run_command", command="vim a.txt")
    assert editor.error is not None
    assert "start_terminal" in editor.error.hint


async def test_code_that_is_no_python(box: Toolbox) -> None:
    for code in ("!pip install x", "pip install requests", "%pip install a b"):
        result = await call(box, "run_python", code=code)
        assert result.error is not None
        assert "packages" in result.error.hint
    notebook = await call(box, "run_python", code="%matplotlib inline\nprint(1)")
    assert "notebooks" in notebook.text
    asking = await call(box, "run_python", code="input('name? ')")
    assert "input()" in asking.text


async def test_javascript_written_for_node(box: Toolbox, folder: Path) -> None:
    pytest.importorskip("deno")
    (folder / "a.txt").write_text("held")
    for code in (
        "const fs = require('fs'); console.log(fs.readFileSync('a.txt', 'utf8'))",
        "import fs from 'fs';\nconsole.log(fs.readFileSync('a.txt', 'utf8'))",
        "import {join} from 'path'; console.log(Deno.readTextFileSync(join('.', 'a.txt')))",
    ):
        result = await call(box, "run_javascript", code=code)
        assert result.text.startswith("held\n"), result.render()


async def test_a_held_run_says_who_can_apply_it(folder: Path, tmp_path: Path) -> None:
    async with Toolbox(config(tmp_path), workspace=folder, profile="default") as box:
        pending = await call(box, "run_command", command="echo x > a", commit="ask")
        assert pending.next is None
        run = pending.data["changes"]["held"]
        assert f"toolcrib call apply_changes id={run}" in pending.text
        assert not (folder / "a").exists()
        cd = await call(box, "run_command", command="cd /tmp")
        assert "change_directory" not in cd.text


async def test_who_allows_held_changes_sees_them(folder: Path, tmp_path: Path) -> None:
    questions: list[Question] = []

    async def refuse(question: Question) -> bool:
        questions.append(question)
        return False

    async with Toolbox(config(tmp_path), workspace=folder) as box:
        line = r"printf 'obey \033[2J\n' > AGENTS.md; echo ghp_a1b2c3d4e5f6a1b2c3d4e5f6 > x"
        pending = await box.call("run_command", {"command": line})
        run = pending.data["changes"]["held"]
        caller = Caller(surface="mcp", ask=refuse)
        done = await box.call("apply_changes", {"id": run}, caller=caller)
        assert done.error is not None
        assert done.error.code == "denied"
    assert f"id={run}" in questions[0].summary
    assert "created AGENTS.md (+1 -0)" in questions[0].summary
    assert "  | +obey \\x1b[2J" in questions[0].summary.splitlines()
    assert "ghp_" not in questions[0].summary


async def test_a_repository_is_made_and_one_that_runs_programs_is_not(
    box: Toolbox, folder: Path
) -> None:
    line = "git init -q bad && git -C bad config core.hooksPath /x"
    made = await call(box, "run_command", command=line)
    assert "not taken over: bad/.git, since its config sets core.hookspath" in made.text
    assert not (folder / "bad/.git").exists()
    made = await call(box, "run_command", command="git init -q .")
    assert "not taken over" not in made.text
    assert (folder / ".git/config").exists()
    line = "echo 1 > f; git add f; git -c user.name=n -c user.email=e@x commit -qm one"
    assert (await call(box, "run_command", command=line)).data["exit_code"] == 0
    assert "by the user alone" not in (await call(box, "run_command", command="git log")).text


async def test_output_before_the_handover_is_in_the_job(folder: Path, tmp_path: Path) -> None:
    caller = Caller(surface="mcp", answer_within=3.0)
    async with Toolbox(config(tmp_path), workspace=folder) as box:
        line = "for i in 1 2 3 4 5 6 7; do echo line $i; sleep 1; done; exit 3"
        begun = await box.call("run_command", {"command": line}, caller=caller)
        assert begun.next is not None, begun.render()
        assert begun.next.tool == "read_job"
        now = await call(box, "read_job", id=begun.next.arguments["id"], wait="none")
        assert "line 1\n" in now.text
        assert "working" not in now.text
        done = await call(box, "read_job", id=begun.next.arguments["id"], wait="exit")
        assert "line 7" in done.text
        assert "exit code 3" in done.text


async def test_a_cancelled_start_leaves_no_job(box: Toolbox) -> None:
    start = asyncio.create_task(call(box, "run_command", command="sleep 55.5", background=True))
    await asyncio.sleep(0.1)
    while not start.done():
        jobs = (await call(box, "list_jobs")).data
        if jobs and jobs["jobs"]:
            start.cancel()
            break
        await asyncio.sleep(0.02)
    await asyncio.gather(start, return_exceptions=True)
    listed = (await call(box, "list_jobs")).data["jobs"]
    assert start.cancelled()
    assert [job["state"] for job in listed if job["state"] == "running"] == []


def test_counts_as_runners_tell_people() -> None:
    jest = "  ● g \u203a bad\n\nTests:       1 failed, 1 skipped, 2 passed, 4 total\n"
    vitest = " FAIL  a.test.js > bad\n Tests  1 failed | 2 passed | 1 skipped (4)\n"
    mocha = "  2 passing (5ms)\n  1 pending\n  1 failing\n"
    for text in (jest, vitest, mocha):
        counts = summary(text)
        assert (counts.passed, counts.failed, counts.skipped) == (2, 1, 1)
    assert [f.name for f in summary(jest).failures] == ["g \u203a bad"]
    assert [f.name for f in summary(vitest).failures] == ["a.test.js > bad"]
    assert summary("nothing").count == 0


def test_frames_of_packages_are_left_out() -> None:
    mine = "Error: x\n    at f (/w/a.js:1:2)"
    stack = f"{mine}\n    at g (/w/node_modules/j/b.js:1:1)\n    at node:internal/x"
    assert own_frames(stack).rstrip() == mine


def test_what_biome_says() -> None:
    text = (
        "a.js:2:7 lint/suspicious/noDoubleEquals  FIXABLE  ━━━━━━━━━━━\n\n"
        "  ! Using == may be unsafe.\n\n    1 │ var x=1;\n"
        "a.js:2:13 lint/suspicious/noDebugger ━━━━━━━━━━━\n\n  \u00d7 No debugger.\n"
    )
    assert [str(problem) for problem in problems_in(text)] == [
        "a.js:2:7: lint/suspicious/noDoubleEquals Using == may be unsafe.",
        "a.js:2:13: lint/suspicious/noDebugger No debugger.",
    ]
