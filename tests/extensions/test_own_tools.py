"""Tools in files of the user's own and of packages: good ones are there, bad ones are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.extensions.own_tools import CACHE_NAME, IMPORT_SECONDS, tools_folder
from toolcrib.toolbox import available

GOOD = '''
from toolcrib import READ, Ctx, Result, WorkspacePath, tool
from toolcrib_own._words import loud

print("printed at import")

@tool(keywords=("yell",))
def shout(text: str, times: int = 1) -> str:
    """Shout a text."""
    print("printed in a call")
    return loud(text) * times

@tool(group="notes", rights=READ, profiles=("default",))
async def count_lines(path: WorkspacePath, *, ctx: Ctx) -> Result:
    """Count the lines of a file."""
    return Result(f"{path.read_bytes(1000).count(10)} lines")

@tool
def leave() -> str:
    """End the program."""
    raise SystemExit(3)
'''
WORDS = "def loud(text):\n    return text.upper()\n"
ONE = '''
from toolcrib import tool

@tool
def {name}() -> str:
    """Say a word."""
    return "word"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tools_folder()
    found.mkdir(parents=True)
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    found = tmp_path / "workspace"
    found.mkdir()
    return found


def reasons(workspace: Path) -> dict[str, str]:
    tree = Config.load({"workspace": {"roots": [str(workspace)]}})
    return {Path(skipped.where).name: skipped.reason for skipped in available(tree).skipped}


@pytest.mark.rows("E136")
async def test_functions_in_files_are_tools(folder: Path, workspace: Path) -> None:
    (folder / "mine.py").write_text(GOOD)
    (folder / "_words.py").write_text(WORDS)
    (workspace / "a.txt").write_text("one\ntwo\n")
    async with Toolbox(workspace=workspace) as box:
        assert box.skipped == ()
        assert (await box.call("shout", {"text": "moss", "times": "2"})).text == "MOSSMOSS"
        assert (await box.call("count_lines", {"path": "a.txt"})).text == "2 lines"
        refused = await box.call("shout", {})
        assert refused.error is not None
        assert refused.error.code == "bad_input"
        ended = await box.call("leave")
        assert ended.error is not None
        assert ended.error.code == "unavailable"
        assert (await box.call("shout", {"text": "still here"})).text == "STILL HERE"
        found = await box.call("search_tools", {"query": "yell"})
        assert "shout" in found.text
    listed = {tool.name for tool in Toolbox(profile="default", workspace=workspace).listed}
    assert "count_lines" in listed
    assert "shout" not in listed


@pytest.mark.rows("E136")
def test_a_file_may_have_a_list_or_a_function_that_makes_one(folder: Path, workspace: Path) -> None:
    (folder / "a_list.py").write_text(
        "from toolcrib import tool\ndef one() -> str:\n    'Say one.'\n    return '1'\n"
        "tools = [tool(one)]\n"
    )
    (folder / "factory.py").write_text(
        "from toolcrib import tool\ndef tools():\n"
        "    def two() -> str:\n        'Say two.'\n        return '2'\n    return [tool(two)]\n"
    )
    with Toolbox(workspace=workspace) as box:
        assert box.skipped == ()
        assert box.call_sync("one").text == "1"
        assert box.call_sync("two").text == "2"


BAD = {
    "raises.py": ("raise RuntimeError('no luck')", "RuntimeError: no luck (line 1)"),
    "syntax.py": ("def (:\n", "SyntaxError"),
    "ends.py": ("import sys\nsys.exit(2)", "SystemExit"),
    "dies.py": ("import os\nos._exit(0)", "ends the program"),
    "killed.py": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "ends the program"),
    "empty.py": ("x = 1", "declares no tool"),
    "no-name.py": ("", "named like a name of Python"),
    "taken.py": (ONE.format(name="read_file"), "taken by the tool read_file"),
    "ours.py": (ONE.format(name="Read_File"), "taken by the tool read_file"),
    "untyped.py": (
        "from toolcrib import tool\n@tool\ndef f(a) -> str:\n    'Do.'\n    return ''\n",
        "has no type",
    ),
    "dated.py": (
        "import datetime, toolcrib\n@toolcrib.tool\ndef f(a: datetime.date):\n    'Do.'\n",
        "f: parameter a: <class 'datetime.date'> has no JSON form",
    ),
    "no_doc.py": (
        "from toolcrib import tool\n@tool\ndef g() -> str:\n    return ''\n",
        "docstring",
    ),
    "no_tool.py": ("tools = [1]", "int is no tool"),
    "needs.py": ("import there_is_no_such_thing", "ModuleNotFoundError"),
    "surrogate.py": (
        "from toolcrib import tool\n@tool(keywords=(object(),))\ndef h() -> str:\n    'Do.'\n",
        "TypeError",
    ),
}


@pytest.mark.rows("E136")
async def test_a_bad_file_is_left_out_with_its_reason(folder: Path, workspace: Path) -> None:
    (folder / "good.py").write_text(ONE.format(name="good"))
    for name, (text, _) in BAD.items():
        (folder / name).write_text(text)
    found = reasons(workspace)
    assert found.keys() == BAD.keys()
    assert {name: why for name, (_, why) in BAD.items() if why not in found[name]} == {}
    async with Toolbox(workspace=workspace) as box:
        assert {Path(skipped.where).name for skipped in box.skipped} == BAD.keys()
        assert (await box.call("good")).text == "word"
        (workspace / "a.txt").write_text("there")
        assert "there" in (await box.call("read_file", {"path": "a.txt"})).text, "not replaced"


def test_of_two_files_with_one_name_the_first_is_kept(folder: Path, workspace: Path) -> None:
    for name in ("a.py", "b.py"):
        (folder / name).write_text(ONE.format(name="twice"))
    assert reasons(workspace) == {"b.py": "twice: the name twice is taken by the tool twice"}


def test_what_was_found_is_kept_until_a_file_changes(folder: Path, workspace: Path) -> None:
    marks = workspace.parent / "marks"
    line = f"open({str(marks)!r}, 'a').write('x')\n"
    (folder / "a.py").write_text(line + ONE.format(name="first"))
    tree = Config.load({"workspace": {"roots": [str(workspace)]}})
    for _ in range(3):
        assert "first" in {tool.name for tool in available(tree).tools}
    assert marks.read_text() == "x", "imported once, in a process of its own"
    (folder / "a.py").write_text(line + ONE.format(name="second_one"))
    names = {tool.name for tool in available(tree).tools}
    assert "second_one" in names
    assert "first" not in names
    stored = Path(os.environ["TOOLCRIB_DATA"]) / CACHE_NAME
    for broken in (b"{", b"[]", b'{"sources": 3}', b"\xff\xfe"):
        stored.write_bytes(broken)
        assert "second_one" in {tool.name for tool in available(tree).tools}


async def test_a_file_that_changes_under_a_server_is_not_run_as_what_it_was(
    folder: Path, workspace: Path
) -> None:
    (folder / "a.py").write_text(ONE.format(name="moving"))
    async with Toolbox(workspace=workspace) as box:
        (folder / "a.py").write_text(ONE.format(name="moving").replace("Say", "Send"))
        changed = await box.call("moving")
        assert changed.error is not None
        assert "changed since" in changed.error.message


@pytest.mark.rows("E136")
async def test_nothing_is_loaded_from_a_workspace(tmp_path: Path, folder: Path) -> None:
    marks = tmp_path / "marks"
    code = f"open({str(marks)!r}, 'a').write('x')\n" + ONE.format(name="planted")
    (folder / "a.py").write_text(code)
    for root in (tmp_path, folder.parent, folder):
        box = Toolbox(workspace=root)
        assert ["workspace" in skipped.reason for skipped in box.skipped] == [True]
        assert (await box.call("planted")).error is not None
        await box.close()
    assert not marks.exists()


async def test_a_link_out_of_a_workspace_is_not_loaded(
    tmp_path: Path, folder: Path, workspace: Path
) -> None:
    (workspace / "planted.py").write_text(ONE.format(name="planted"))
    (folder / "a.py").symlink_to(workspace / "planted.py")
    assert "workspace" in reasons(workspace)["a.py"]


@pytest.mark.parametrize("name", ["_helper.py", "helpers", "helpers/deep.py"])
def test_nothing_is_loaded_beside_a_helper_that_models_write(
    folder: Path, workspace: Path, name: str
) -> None:
    (folder / "a.py").write_text(ONE.format(name="mine"))
    helper, planted = folder / name, workspace / "planted"
    planted.mkdir()
    helper.parent.mkdir(exist_ok=True)
    assert "mine" in {tool.name for tool in Toolbox(workspace=workspace).tools()}
    helper.symlink_to(planted)
    assert f"{name}: it lies in the workspace" in reasons(workspace)["tools"]


def test_what_a_linked_folder_of_helpers_leads_to(
    tmp_path: Path, folder: Path, workspace: Path
) -> None:
    (folder / "a.py").write_text(ONE.format(name="mine"))
    (folder / ".#a.py").symlink_to("who@host.1:2")  # a lock of an editor
    helpers = tmp_path / "helpers"
    (helpers / "round").mkdir(parents=True)
    (helpers / "round/again").symlink_to(helpers)
    (folder / "lib").symlink_to(helpers)
    assert "mine" in {tool.name for tool in Toolbox(workspace=workspace).tools()}
    (helpers / "deep.py").symlink_to(workspace / "planted.py")
    (workspace / "planted.py").touch()
    assert "lib/deep.py: it lies in the workspace" in reasons(workspace)["tools"]


async def test_folders_of_a_host_leave_out_what_lies_in_them(
    tmp_path: Path, folder: Path, workspace: Path
) -> None:
    (folder / "a.py").write_text(ONE.format(name="planted"))
    async with Toolbox(workspace=workspace) as box:
        box.use_roots([str(tmp_path)])
        refused = await box.call("planted")
        assert refused.error is not None
        assert refused.error.code == "unknown_tool"
        assert "planted" in refused.text


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_what_every_user_can_write_is_not_loaded(folder: Path, workspace: Path) -> None:
    (folder / "a.py").write_text(ONE.format(name="open_one"))
    (folder / "a.py").chmod(0o666)
    assert "chmod" in reasons(workspace)["a.py"]
    folder.chmod(0o777)
    assert "chmod" in reasons(workspace)["tools"]


def test_a_configuration_made_by_hand_has_none(folder: Path) -> None:
    (folder / "a.py").write_text(ONE.format(name="mine"))
    assert "mine" not in {tool.name for tool in available(Config()).tools}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-I", "-m", "toolcrib", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_a_call_of_a_tool_that_was_left_out_says_why(folder: Path) -> None:
    (folder / "day.py").write_text(BAD["dated.py"][0])
    done = run("call", "f")
    assert done.returncode == 2
    left_out = done.stderr.partition("Left out: ")[2]
    assert "day.py: " in left_out
    assert BAD["dated.py"][1] in left_out


def test_what_own_code_prints_is_no_part_of_an_answer(folder: Path, workspace: Path) -> None:
    (folder / "mine.py").write_text(GOOD)
    (folder / "_words.py").write_text(WORDS)
    (folder / "bad.py").write_text("print('at import')\n1 / 0\n")
    done = run("call", "shout", "text=hi", "--json", "--workspace", str(workspace))
    assert json.loads(done.stdout)["text"] == "HI"
    assert "printed in a call" in done.stderr
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"name": "shout", "arguments": {"text": "hi"}}
    requested = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    lines = "".join(json.dumps(message) + "\n" for message in (hello, ready, requested))
    argv = [sys.executable, "-I", "-m", "toolcrib", "mcp", "--profile", "own"]
    with subprocess.Popen(
        [*argv, "--workspace", str(workspace)],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        assert served.stderr is not None
        served.stdin.write(lines)
        served.stdin.flush()
        answers = [json.loads(served.stdout.readline()) for _ in range(2)]
        served.stdin.close()
        assert served.stdout.read() == "", "nothing but the protocol"
        reported = served.stderr.read()
    assert answers[1]["result"]["content"][0]["text"] == "HI"
    assert "left out: tools/bad.py: ZeroDivisionError" in reported


def test_commands_know_them(folder: Path, workspace: Path) -> None:
    (folder / "mine.py").write_text(ONE.format(name="say_word"))
    (folder / "bad.py").write_text("1 / 0\n")
    where = ("--workspace", str(workspace))
    assert "Say a word." in run("tools", "--profile", "own", *where).stdout
    assert "bad.py: ZeroDivisionError" in run("tools", *where).stdout
    assert "toolcrib call say_word" in run("help", "say_word").stdout
    listed = json.loads(run("tools", "--json", *where).stdout)
    assert [skipped["where"] for skipped in listed["skipped"]] == ["tools/bad.py"]


def test_an_import_that_hangs_is_given_up(folder: Path, workspace: Path) -> None:
    (folder / "spins.py").write_text("while True: pass")
    (folder / "waits.py").write_text("import time; time.sleep(10_000)")
    (folder / "good.py").write_text(ONE.format(name="good"))
    found = reasons(workspace)
    assert ["does not end" in found[name] for name in ("spins.py", "waits.py")] == [True] * 2
    tree, began = Config.load({"workspace": {"roots": [str(workspace)]}}), time.monotonic()
    assert len(available(tree, retry=True).skipped) == 2
    assert time.monotonic() - began < IMPORT_SECONDS / 2, "not tried again before a change"
    (folder / "spins.py").write_text(ONE.format(name="spins"))
    (folder / "waits.py").unlink()
    assert "spins" in {tool.name for tool in available(tree).tools}
    with Toolbox(workspace=workspace) as box:
        assert box.call_sync("good").text == "word"
