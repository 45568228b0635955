"""Every entry can be read back, and what it starts answers."""

from __future__ import annotations

import base64
import json
import os
import shlex
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from tests.conditions import until
from tests.surfaces.cli.program import PATIENCE, Program, listed
from toolcrib.surfaces.cli.install import HOSTS

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)

Entry = dict[str, Any]


def command(entry: Entry) -> list[str]:
    return [entry["command"], *entry["args"]]


STDIO: dict[str, Callable[[str], list[str]]] = {
    "lmstudio": lambda out: command(json.loads(out)["mcpServers"]["toolcrib"]),
    "claude-desktop": lambda out: command(json.loads(out)["mcpServers"]["toolcrib"]),
    "claude-code": lambda out: shlex.split(out)[shlex.split(out).index("--") + 1 :],
    "cursor": lambda out: command(json.loads(out)["mcpServers"]["toolcrib"]),
    "vscode": lambda out: command(json.loads(out)["servers"]["toolcrib"]),
    "goose": lambda out: [
        (found := yaml.safe_load(out)["extensions"]["toolcrib"])["cmd"],
        *found["args"],
    ],
    "opencode": lambda out: json.loads(out)["mcp"]["toolcrib"]["command"],
    "librechat": lambda out: command(yaml.safe_load(out)["mcpServers"]["toolcrib"]),
}
HTTP = ("open-webui", "llama-cpp")
WRITTEN = {
    "lmstudio": (".lmstudio/mcp.json", "mcpServers"),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
}
PROGRAM = (sys.executable, "-I", "-m", "toolcrib")
linux = pytest.mark.skipif(sys.platform != "linux", reason="the paths are those of Linux")


def test_every_host_is_tested_here() -> None:
    assert set(HOSTS) == {*STDIO, *HTTP}


def test_every_printed_command_starts_and_lists_the_tools(program: Program) -> None:
    folder = program.folder / "a folder, with \"quotes\" and 'more'"
    folder.mkdir()
    commands = set()
    for host, read in STDIO.items():
        done = program(
            *("install", host, "--print", "--workspace", folder.name),
            *("--profile", "default,code"),
        )
        words = read(done.out)
        assert words[:5] == [*PROGRAM, "mcp"], host
        assert words[words.index("--workspace") + 1] == str(folder), host
        commands.add(tuple(words))
    for words in commands:
        assert {"read_file", "code_outline"} <= set(listed(list(words), program.env))


def test_a_project_cannot_put_its_own_code_in_our_place(program: Program) -> None:
    words = STDIO["lmstudio"](program("install", "lmstudio", "--print").out)
    planted = "import pathlib; pathlib.Path('planted').touch()\n"
    for name in ("toolcrib.py", "mcp.py", "pydantic.py", "json.py"):
        (program.folder / name).write_text(planted)
    done = subprocess.run(
        [*words, "--help"], cwd=program.folder, env=dict(program.env), capture_output=True
    )
    assert done.returncode == 0
    assert not (program.folder / "planted").exists()


@pytest.mark.parametrize("host", HTTP)
async def test_the_printed_server_answers(program: Program, host: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = program("install", host, "--print", "--set", f"http.port={port}")
    words = shlex.split(done.out)
    assert words[:5] == [*PROGRAM, "serve"]
    assert f"http://127.0.0.1:{port}/mcp" in done.err
    server = subprocess.Popen(words, env=dict(program.env), stderr=subprocess.DEVNULL)
    try:
        await until(lambda: answers(f"http://127.0.0.1:{port}/openapi.json"))
    finally:
        server.terminate()
        server.wait(PATIENCE)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return "/tools/read_file" in json.load(response)["paths"]
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.mark.parametrize("host", ["lmstudio", "cursor"])
def test_a_link_carries_the_same_entry(program: Program, host: str) -> None:
    link = program("install", host, "--link", "--workspace", ".").out.strip()
    fields = parse_qs(urlsplit(link).query)
    assert fields["name"] == ["toolcrib"]
    entry = json.loads(base64.b64decode(fields["config"][0], validate=True))
    printed = program("install", host, "--print", "--workspace", ".").out
    assert command(entry) == STDIO[host](printed)


def test_the_link_of_vscode(program: Program) -> None:
    link = program("install", "vscode", "--link").out.strip()
    start, _, packed = link.partition("?")
    assert start == "vscode:mcp/install"
    entry = json.loads(unquote(packed))
    assert entry.pop("name") == "toolcrib"
    assert command(entry) == [*PROGRAM, "mcp"]


def test_a_host_without_a_link_says_so(program: Program) -> None:
    done = program("install", "goose", "--link")
    assert (done.code, done.out) == (2, "")
    assert "toolcrib install goose --print" in done.err


@linux
@pytest.mark.parametrize("host", WRITTEN)
def test_a_new_file_is_written_where_the_host_reads(program: Program, host: str) -> None:
    place, key = WRITTEN[host]
    file = Path(program.env["HOME"]) / place
    assert str(file) in program("install", host, "--print").err
    assert not file.exists()
    done = program("install", host, "--workspace", ".")
    assert f"Wrote {file}\n" in done.out
    tree = json.loads(file.read_text())
    assert command(tree[key]["toolcrib"])[-2:] == ["--workspace", str(program.folder)]
    assert os.listdir(file.parent) == [file.name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "host" / "mcp.json"


def install(program: Program, file: Path, *words: str) -> Any:
    return program("install", "lmstudio", "--file", str(file), *words)


def test_everything_else_in_the_file_stays(program: Program, file: Path) -> None:
    file.parent.mkdir()
    before = {
        "theme": "ü",
        "mcpServers": {
            "other": {"command": "x"},
            "toolcrib": {"command": "old", "env": {"A": "1"}},
        },
        "last": [1, 2.50],
    }
    file.write_text("\ufeff" + json.dumps(before))
    file.chmod(0o600)
    done = install(program, file)
    assert done.code == 0
    tree = json.loads(file.read_text(encoding="utf-8"))
    assert list(tree) == ["theme", "mcpServers", "last"]
    assert tree["theme"] == "ü"
    assert tree["mcpServers"]["other"] == {"command": "x"}
    assert tree["mcpServers"]["toolcrib"]["env"] == {"A": "1"}
    assert tree["mcpServers"]["toolcrib"]["command"] == sys.executable
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (backup,) = file.parent.glob("*.bak")
    assert json.loads(backup.read_text("utf-8-sig")) == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert str(backup) in done.out


def test_a_second_time_changes_nothing(program: Program, file: Path) -> None:
    install(program, file)
    before = file.read_bytes(), file.stat().st_mtime_ns
    done = install(program, file)
    assert done.code == 0
    assert "nothing was changed" in done.out
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert os.listdir(file.parent) == [file.name]


def test_every_change_has_a_backup_of_its_own(program: Program, file: Path) -> None:
    for profile in ("web", "files", "all"):
        assert install(program, file, "--profile", profile).code == 0
    contents = {path.read_text() for path in file.parent.glob("*.bak")}
    assert len(contents) == 2


def test_a_link_to_the_file_stays_a_link(program: Program, file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    file.parent.mkdir()
    file.symlink_to(real)
    assert install(program, file).code == 0
    assert file.is_symlink()
    assert "toolcrib" in json.loads(real.read_text())["mcpServers"]


@pytest.mark.parametrize(
    "content",
    ['{"mcpServers": {}, // mine\n}', "[]", '{"mcpServers": []}', "{", "\x00", "[" * 9999],
)
def test_a_file_of_another_shape_is_not_touched(program: Program, file: Path, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)
    done = install(program, file)
    assert (done.code, done.out) == (1, "")
    assert "was not touched" in done.err
    assert "--print" in done.err
    assert file.read_text() == content
    assert os.listdir(file.parent) == [file.name]


def test_an_empty_file_is_filled(program: Program, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("")
    assert install(program, file).code == 0
    assert "toolcrib" in json.loads(file.read_text())["mcpServers"]


def test_a_folder_that_cannot_be_made(program: Program, file: Path) -> None:
    file.parent.write_text("a file in the way")
    done = install(program, file)
    assert (done.code, done.out) == (1, "")
    assert "cannot be" in done.err


def test_hosts_without_a_file_of_ours_are_printed(program: Program) -> None:
    done = program("install", "claude-code")
    assert shlex.split(done.out)[:3] == ["claude", "mcp", "add"]
    assert done.out == program("install", "Claude Code", "--print").out


def test_an_unknown_host_names_the_nearest(program: Program) -> None:
    done = program("install", "lm-studoi", "--print")
    assert (done.code, done.out) == (2, "")
    assert "lmstudio" in done.err


def test_a_wrong_setting_is_found_before_it_is_written(program: Program, file: Path) -> None:
    done = install(program, file, "--set", "web.searcher.limit=3")
    assert done.code == 2
    assert not file.exists()


def test_what_the_host_will_not_have_is_noted(program: Program) -> None:
    done = program("install", "lmstudio", "--print")
    assert "add --workspace DIR" in done.err
    assert "TOOLCRIB_DATA" in done.err
    assert (
        "--workspace DIR" not in program("install", "lmstudio", "--print", "--workspace", ".").err
    )
