"""run_python, run_javascript and run_command on a real workspace, behind the real boundary."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from toolcrib import Toolbox
from toolcrib.core.result import Result

pytestmark = pytest.mark.timeout(120)
NODE = pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not on this machine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def config(tmp_path: Path, **run: Any) -> dict[str, Any]:
    return {"store": {"url": f"sqlite:///{tmp_path}/store.db"}, "run": run}


@pytest.fixture
async def box(folder: Path, tmp_path: Path, level: str) -> AsyncIterator[Toolbox]:
    del level  # it is in the environment
    async with Toolbox(config(tmp_path), workspace=folder) as made:
        yield made


async def fine(box: Toolbox, name: str, /, **arguments: Any) -> Result:
    result = await box.call(name, arguments)
    assert result.error is None, result.render()
    return result


@pytest.mark.parametrize("mask", [0o002, 0o077])
async def test_files_have_the_modes_that_the_users_own_have(
    box: Toolbox, folder: Path, mask: int
) -> None:
    before = os.umask(mask)
    try:
        await fine(box, "run_command", command="touch file; mkdir folder")
        await fine(box, "run_command", command="touch later", background=True)
        await until((folder / "later").exists)
    finally:
        os.umask(before)
    for name, mode in (("file", 0o666), ("folder", 0o777), ("later", 0o666)):
        assert (folder / name).stat().st_mode & 0o777 == mode & ~mask


async def test_files_that_go_with_the_run_are_named(box: Toolbox, folder: Path) -> None:
    code = (
        "import os, pathlib, tempfile\n"
        "home, there = pathlib.Path.home(), pathlib.Path(tempfile.gettempdir())\n"
        "for name in ('report.md', '.cache', 'b\\x1bd'):\n"
        "    (home / name).write_text('x')\n"
        "(home / 'out').mkdir()\n"
        "for name in ('table.csv', 'tmp8f2'):\n"
        "    (there / name).write_text('x')\n"
        "(there / 'folder').mkdir()\n"
        "os.symlink('/etc/passwd', home / 'link')\n"
        "open(os.fsencode(home) + b'/r\\xff', 'w').close()\n"
        "open('inside.txt', 'w').write('x')\n"
    )
    result = await fine(box, "run_python", code=code)
    assert "inside.txt created" in result.text
    names = ["~/b\\x1bd", "~/out/", "~/report.md", "~/r\\udcff"]
    assert result.data["lost"][:4] == names
    assert [name.rpartition("/")[2] for name in result.data["lost"][4:]] == ["table.csv"]
    assert json.dumps(result.data, ensure_ascii=False).encode()
    line = "[gone with the run, as only files of the workspace last: "
    assert f"{line}~/b\\x1bd, ~/out/, ~/report.md and 2 more]" in result.text
    quiet = await fine(box, "run_python", code="open('inside.txt', 'w').write('y')")
    assert quiet.data["lost"] == []
    assert "gone with the run" not in quiet.text


@pytest.mark.rows("C073", "E31")
async def test_python_shows_output_value_and_changes(
    box: Toolbox, folder: Path, level: str
) -> None:
    code = "print('hello')\nopen('a.txt', 'w').write('x\\n')\n6 * 7"
    result = await fine(box, "run_python", code=code)
    assert result.text.startswith("hello\n42\n[exit code 0")
    assert "a.txt created" in result.text
    assert (folder / "a.txt").read_text() == "x\n"
    assert result.data["stdout"] == "hello\n42\n"
    assert result.data["sandbox"]["level"] == level
    assert result.data["interpreter"]["from"] == "toolcrib"
    await fine(box, "undo_changes")
    assert not (folder / "a.txt").exists()


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("def f():\n    return 1 / 0\nf()", "return 1 / 0"),
        ("x = (", "SyntaxError"),
        ("import sys\nprint('e', file=sys.stderr)\nsys.exit(3)", "exit code 3"),
        ("input()", "stdin"),
        ("import nothing_like_it", "is not installed in Python"),
        ("\x01\x02\x7fELF", "SyntaxError"),
    ],
)
async def test_python_that_fails_says_why(box: Toolbox, code: str, output: str) -> None:
    result = await fine(box, "run_python", code=code)
    assert result.data["exit_code"] != 0
    assert output in result.text or (output == "stdin" and "EOFError" in result.text)
    assert "_run" not in result.text


@pytest.mark.parametrize("code", ["", "  \n", "a\0b"])
async def test_what_is_no_code_is_refused(box: Toolbox, code: str) -> None:
    for tool in ("run_python", "run_javascript"):
        result = await box.call(tool, {"code": code})
        assert result.error is not None
        assert result.error.code == "bad_input"


async def test_large_code_runs_and_larger_is_refused(box: Toolbox) -> None:
    lines = "x = 1\n" * 300_000
    assert (await fine(box, "run_python", code=f"{lines}x + 1")).text.startswith("2\n")
    result = await box.call("run_python", {"code": "#" * 10_000_000})
    assert result.error is not None
    assert result.error.code == "too_large"


async def test_code_in_a_fence_and_indented_code(box: Toolbox) -> None:
    assert (await fine(box, "python", script="```python\n1 + 1\n```")).text.startswith("2\n")
    assert (await fine(box, "execute_code", language="python", code="    a = 2\n    a")).text[
        0
    ] == "2"
    wrong = await box.call("execute_code", {"language": "ruby", "code": "1"})
    assert wrong.error is not None
    assert wrong.error.code == "bad_input"


async def test_the_environment_of_the_workspace_is_used(box: Toolbox, folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True
    )
    result = await fine(box, "run_python", code="import sys\nprint(sys.prefix)")
    assert str(folder / ".venv") in result.text
    assert "[.venv/bin/python]" in result.text
    missing = await box.call("run_python", {"code": "import nothing_like_it"})
    assert "nothing_like_it is not installed in .venv/bin/python; run_command" in missing.text
    assert '.venv/bin/python -m pip install nothing_like_it" with network=' in missing.text
    assert result.data["interpreter"]["from"] == "workspace"


async def test_an_environment_opens_no_other_folder(
    box: Toolbox, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("CANARY")
    binaries = folder / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(os.path.realpath(sys.executable))
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {secret}/bin\n")
    code = f"print(open('{secret}/key').read())"
    # What looks like a Python, and leads elsewhere.
    (folder / "fake/lib/python3.11").mkdir(parents=True)
    (folder / "fake/lib/python3.11/os.py").touch()
    (folder / "fake/bin").symlink_to(secret)
    for home in (f"{secret}/bin", str(secret), f"{secret}/lib", f"{folder}/fake/bin"):
        (folder / ".venv/pyvenv.cfg").write_text(f"home = {home}\n")
        result = await box.call("run_python", {"code": code})
        assert "CANARY" not in result.render()


@pytest.mark.parametrize("home", ["/us\0r/bin", "", "{folder}/round"], ids=["zero", "none", "loop"])
async def test_an_environment_that_was_made_of_nothing_is_no_defect(
    box: Toolbox, folder: Path, home: str
) -> None:
    binaries = folder / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(os.path.realpath(sys.executable))
    (folder / "round").symlink_to(folder / "round")
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {home.format(folder=folder)}\n")
    result = await box.call("run_python", {"code": "print(1)"})
    assert result.error is None or result.error.code != "internal", result.render()


@pytest.mark.rows("C074", "E32")
async def test_a_command_tells_all_of_its_end(box: Toolbox) -> None:
    result = await fine(box, "execute_command", cmd="echo out; sleep 0.2; echo err >&2; exit 3")
    assert result.text.startswith("out\nerr\n[exit code 3")
    assert (result.data["stdout"], result.data["stderr"]) == ("out\n", "err\n")
    assert (await fine(box, "bash", command="cat", input="given")).text.startswith("given")
    assert "stdin is empty" in (await fine(box, "bash", command="cat")).text
    assert "is not on this machine" in (await fine(box, "bash", command="no_such_thing")).text


@pytest.mark.parametrize("given", [["bash", "-lc", "echo 'a b'"], ["echo", "a b"]])
async def test_a_command_as_a_list(box: Toolbox, given: list[str]) -> None:
    assert (await fine(box, "shell", command=given)).text.startswith("a b\n")


@pytest.mark.parametrize("command", ["", " ", "a\0b", "x" * 200_000])
async def test_what_is_no_command_is_refused(box: Toolbox, command: str) -> None:
    result = await box.call("run_command", {"command": command})
    assert result.error is not None
    assert result.error.code == "bad_input"
    assert result.error.hint


async def test_odd_output(box: Toolbox) -> None:
    colours = await fine(
        box, "bash", command=r"printf '\033[31mred\033[0m\n10%%\r99%%\rall\n\377\n'"
    )
    assert colours.text.startswith("red\nall\n\ufffd\n")
    long = await fine(box, "bash", command="head -c 3000000 /dev/zero | tr '\\0' y")
    assert long.truncated
    assert long.next is not None
    assert len(long.text) < 30_000
    rest = await box.call(long.next.tool, long.next.arguments)
    assert rest.error is None


async def test_a_flood_is_stopped(folder: Path, tmp_path: Path) -> None:
    tight = config(tmp_path, limits={"output_mb": 5})
    async with Toolbox(tight, workspace=folder) as box:
        result = await box.call("run_command", {"command": "yes"})
    assert result.error is not None
    assert result.error.code == "too_large"
    assert "run.limits.output_mb" in result.error.hint


async def test_time_is_bounded_and_what_there_was_is_shown(box: Toolbox, folder: Path) -> None:
    code = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('before')\nwhile True: time.sleep(0.01)"
    )
    result = await box.call("run_python", {"code": code, "timeout": 2})
    assert result.error is not None
    assert result.error.code == "timeout"
    assert "before" in result.text
    assert list(folder.iterdir()) == []


async def test_changes_can_be_held_and_dropped(box: Toolbox, folder: Path) -> None:
    (folder / "a.txt").write_text("old\n")
    pending = await fine(box, "run_command", command="echo new > a.txt", commit="ask")
    assert pending.next is not None
    assert pending.next.tool == "apply_changes"
    assert "+new" in pending.text
    assert (folder / "a.txt").read_text() == "old\n"
    await fine(box, pending.next.tool, **pending.next.arguments)
    assert (folder / "a.txt").read_text() == "new\n"
    other = await fine(box, "run_command", command="rm a.txt", commit="ask")
    assert other.next is not None
    assert "Dropped" in (await fine(box, "apply_changes", **other.next.arguments, drop=True)).text
    never = await fine(box, "run_command", command="rm a.txt", commit="never")
    assert "dropped" in never.text
    assert (folder / "a.txt").exists()
    gone = await box.call("apply_changes", {"id": "nothing"})
    assert gone.error is not None
    assert gone.error.code == "not_found"


async def test_what_the_user_holds_a_model_cannot_make(tmp_path: Path, folder: Path) -> None:
    async with Toolbox(config(tmp_path, commit="ask"), workspace=folder) as box:
        held = await fine(box, "run_command", command="echo new > a.txt", commit="auto")
        assert "held back" in held.text
        assert held.next is not None
        refused = [
            await box.call(held.next.tool, dict(held.next.arguments)),
            await box.call("run_command", {"command": "echo new > a.txt", "background": True}),
            await box.call("start_terminal", {"command": "echo new > a.txt"}),
        ]
        assert [r.error and r.error.code for r in refused] == ["needs_approval"] * 3
        assert "run.commit is ask" in refused[0].render()
        assert list(folder.iterdir()) == []
        dropped = await fine(box, "apply_changes", **held.next.arguments, drop=True)
        assert "Dropped" in dropped.text
    async with Toolbox(config(tmp_path, commit="never"), workspace=folder) as box:
        assert "dropped" in (await fine(box, "run_command", command="touch b", commit="ask")).text
        assert list(folder.iterdir()) == []


@pytest.mark.rows("C069", "C070", "C071", "E34", "E35", "E36", "X11")
async def test_a_command_in_the_background(box: Toolbox, folder: Path) -> None:
    started = await fine(
        box, "run_background_command", command="echo one; sleep 2; echo two; exit 4", name="n"
    )
    assert "one" in started.text
    assert started.next is not None
    await fine(box, "check_background_command", id=started.data["id"])  # how it is now
    done = await fine(box, "read_job", id=started.data["id"], timeout=40)
    assert "two" in done.text
    assert done.data["exit_code"] == 4
    again = await fine(box, "run_command", command="touch up; sleep 1000", background=True)
    job = again.data["id"]
    await until((folder / "up").exists)
    assert "stopped" in (await fine(box, "cancel_background_command", id=job)).text
    late = await fine(box, "read_job", id=started.data["id"], wait="none")
    assert "one" in late.text


async def test_undo_of_a_job_says_that_others_may_have_made_it(box: Toolbox, folder: Path) -> None:
    """On the files themselves, what an editor saves meanwhile is the job's for all that is seen."""
    started = await fine(box, "run_command", command="touch up; sleep 1000", background=True)
    await until((folder / "up").exists)
    (folder / "mine.txt").write_text("by hand\n")
    stopped = await fine(box, "stop_job", id=started.data["id"])
    noted = "and what others changed meanwhile"
    assert f"It changed 2 files; undo_changes with id=1 takes that back, {noted}." in stopped.text
    again = await fine(box, "stop_job", id=started.data["id"])
    assert "It changed" not in again.text
    assert noted in (await fine(box, "list_changes")).text
    undone = await fine(box, "undo_changes")
    assert noted in undone.text and "mine.txt" in undone.text
    await fine(box, "undo_changes", id=undone.data["steps"][0])
    assert (folder / "mine.txt").read_text() == "by hand\n"


async def test_a_cancelled_call_leaves_nothing(box: Toolbox, folder: Path) -> None:
    call = asyncio.create_task(box.call("run_command", {"command": "sleep 977.25 & sleep 977.25"}))
    await asyncio.sleep(1.5)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    found = [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"977.25" in _bytes(p)]
    assert found == []
    assert list(folder.iterdir()) == []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_ten_at_once(box: Toolbox, folder: Path) -> None:
    calls = [
        fine(box, "run_command", command=f"echo {n} > f{n}.txt; cat f{n}.txt") for n in range(10)
    ]
    for number, result in enumerate(await asyncio.gather(*calls)):
        assert result.text.startswith(f"{number}\n")
    assert len(list(folder.iterdir())) == 10


@pytest.mark.rows("C072", "E30", "X19")
async def test_javascript_by_each_engine(folder: Path, tmp_path: Path) -> None:
    (folder / "data.json").write_text('{"a": 41}')
    engines = ["quickjs"]
    engines += ["node"] if shutil.which("node") else []
    try:
        import deno  # noqa: F401

        engines.append("deno")
    except ImportError:
        pass
    for engine in engines:
        async with Toolbox(config(tmp_path, javascript=engine), workspace=folder) as box:
            done = await fine(box, "run_javascript", code="console.log([1, 2].map(x => x * 2))")
            assert "[ 2, 4 ]" in done.text
            assert done.data["engine"] == engine
            failed = await box.call("run_javascript", {"code": "throw new Error('mine')"})
            assert "mine" in failed.render()
            assert failed.data["exit_code"] != 0
            stopped = await box.call("run_javascript", {"code": "while (true);", "timeout": 2})
            assert stopped.error is not None
            assert stopped.error.code == "timeout"


@NODE
async def test_node_takes_scripts_and_modules(folder: Path, tmp_path: Path) -> None:
    (folder / "m.mjs").write_text("export const x = 41;\n")
    async with Toolbox(config(tmp_path, javascript="node"), workspace=folder) as box:
        assert (await fine(box, "js", code="1 + 1")).text.startswith("2\n")
        script = "const fs = require('fs'); fs.writeFileSync('o.txt', 'x'); console.log('ok')"
        assert "o.txt created" in (await fine(box, "js", code=script)).text
        module = "import {x} from './m.mjs';\nconsole.log(x + await Promise.resolve(1))"
        assert (await fine(box, "js", code=module)).text.startswith("42\n")
        typed = await fine(box, "js", code="const x: number = 4")
        assert "TypeScript needs" in typed.text or typed.data["exit_code"] == 0


@pytest.mark.rows("C073", "C072")
@pytest.mark.parametrize(
    ("tool", "setting"), [("run_python", {"python": "/no/such"}), ("run_python", {"python": "xyz"})]
)
async def test_a_missing_interpreter_is_one_line(
    folder: Path, tmp_path: Path, tool: str, setting: dict[str, str]
) -> None:
    async with Toolbox(config(tmp_path, **setting), workspace=folder) as box:
        result = await box.call(tool, {"code": "1"})
    assert result.error is not None
    assert result.error.code == "not_configured"
    assert "\n" not in result.error.message


@pytest.mark.rows("C077", "C184")
async def test_one_category_off_leaves_the_others_on(folder: Path, tmp_path: Path) -> None:
    settings = {**config(tmp_path), "tools": {"disabled": ["run_javascript", "*_terminal"]}}
    async with Toolbox(settings, workspace=folder) as box:
        off = await box.call("run_javascript", {"code": "1"})
        assert off.error is not None
        assert off.error.code == "tool_disabled"
        assert "tools.disabled" in off.error.hint
        await fine(box, "run_python", code="1")
        await fine(box, "run_command", command="true")


@pytest.mark.rows("C183", "X15")
async def test_rules_hold_behind_a_boundary(folder: Path, tmp_path: Path) -> None:
    rules = [{"pattern": ["git", "push"], "action": "deny", "match": ["git push -f"]}]
    async with Toolbox(config(tmp_path, rules=rules), workspace=folder) as box:
        for command in ("git push", "true && sudo git push", "sh -c 'git push'", "$'git' push"):
            result = await box.call("run_command", {"command": command})
            assert result.error is not None, command
            assert result.error.code == "denied"
            assert "git push" in result.error.message
        unsure = await box.call("run_command", {"command": "X=git; $X push"})
        assert unsure.error is not None
        assert unsure.error.code == "needs_approval"
        await fine(box, "run_command", command="echo git push exec fork eval")


@pytest.mark.rows("C183", "X3")
async def test_without_a_boundary_what_is_not_known_to_read_asks(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "a.txt").write_text("A\n")
    async with Toolbox(config(tmp_path, level="none"), workspace=folder) as box:
        assert (await fine(box, "run_command", command="cat a.txt | wc -l")).text.startswith("1\n")
        asking: list[tuple[str, dict[str, str]]] = [
            ("run_command", {"command": "rm a.txt"}),
            ("run_command", {"command": "cat /etc/passwd"}),
            ("run_python", {"code": "1"}),
            ("run_tests", {"runner": "rm a.txt"}),
        ]
        for tool, arguments in asking:
            result = await box.call(tool, arguments)
            assert result.error is not None
            assert result.error.code == "needs_approval", (tool, arguments)
            assert "without a boundary" in result.error.message
        assert (folder / "a.txt").exists()


async def test_of_many_files_the_folders_are_named(box: Toolbox) -> None:
    code = (
        "import pathlib\n"
        "for name in ('first', 'second'):\n"
        "    pathlib.Path(name).mkdir()\n"
        "    for number in range(20):\n"
        "        pathlib.Path(name, f'{number}.txt').write_text('x')\n"
    )
    text = (await fine(box, "run_python", code=code)).text
    assert "28 more, some in first/, second/]" in text


async def test_with_network_what_is_not_known_to_read_asks(folder: Path, tmp_path: Path) -> None:
    async with Toolbox(config(tmp_path, network=["example.com"]), workspace=folder) as box:
        result = await box.call("run_command", {"command": "curl http://example.com"})
        assert result.error is not None
        assert result.error.code == "needs_approval"
        assert "example.com" in result.error.message
    lifted = {
        **config(tmp_path, level="none"),
        "policy": {"rules": [{"action": "allow", "tool": "run_*"}]},
    }
    async with Toolbox(lifted, workspace=folder) as box:
        done = await fine(box, "run_command", command="echo x > made.txt")
        assert "[sandbox: none]" in done.text


@pytest.mark.rows("C172")
async def test_long_output_is_shown_by_its_ends(folder: Path, tmp_path: Path, level: str) -> None:
    del level
    code = "for n in range(200):\n    print(f'line {n}' if n != 100 else 'Error: disk full')"
    async with Toolbox(config(tmp_path, short_output=1_000), workspace=folder) as made:
        result = await fine(made, "run_python", code=code)
        lines = result.text.split("\n")
        assert lines[:7] == [
            *(f"line {n}" for n in range(5)),
            "[95 lines hidden]",
            "Error: disk full",
        ]
        assert "line 199" in lines[-6:]
        assert any(line.startswith("[exit code 0") for line in lines)
        assert len(result.text) < 500
        assert result.next is not None
        assert result.next.tool == "read_more"
        short = await fine(made, "run_python", code="print('a')")
        assert short.text.startswith("a\n[exit code 0")
