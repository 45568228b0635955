"""Programs at a terminal, used as a model would: keys in, the screen out."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Result, Toolbox

pytestmark = [pytest.mark.rows("C075", "E33"), pytest.mark.timeout(90)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ws"
    place.mkdir()
    return place


@pytest.fixture
async def box(folder: Path, level: str) -> AsyncIterator[Toolbox]:
    del level  # it is in the environment
    async with Toolbox(workspace=folder) as toolbox:
        yield toolbox


async def call(box: Toolbox, name: str, **arguments: Any) -> Result:
    result = await box.call(name, arguments)
    assert result.error is None, result.error
    return result


async def opened(box: Toolbox, command: str = "", **arguments: Any) -> str:
    result = await call(box, "start_terminal", command=command, **arguments)
    return str(result.data["id"])


def screen(result: Result) -> str:
    return "\n".join(result.data["screen"])


async def test_a_shell_keeps_its_state_from_line_to_line(box: Toolbox) -> None:
    terminal = await opened(box)
    await call(box, "send_terminal", id=terminal, keys="word=heron; cd /tmp<Enter>")
    displayed = await call(
        box, "send_terminal", id=terminal, keys="echo $word-$PWD<Enter>", text="heron-"
    )

    assert "\nheron-/tmp\n" in displayed.text
    assert displayed.data["running"]


async def test_lines_typed_at_once_reach_the_program_that_the_first_one_starts(
    box: Toolbox, folder: Path
) -> None:
    terminal = await opened(box)
    keys = "cat > note.txt<Enter>one<Enter>two<Enter><Ctrl+D>"
    await call(box, "send_terminal", id=terminal, keys=keys)
    await call(box, "send_terminal", id=terminal, keys="exit<Enter>", wait="exit")

    assert (folder / "note.txt").read_text() == "one\ntwo\n"


async def test_what_a_session_changed_is_one_step_that_can_be_undone(
    box: Toolbox, folder: Path
) -> None:
    (folder / "kept.txt").write_text("before\n")
    terminal = await opened(box)
    keys = "echo after > kept.txt; echo new > made.txt; exit<Enter>"
    ended = await call(box, "send_terminal", id=terminal, keys=keys, wait="exit")

    assert ended.data["changes"]["state"] == "applied"
    assert "2 files changed" in ended.text
    await call(box, "undo_changes")
    assert (folder / "kept.txt").read_text() == "before\n"
    assert not (folder / "made.txt").exists()


async def test_keys_as_models_write_them(box: Toolbox) -> None:
    terminal = await opened(box)
    keys = r"echo on''e; sleep 60\n"
    await call(box, "send_terminal", id=terminal, keys=keys, text="one", timeout=20)
    await call(box, "send_terminal", id=terminal, keys="ctrl+c")
    keys = "echo tw''o<Enter>"
    displayed = await call(box, "send_terminal", id=terminal, keys=keys, text="two", timeout=20)
    assert displayed.data["came"]


async def test_waits_for_text_in_new_output_and_not_in_what_was_typed(box: Toolbox) -> None:
    terminal = await opened(box)
    keys = "sleep 1; echo ready<Enter>"
    displayed = await call(box, "send_terminal", id=terminal, keys=keys, text="ready", timeout=20)

    assert displayed.data["came"]
    assert screen(displayed).count("ready") == 2


async def test_a_later_wait_is_not_over_by_what_was_typed_or_stood_there(box: Toolbox) -> None:
    terminal = await opened(box)
    await call(box, "send_terminal", id=terminal, keys="echo ready<Enter>")
    await call(box, "send_terminal", id=terminal, keys="sleep 2; echo ready<Enter>", wait="none")
    displayed = await call(box, "read_terminal", id=terminal, text="ready", timeout=20)
    assert displayed.data["came"] is True
    assert [line.strip() for line in displayed.data["screen"]].count("ready") == 2
    again = await call(box, "read_terminal", id=terminal, text="ready", timeout=5)
    assert again.data["came"] is True
    keys = "clear; sleep 1; echo clean''ed<Enter>"
    await call(box, "send_terminal", id=terminal, keys=keys, timeout=1)
    displayed = await call(box, "read_terminal", id=terminal, text="cleaned", timeout=5)
    assert displayed.data["came"] is True


async def test_a_stopped_terminal_says_what_it_changed(box: Toolbox) -> None:
    terminal = await opened(box)
    keys = "echo x > new.txt; echo mad''e<Enter>"
    await call(box, "send_terminal", id=terminal, keys=keys, text="made")
    stopped = await call(box, "stop_job", id=terminal)
    assert "It changed 1 file; undo_changes with id=1 takes that back" in stopped.text
    still = await opened(box)
    assert "It changed" not in (await call(box, "stop_job", id=still)).text


async def test_says_when_what_is_waited_for_has_not_come(box: Toolbox) -> None:
    terminal = await opened(box)
    displayed = await call(box, "read_terminal", id=terminal, text="never", timeout=0.2)

    assert not displayed.data["came"]
    assert "has not come yet" in displayed.text


async def test_a_program_that_fills_the_screen(box: Toolbox) -> None:
    code = (
        "import sys, tty; tty.setcbreak(0); w = sys.stdout.write; "
        "w('\\x1b[?1049h\\x1b[2J\\x1b[3;5HMENU\\x1b[6n'); sys.stdout.flush(); "
        "key = sys.stdin.read(6); w(f'\\x1b[5;1Hgot {key!r}'); sys.stdout.flush(); "
        "sys.stdin.read(1); w('\\x1b[?1049l')"
    )
    command = f'{Path(sys.executable).resolve()} -c "{code}"'
    displayed = await call(box, "start_terminal", command=command, rows=10, columns=40)
    while "got" not in screen(displayed):  # a busy machine is slow to start the program
        displayed = await call(box, "read_terminal", id=displayed.data["id"])

    assert displayed.data["full_screen"]
    assert displayed.data["screen"][2] == "    MENU"
    # The program asked where the cursor is, and the terminal said it.
    assert displayed.data["screen"][4] == "got '\\x1b[3;9R'"
    ended = await call(box, "send_terminal", id=displayed.data["id"], keys="q", wait="exit")
    assert ended.data["exit_code"] == 0
    assert not ended.data["full_screen"]


@pytest.mark.parametrize("ignored", [False, True], ids=["usual", "under nohup"])
async def test_interrupts_what_runs(box: Toolbox, ignored: bool) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else None
    try:
        terminal = await opened(box)
    finally:
        if ignored:
            signal.signal(signal.SIGINT, before)
    await call(box, "send_terminal", id=terminal, keys="sleep 100<Enter>")
    await call(box, "send_terminal", id=terminal, keys="<Ctrl+C>")
    displayed = await call(
        box, "send_terminal", id=terminal, keys="echo code $?<Enter>", text="code 1"
    )

    assert "code 130" in displayed.text


async def test_a_flood_is_cut_and_the_rest_stays_readable(box: Toolbox) -> None:
    terminal = await opened(box)
    keys = "yes 0123456789 | head -n 200000; echo over-$((1+1))<Enter>"
    displayed = await call(box, "send_terminal", id=terminal, keys=keys, text="over-2", timeout=40)

    assert displayed.data["came"]
    assert len(displayed.text) < 20_000
    assert displayed.truncated
    assert displayed.next is not None
    more = await box.call(displayed.next.tool, displayed.next.arguments)
    assert "0123456789" in more.text


async def test_the_end_is_told_with_its_code_and_kept(box: Toolbox) -> None:
    terminal = await opened(box, "echo last words; exit 7")
    displayed = await call(box, "read_terminal", id=terminal, wait="exit")
    assert displayed.data["exit_code"] == 7
    assert "last words" in displayed.text

    job = await call(box, "read_job", id=terminal)
    assert "exit code 7" in job.text
    assert "last words" in job.text


async def test_keys_for_a_program_that_is_over_are_refused(box: Toolbox) -> None:
    terminal = await opened(box, "true")
    await call(box, "read_terminal", id=terminal, wait="exit")
    result = await box.call("send_terminal", {"id": terminal, "keys": "x"})

    assert result.error is not None
    assert result.error.code == "conflict"


async def test_stopping_leaves_nothing(box: Toolbox) -> None:
    terminal = await opened(box, "setsid sleep 300 & sleep 300")
    await call(box, "stop_job", id=terminal)
    displayed = await call(box, "read_terminal", id=terminal)

    assert not displayed.data["running"]


async def test_another_conversation_cannot_type_or_look(box: Toolbox) -> None:
    terminal = await opened(box)
    for name, arguments in (("send_terminal", {"keys": "x"}), ("read_terminal", {})):
        result = await box.call(name, {"id": terminal, **arguments}, session="other")
        assert result.error is not None
        assert result.error.code == "denied"


async def test_an_id_that_is_no_terminal(box: Toolbox) -> None:
    result = await box.call("read_terminal", {"id": "jnothing"})

    assert result.error is not None
    assert result.error.code == "not_found"


async def test_a_text_to_wait_for_must_be_given(box: Toolbox) -> None:
    terminal = await opened(box)
    result = await box.call("read_terminal", {"id": terminal, "wait": "text"})

    assert result.error is not None
    assert result.error.code == "bad_input"


async def test_secrets_of_the_server_are_not_there(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-canary")
    terminal = await opened(box)
    displayed = await call(box, "send_terminal", id=terminal, keys="env | grep -c canary<Enter>")

    assert "\n0\n" in displayed.text
