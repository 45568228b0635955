"""Clipboard and notifications on a real, virtual screen, with a service that shows them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from tests.cases import each_case
from tests.conftest import absent
from tests.tools.system.conftest import Machine


def need(*programs: str) -> None:
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        absent(f"{', '.join(missing)} is not installed")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An X server of the test's own."""
    need("Xvfb")
    read, write = os.pipe()
    # A desktop always has a client; without any, this server begins anew and drops who just came.
    words = ["Xvfb", "-noreset", "-displayfd", str(write), "-screen", "0", "640x480x24"]
    words += ["-nolisten", "tcp"]
    with subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as numbers:
            display = f":{numbers.readline().strip()}"
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield display
        server.terminate()


TEXTS = [
    "plain",
    "two\nlines\n",
    " Zwölf 中文 🎉 \t",
    "-n --version $(id) 'quoted' \"too\"",
    "x" * 300_000,
]


@pytest.mark.rows("C105", "C106", "E81", "E82")
@pytest.mark.parametrize("program", ["xclip", "xsel"])
async def test_what_is_copied_can_be_pasted(
    machine: Machine, screen: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program == "xsel" and not shutil.which(program):
        pytest.skip("xsel is not installed; xclip does the same")
    need(program)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert await machine.text("read_clipboard") == "There is no text on the clipboard."
    for text in TEXTS:
        written = await machine("write_clipboard", text=text)
        assert written.data["program"] == program
        found = await machine("read_clipboard")
        assert found.data["text"] == text
        assert found.fenced
    assert len(machine.questions) == 1 + 2 * len(TEXTS)


async def test_another_program_reads_it_until_toolcrib_ends(machine: Machine, screen: str) -> None:
    need("xclip")
    paste = ["xclip", "-selection", "clipboard", "-out"]
    await machine("write_clipboard", text="moss")
    read = subprocess.run(paste, capture_output=True, text=True)
    assert read.stdout == "moss"
    subprocess.run(["xclip", "-selection", "clipboard", "-in"], input=b"fern", check=True)
    assert (await machine("read_clipboard")).data["text"] == "fern"
    await machine("write_clipboard", text="moss again")
    await machine.box.close()
    assert subprocess.run(paste, capture_output=True, text=True).stdout != "moss again"


async def test_what_is_missing_is_said(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert "neither DISPLAY" in await machine.refused("read_clipboard")
    assert "neither DISPLAY" in await machine.refused("write_clipboard", text="a")
    assert "DBUS_SESSION" in await machine.refused("send_notification", title="a")
    assert "DBUS_SESSION" in await machine.refused("send_notification", text="a")
    monkeypatch.setenv("DISPLAY", ":64999")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    if shutil.which("xclip"):
        await machine.refused("read_clipboard")
        await machine.refused("write_clipboard", text="a")
    if shutil.which("gdbus"):
        await machine.refused("send_notification", title="a")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "xclip or xsel, which is not" in await machine.refused("read_clipboard")
    assert "notify-send or gdbus" in await machine.refused("send_notification", title="a")


@each_case("text", ["", "a\0b", "x" * 1_000_001], ids=["empty", "NUL", "large"])
async def test_what_is_not_copied(machine: Machine, text: str) -> None:
    await machine.refused("write_clipboard", text=text)


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue[tuple[str, ...]]]:
    """A session bus with a service that takes notifications; what it was given."""
    need("dbus-daemon")
    words = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as bus:
        assert bus.stdout is not None
        address = bus.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        queue: Queue[tuple[str, ...]] = Queue()
        connection = open_dbus_connection(bus=address)
        connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.Notifications"))

        def serve() -> None:
            try:
                while True:
                    message = connection.receive()
                    if message.header.message_type != MessageType.method_call:
                        continue
                    fields = message.header.fields
                    member = fields[HeaderFields.member]
                    if member == "Notify":
                        app, _, icon, title, body = message.body[:5]
                        queue.put((app, icon, title, body))
                        connection.send(new_method_return(message, "u", (1,)))
                    elif member == "GetServerInformation":
                        connection.send(new_method_return(message, "ssss", ("t", "t", "1", "1.2")))
                    elif member == "GetCapabilities":
                        connection.send(new_method_return(message, "as", (["body"],)))
            except (OSError, EOFError):
                return  # the bus has ended

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield queue
        bus.terminate()
        thread.join(10)
        connection.close()


NASTY = 'it\'s <b>done</b> & $(id) \\ "quoted" — 中文\n-second line'


@pytest.mark.rows("C107", "E85")
@pytest.mark.parametrize("program", ["notify-send", "gdbus"])
async def test_a_notification_arrives_as_it_was_sent(
    machine: Machine,
    displayed: Queue[tuple[str, ...]],
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if program == "notify-send" and not shutil.which(program):
        pytest.skip("notify-send is not installed; gdbus does the same")
    need(program)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = await machine(
        "send_notification",
        title="-t \x1b[31mDone\x07\n now",
        message=NASTY,
        icon="dialog-information",
    )
    assert found.data["program"] == program
    app, icon, title, body = displayed.get(timeout=20)
    assert (app, icon, title) == ("toolcrib", "dialog-information", "-t Done now")
    assert body == NASTY.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert "it may see or change this machine" in machine.questions[0]
    cut = await machine("send_notification", text="w" * 600)
    assert "Only the first 500 characters" in cut.text
    assert tuple(displayed.get(timeout=20)[2:]) == ("toolcrib", "w" * 500)
    for arguments in ({"title": " "}, {"title": "a", "icon": "/etc/passwd"}):
        await machine.refused("send_notification", **arguments)
    machine.says = False
    assert "denied" in await machine.refused("send_notification", title="b")
    assert displayed.empty()
