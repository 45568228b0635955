"""What a run says that asked a host and got no answer."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from toolcrib import Toolbox
from toolcrib.tools.run.report import without_library_frames

pytestmark = [pytest.mark.rows("E31", "E32"), pytest.mark.timeout(120)]
NO_NETWORK = "[it has no network: name the hosts in 'network', and the user is asked]"
LOOPBACK = {
    "strong": "[each run has a loopback of its own: start the server with 'ports' to reach it",
    "kernel": "[runs have no network here, not even a loopback of their own]",
}
NODE = pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not on this machine")
DENO = pytest.mark.skipif(not find_spec("deno"), reason="Deno is not installed")
CURL = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not on this machine")
WGET = pytest.mark.skipif(not shutil.which("wget"), reason="wget is not on this machine")
AWAY = "http://host.invalid/"
HERE = "http://localhost:9876/"


def box_in(tmp_path: Path, **run: str) -> Toolbox:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return Toolbox({"store": {"url": f"sqlite:///{tmp_path}/s.db"}, "run": run}, workspace=folder)


@pytest.fixture
async def box(tmp_path: Path, level: str) -> AsyncIterator[Toolbox]:
    del level  # it is in the environment
    async with box_in(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("command", "away"),
    [
        pytest.param(f"curl {AWAY}", True, marks=CURL),
        pytest.param(f"curl -s {AWAY}", True, marks=CURL),
        pytest.param("curl -s http://192.0.2.1/", True, marks=CURL),
        pytest.param(f"curl {AWAY} | head -1", True, marks=CURL),
        pytest.param(f"curl -s {HERE}", False, marks=CURL),
        pytest.param("curl 127.0.0.1:9876", False, marks=CURL),
        pytest.param(f"wget -q {AWAY}", True, marks=WGET),
        pytest.param(f"wget -q -t 1 -O - {HERE}", False, marks=WGET),
        pytest.param(f"node -e 'fetch(\"{AWAY}\")'", True, marks=NODE),
        pytest.param(f"node -e 'fetch(\"{HERE}\")'", False, marks=NODE),
    ],
)
async def test_of_a_command(box: Toolbox, level: str, command: str, away: bool) -> None:
    text = (await box.call("run_command", {"command": command})).text
    assert (NO_NETWORK in text) is away, text
    assert (LOOPBACK[level] in text) is not away, text
    assert text.count("network") + text.count("loopback") <= 2


@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize("away", [True, False])
async def test_of_python(box: Toolbox, level: str, away: bool, caught: bool) -> None:
    line = f"urllib.request.urlopen('{AWAY if away else HERE}')"
    code = f"try: {line}\nexcept Exception as e: print(e)" if caught else line
    text = (await box.call("run_python", {"code": f"import urllib.request\n{code}"})).text
    assert (NO_NETWORK if away else LOOPBACK[level]) in text, text


@pytest.mark.parametrize(
    "engine", [pytest.param("node", marks=NODE), pytest.param("deno", marks=DENO)]
)
async def test_of_javascript(tmp_path: Path, level: str, engine: str) -> None:
    async with box_in(tmp_path, javascript=engine) as box:
        away = await box.call("run_javascript", {"code": f"await fetch('{AWAY}')"})
        assert NO_NETWORK in away.text, away.text
        here = await box.call("run_javascript", {"code": f"await fetch('{HERE}')"})
        assert LOOPBACK["kernel" if engine == "deno" else level] in here.text, here.text


@pytest.mark.parametrize(
    "command",
    ["exit 6", "exit 7", "echo Connection refused", pytest.param("curl --version", marks=CURL)],
)
async def test_what_asked_no_host_is_told_nothing(box: Toolbox, command: str) -> None:
    text = (await box.call("run_command", {"command": command})).text
    assert "network" not in text
    assert "loopback" not in text


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("open('f', 'w').write('x')", False),
        ("import sys\nsys.stdout.seek", True),
        ("class F:\n    async def write(self): return 1\nawait F().write()", False),
        ("class F:\n    async def read(self): return 1\nawait F().read()", True),
        ("len('x')", True),
        ("n = open('f', 'w').write('x')\nn", True),
    ],
)
async def test_what_a_write_returns_is_not_shown(box: Toolbox, code: str, output: bool) -> None:
    result = await box.call("run_python", {"code": code})
    assert result.data["exit_code"] == 0, result.text
    assert bool(result.data["stdout"]) is output


async def test_python_in_the_background_is_heard_at_once(box: Toolbox) -> None:
    command = "python3 -c 'import time; print(111 * 1001**2); time.sleep(100)'"
    started = await box.call("run_command", {"command": command, "background": True})
    job = started.data["id"]
    heard = await box.call("read_job", {"id": job, "text": "111222111", "timeout": 10, "offset": 0})
    assert "111222111" in heard.text, heard.render()
    await box.call("stop_job", {"id": job})


async def test_the_user_may_have_it_otherwise(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del level
    command = {"command": "echo [$PYTHONUNBUFFERED]"}
    async with box_in(tmp_path) as box:
        assert "[1]" in (await box.call("run_command", command)).text
        monkeypatch.setenv("PYTHONUNBUFFERED", "")
        assert "[]" in (await box.call("run_command", command)).text


async def test_what_only_the_user_can_make_is_not_run_again(tmp_path: Path) -> None:
    async with Toolbox({}, workspace=tmp_path, profile="default") as box:
        for command, commit, again in (
            ("echo x > AGENTS.md", None, False),
            ("echo x > a", "ask", True),
        ):
            given = {"command": command, **({"commit": commit} if commit else {})}
            text = (await box.call("run_command", given)).text
            assert "the user makes them with: toolcrib call apply_changes" in text
            assert ("run it again with commit=auto" in text) is again, text


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("echo Serving HTTP on 0.0.0.0 port 9000; sleep 60", "[a server: ports=[9000] keeps it"),
        ("echo '  Local:   http://localhost:5173/'; sleep 60", "[a server: ports=[5173] keeps it"),
        ("true uvicorn app:app; sleep 60", "[if it is a server, ports=[ITS PORT] keeps it going"),
        ("echo started at 12:30:45; echo running tests/test_a.py:123: in foo; sleep 60", ""),
    ],
)
async def test_a_server_in_the_foreground_is_told_how_to_be_one(
    box: Toolbox, command: str, hint: str
) -> None:
    result = await box.call("run_command", {"command": command, "timeout": 2})
    assert result.error is not None and result.error.code == "timeout"
    assert hint in result.text
    assert hint or "a server" not in result.text


async def test_a_file_is_not_said_to_be_missing(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "work/README.md").write_text("x")
    for command in ("type README.md", "README.md"):
        text = (await box.call("run_command", {"command": command})).text
        assert "[README.md is a file: cat README.md shows it" in text, text
    text = (await box.call("run_command", {"command": "type no-such-thing"})).text
    assert "no-such-thing is not on this machine" in text


async def test_the_home_of_the_user_in_a_command(
    box: Toolbox, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "work/sub").mkdir()
    for command, place in (("cd ~/work && ls", "."), ("cat ~/work/sub/x; ls '~'/work/sub", "")):
        text = (await box.call("run_command", {"command": command})).text
        assert (f"~ is another folder in runs: write {place}]" in text) is (
            bool(place) and level == "strong"
        ), text
    code = "import os; os.listdir(os.path.expanduser('~/work/sub'))"
    for tool, given in (
        ("run_command", {"command": "ls ~/work/sub"}),
        ("run_python", {"code": code}),
    ):
        text = (await box.call(tool, given)).text
        assert ("write sub]" in text) is (level == "strong"), text


async def test_how_a_package_is_installed(box: Toolbox) -> None:
    text = (await box.call("run_python", {"code": "import nothing_like_it.deep"})).text
    assert 'network=["packages"]' in text
    assert "pip install nothing_like_it (the package may have another name)]" in text
    named = (
        await box.call(
            "run_python",
            {
                "code": "raise ModuleNotFoundError(NAME)".replace(
                    "NAME", "\"No module named 'skimage.io'\""
                )
            },
        )
    ).text
    assert "pip install scikit-image]" in named


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not on this machine")
async def test_how_a_package_of_npm_is_installed(box: Toolbox) -> None:
    call = {"command": "npm install --fetch-retries=0 left-pad"}
    text = (await box.call("run_command", call)).text
    assert "about which the user is asked: npm install NAME]" in text, text
    assert "pip install" not in text


async def test_what_never_ends_is_told_how_to_go_on(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "work" / "a.log").write_text("line\n")
    text = (await box.call("run_command", {"command": "tail -f a.log", "timeout": 1})).render()
    assert "background=true keeps it going" in text
    text = (await box.call("run_command", {"command": "sleep 9", "timeout": 1})).render()
    assert "background=true keeps it going" not in text


async def test_a_file_for_python_is_a_command(box: Toolbox) -> None:
    text = (await box.call("run_python", {"file": "x.py"})).render()
    assert 'run_command command="python3 x.py" runs a file' in text
    text = (await box.call("run_python", {"file": "my file.py"})).render()
    assert "python3 'my file.py'" in text


async def test_frames_of_libraries_are_one_line(box: Toolbox) -> None:
    code = "import json\n\ndef own(text):\n    return json.loads(text, strict=0)\n\nown('{]')\n"
    result = await box.call("run_python", {"code": code})
    assert "in own" in result.text and "Expecting property name" in result.text
    assert "… 2 frames of the standard library …\n" in result.text
    assert "json/__init__.py" not in result.text
    assert "in raw_decode" in result.text  # the last of them: it raised
    assert "json/__init__.py" in result.data["stderr"]
    short = await box.call("run_python", {"code": "def own():\n    return 1 / 0\n\nown()\n"})
    assert "frames of" not in short.text and short.text.count("line") >= 2


async def test_frames_of_the_workspace_stay(box: Toolbox, tmp_path: Path) -> None:
    folder = tmp_path / "work" / "lib" / "python3" / "app"
    folder.mkdir(parents=True)
    frames = "\n".join(f"def f{n}():\n    f{n + 1}()" for n in range(4))
    (folder / "main.py").write_text(f"{frames}\ndef f4():\n    1 / 0\nf0()\n")
    text = (await box.call("run_command", {"command": f"python3 {folder}/main.py"})).text
    assert "ZeroDivisionError" in text and "frames of" not in text, text
    assert all(f"in f{n}" in text for n in range(5))


async def test_a_traceback_in_a_log_stays_whole(box: Toolbox, tmp_path: Path) -> None:
    frame = '  File "/usr/lib/python3.11/json/x.py", line 3, in f\n    foo()\n'
    log = f"Traceback (most recent call last):\n{frame * 5}ValueError: x\n"
    (tmp_path / "work" / "err.log").write_text(log)
    text = (await box.call("run_command", {"command": "cat err.log"})).text
    assert text.startswith(log), text


def test_frames_of_packages_are_named_and_the_last_stays() -> None:
    frame = '  File "/opt/{}-packages/{}/a.py", line 3, in f\n    foo()\n    ^^^\n'
    listed = [frame.format("site", "one"), frame.format("dist", "two"), frame.format("site", "x")]
    own = '  File "/home/ann/main.py", line 3, in <module>\n    run()\n'
    text = f"Traceback (most recent call last):\n{own}{''.join(listed)}KeyError: 'x'\n"
    left = f"  … 2 frames of one, two …\n{listed[2]}"
    assert without_library_frames(text, []) == text.replace("".join(listed), left)
    assert without_library_frames(text, ["/opt"]) == text


def test_a_path_without_end_is_no_frame() -> None:
    # With an expression that looks for the folder anywhere, this would take some minutes.
    text = 'Traceback (most recent call last):\n  File "' + "/lib/python3.1" * 30_000
    assert without_library_frames(text, []) == text
