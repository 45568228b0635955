"""Every entry can be read back, and what it starts answers."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from tests.cases import each_case
from tests.conditions import until
from tests.servers.listening import free_port
from tests.surfaces.cli.program import PATIENCE, Program, listed
from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.hosts import HOSTS, Launch, wsl_path
from toolcrib.surfaces.cli.install import require_windows, wsl_note

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)

Entry = dict[str, Any]


def command(entry: Entry) -> list[str]:
    return [entry["command"], *entry["args"]]


def in_json(out: str) -> list[str]:
    return command(json.loads(out)["mcpServers"]["toolcrib"])


def in_command(out: str) -> list[str]:
    return shlex.split(out)[shlex.split(out).index("--") + 1 :]


STDIO: dict[str, Callable[[str], list[str]]] = {
    "lmstudio": in_json,
    "claude-desktop": in_json,
    "claude-code": in_command,
    "cursor": in_json,
    "windsurf": in_json,
    "zed": lambda out: command(json.loads(out)["context_servers"]["toolcrib"]),
    "cline": in_json,
    "codex": in_command,
    "gemini-cli": in_json,
    "qwen-code": in_json,
    "anythingllm": in_json,
    "jan": in_json,
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
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": (".config/zed/settings.json", "context_servers"),
    "gemini-cli": (".gemini/settings.json", "mcpServers"),
    "qwen-code": (".qwen/settings.json", "mcpServers"),
    "anythingllm": (
        ".config/anythingllm-desktop/storage/plugins/anythingllm_mcp_servers.json",
        "mcpServers",
    ),
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
    port = free_port()
    done = program("install", host, "--print", "--set", f"http.port={port}")
    words = shlex.split(done.out)
    assert words[:5] == [*PROGRAM, "serve"]
    assert f"http://127.0.0.1:{port}/mcp" in done.err
    (make,) = re.findall("make its folder first: mkdir -p (.*)", done.err)
    Path(make).mkdir()
    server = subprocess.Popen(words, env=dict(program.env), stderr=subprocess.DEVNULL)
    try:
        await until(lambda: answers(f"http://127.0.0.1:{port}/openapi.json"))
    finally:
        server.terminate()
        server.wait(PATIENCE)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as response:
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
    assert command(entry) == [*PROGRAM, "mcp", "--workspace", "${workspaceFolder}"]


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


def test_what_the_host_will_not_have_is_noted(program: Program) -> None:
    assert "TOOLCRIB_DATA" in program("install", "lmstudio", "--print").err


def test_without_a_word_the_model_has_a_folder_and_its_tools_answer(
    program: Program, file: Path
) -> None:
    own = Path(program.env["HOME"], "toolcrib")
    assert f"mkdir -p {own}" in program("install", "lmstudio", "--print").err
    assert not own.exists(), "--print changes nothing"
    done = install(program, file)
    assert done.code == 0, done
    assert os.listdir(own) == []
    entry = json.loads(file.read_text())["mcpServers"]["toolcrib"]
    assert command(entry) == [*PROGRAM, "mcp", "--workspace", str(own)]
    assert "It starts, and shows 14 tools: fetch_url," in done.out
    assert f"The model works in {own}." in done.out
    assert "try first:\n  Write a file hello.txt" in done.out
    assert "--set policy.ask=host" in done.err
    # A folder that was chosen once stays chosen; one that the configuration names is enough.
    install(program, file, "--workspace", ".")
    install(program, file)
    assert command(json.loads(file.read_text())["mcpServers"]["toolcrib"])[-1] == str(
        program.folder
    )
    config = program.folder / "c.toml"
    config.write_text(f'workspace.roots = ["{program.folder}"]')
    displayed = program("install", "lmstudio", "--print", "--config", str(config)).out
    assert "--workspace" not in displayed


def test_a_clone_in_the_place_of_the_usual_folder_is_left_alone(
    program: Program, file: Path
) -> None:
    home = Path(program.env["HOME"])
    (home / "toolcrib/.git").mkdir(parents=True)
    done = install(program, file)
    assert done.code == 0, done
    entry = json.loads(file.read_text())["mcpServers"]["toolcrib"]
    assert command(entry)[-1] == str(home / "toolcrib-files")
    assert (home / "toolcrib-files").is_dir()


def test_what_the_entry_says_stays_where_it_is_not_said_anew(program: Program, file: Path) -> None:
    options = (
        "--profile",
        "default,files",
        "--set",
        "policy.ask=host",
        "--set",
        "web.search.limit=9",
    )
    install(program, file, *options)
    again = install(program, file, "--set", "web.search.limit=8")
    words = command(json.loads(file.read_text())["mcpServers"]["toolcrib"])
    assert words[words.index("--profile") + 1] == "default,files"
    settings = [b for a, b in pairwise(words) if a == "--set"]
    assert settings == ["policy.ask=host", "web.search.limit=8"]
    assert "as in the entry so far: --profile default,files --set policy.ask=host" in again.err
    entry = file.read_text().replace("policy.ask=host", "old.key=1")
    file.write_text(entry)
    mended = install(program, file, "--workspace", ".")
    assert mended.code == 0, mended
    assert "left out of the entry so far" in mended.err
    assert "old.key" not in file.read_text()


def test_on_a_terminal_the_person_chooses(program: Program, file: Path) -> None:
    chosen = program.folder / "chosen"
    chosen.mkdir()
    done = program.on_terminal(
        *("install", "lmstudio", "--file", str(file)),
        type_after={"may work in [": f"{chosen}\n", "asks nothing more? [y/N]": "y\n"},
    )
    assert done.code == 0, done
    words = command(json.loads(file.read_text())["mcpServers"]["toolcrib"])
    assert words[len(PROGRAM) + 1 :] == ["--workspace", str(chosen), "--set", "policy.ask=host"]
    assert not Path(program.env["HOME"], "toolcrib").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--profile", "nonesuch"), "no profile, group or tool 'nonesuch'"),
        (("--workspace", "nowhere"), "nowhere is no folder"),
        (("--set", "web.searcher.limit=3"), "unknown key web.searcher"),
        (("--set", "store.url=redis://x"), "store.url is not understood"),
    ],
)
def test_what_would_not_work_is_not_written(
    program: Program, file: Path, words: tuple[str, ...], reason: str
) -> None:
    done = install(program, file, *words)
    assert done.code != 0
    assert reason in done.err
    assert not file.exists()


@pytest.mark.parametrize("how", [(), ("--print",)])
def test_a_folder_that_holds_too_much_is_not_written(
    program: Program, file: Path, how: tuple[str, ...]
) -> None:
    home = program.env["HOME"]
    for folder, why in (
        ("/", "it holds the whole machine"),
        (home, "it is the home folder"),
        (str(Path(home).parent), "it holds the home folder"),
    ):
        done = program("install", "cursor", "--file", str(file), "--workspace", folder, *how)
        assert (done.code, done.out) == (2, "")
        assert f"{folder} is not written into the entry: {why}." in done.err
        assert "--workspace ~/toolcrib" in done.err
    assert not file.exists()
    assert program("config", "set", "workspace.roots", home).code == 0
    assert program("install", "cursor", "--file", str(file)).code == 0, "the person has set it"


def test_an_entry_that_does_not_start_is_not_written(program: Program, file: Path) -> None:
    words = ("install", "lmstudio", "--file", str(file), "--workspace", ".")
    done = program(*words, env={"HOME": str(file.parent / "gone")})
    assert done.code == 1
    assert "was tried and does not start" in done.err
    assert not file.exists()


@pytest.mark.rows("A45", "C108")
@pytest.mark.parametrize("place", ["pointer", "older", "usual"])
def test_the_home_of_lmstudio_is_found_as_it_finds_it(program: Program, place: str) -> None:
    home = Path(program.env["HOME"])
    named = home / "elsewhere"
    if place == "pointer":
        named.mkdir()
        (home / ".lmstudio-home-pointer").write_text(f"{named}\n")
    if place != "usual":
        (home / ".cache" / "lm-studio").mkdir(parents=True)
    found = {"pointer": named, "older": home / ".cache" / "lm-studio"}
    reported = program("install", "lmstudio", "--print").err
    assert f"It belongs in {found.get(place, home / '.lmstudio') / 'mcp.json'}" in reported


def test_uninstalling_takes_our_entry_and_nothing_else(program: Program, file: Path) -> None:
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"other": {"command": "x"}}, "theme": 1}')
    install(program, file, "--workspace", ".")
    with_ours = file.read_text()
    done = program("uninstall", "lm-studio", "--file", str(file))
    assert done.code == 0
    assert json.loads(file.read_text()) == {"mcpServers": {"other": {"command": "x"}}, "theme": 1}
    assert with_ours in [copy.read_text() for copy in file.parent.glob("*.bak")]
    again = program("uninstall", "lmstudio", "--file", str(file))
    assert (again.code, "nothing was changed" in again.out) == (0, True)
    assert program("uninstall", "claude-code").out.startswith("claude mcp remove")
    assert program("uninstall", "nonesuch").code == 2


def test_a_program_in_a_cache_is_never_written(program: Program, file: Path) -> None:
    cached = Path(program.env["HOME"], ".cache", "uv", "archive-v0", "x", "bin")
    cached.mkdir(parents=True)
    python = cached / "python"
    python.symlink_to(sys.executable)
    (cached.parent / "pyvenv.cfg").write_text(
        (Path(sys.prefix) / "pyvenv.cfg").read_text()
        if sys.prefix != sys.base_prefix
        else f"home = {Path(sys.executable).parent}\n"
    )
    site = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [str(python), "-m", "toolcrib", "install", "lmstudio", "--print"]
    env = {**program.env, **site, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True)
    assert done.returncode == 1, done
    assert "uv tool install toolcrib" in done.stderr
    # With uvx, that is what the entry starts.
    uvx = program.folder / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.symlink_to("/bin/true")
    env["PATH"] = f"{uvx.parent}:{env['PATH']}"
    done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True)
    entry = json.loads(done.stdout)["mcpServers"]["toolcrib"]
    assert command(entry)[:3] == [str(uvx), "toolcrib", "mcp"]
    assert ".cache" not in done.stdout


@each_case(
    ("word", "seen"),
    [
        ("C:\\Users\\Ann B\\notes", "/mnt/c/Users/Ann B/notes"),
        ("d:/work", "/mnt/d/work"),
        ("\\\\wsl$\\Ubuntu\\home\\ann", "/home/ann"),
        ("\\\\wsl.localhost\\Ubuntu\\home\\ann", "/home/ann"),
        *(
            (word, word)
            for word in ("--workspace", "web.search.limit=5", "${workspaceFolder}", "x")
        ),
    ],
)
def test_paths_of_windows_as_its_linux_sees_them(word: str, seen: str) -> None:
    assert wsl_path(word) == seen


def test_an_entry_for_the_linux_of_windows() -> None:
    launch = Launch(("toolcrib",), ("--workspace", "C:\\Users\\Ann B\\notes"), in_wsl=True)
    assert launch.entry["command"] == "wsl.exe"
    *start, line = launch.entry["args"]
    assert start == ["--exec", "bash", "-lc"]
    assert shlex.split(line) == [
        *("exec", "toolcrib", "mcp", "--workspace"),
        "/mnt/c/Users/Ann B/notes",
    ]
    with pytest.raises(BadInput, match="share"):
        _ = replace(launch, flags=("--workspace", "\\\\server\\share\\x")).entry


def test_the_linux_of_windows_is_offered_on_windows(program: Program) -> None:
    assert "toolcrib install lmstudio --wsl" in wsl_note("lmstudio", platform="win32")
    assert not wsl_note("lmstudio", platform="win32", already=True)
    assert not wsl_note("lmstudio", platform="linux")
    require_windows(True, platform="win32")
    done = program("install", "lmstudio", "--wsl", "--print")
    assert (done.code, "--wsl is for Windows" in done.err) == (2, True)
