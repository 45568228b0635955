"""What a person at a terminal gets: completion, a first argument, examples that run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.cli.program import Program
from toolcrib.agents.prompts import example_of
from toolcrib.agents.sample_calls import SAMPLES
from toolcrib.surfaces.cli import help as help_command
from toolcrib.surfaces.cli.call import pairs
from toolcrib.surfaces.cli.completion import SHELLS
from toolcrib.surfaces.cli.help import EXAMPLES
from toolcrib.toolbox import Toolbox, installed

pytestmark = pytest.mark.timeout(180)
ELSEWHERE = ("web_search", "fetch_url")


def test_a_first_argument_without_its_name(program: Program, tmp_path: Path) -> None:
    assert pairs(["notes.md", "lines=2"], "cat") == {"path": "notes.md", "lines": "2"}
    assert pairs(["https://a.example/?b=c"], "fetch_url") == {"url": "https://a.example/?b=c"}
    assert pairs(["a=b"], "read_file") == {"a": "b"}
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    done = program("call", "read_file", "notes.md", "lines=1", "--workspace", str(tmp_path))
    assert done.out.startswith("one\n"), done.err
    assert program("call", "read_file", "notes.md", "two").code == 2
    records = program("history", "--json").json
    assert records[-1]["arguments"] == {"path": "notes.md", "lines": "1"}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_a_script_of_the_shell(program: Program, shell: str) -> None:
    done = program("completion", shell)
    assert done.code == 0
    assert "read_file" in done.out
    assert "path=" in done.out
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.out, text=True, capture_output=True)
        assert checked.returncode == 0, checked.stderr
    if shell == "bash":
        requested = (
            "COMP_WORDS=(toolcrib call read_fi); COMP_CWORD=2; _toolcrib; echo ${COMPREPLY[@]}; "
            "COMP_WORDS=(toolcrib hist); COMP_CWORD=1; _toolcrib; echo ${COMPREPLY[@]}"
        )
        ran = subprocess.run(
            ["bash"], input=f"{done.out}\n{requested}", text=True, capture_output=True, check=True
        )
        assert ran.stdout.split() == ["read_file", "history"]


async def test_examples_of_help_run_as_they_stand(tmp_path: Path) -> None:
    for name, words in EXAMPLES.items():
        assert name in {tool.name for tool in installed()}
        if name in ELSEWHERE:
            continue
        root = tmp_path / name
        (root / "src").mkdir(parents=True)
        (root / "notes.md").write_text("a draft\n")
        (root / "src" / "app.py").write_text("# TODO more\ndef main():\n    return 1\n")
        async with Toolbox(workspace=root) as box:
            result = await box.call(name, pairs(shlex.split(words), name))
            assert result.error is None, f"{name} {words}: {result.render()}"


async def test_tools_of_which_nothing_is_required_have_an_example_that_runs(tmp_path: Path) -> None:
    """Where a call without arguments is refused for that, help and models are shown one."""
    tools = [t for t in installed() if not any(p.required for p in t.parameters)]
    of_the_project = {"run_tests", "lint_project"}
    (tmp_path / "notes.md").write_text("a draft\n")
    async with Toolbox(workspace=tmp_path) as box:
        for name in (t.name for t in tools if t.group not in ("browser", "images", "jobs")):
            if name in of_the_project | {"read_clipboard", "write_clipboard"}:
                continue
            bare = await box.call(name, {})
            if bare.error is None or bare.error.code != "bad_input":
                continue
            assert name in SAMPLES, bare.error.message
            assert example_of(box.registry.resolve(name)) != f"{name} {{}}"
            words = help_command.example_words(box.registry.resolve(name))
            done = await box.call(name, pairs(shlex.split(words), name))
            assert done.error is None or done.error.code != "bad_input", done.render()


def test_help_shows_the_example(program: Program) -> None:
    assert "toolcrib call read_file notes.md lines=20" in program("help", "read_file").out
