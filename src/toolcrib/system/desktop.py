"""The programs by which a desktop is reached: its clipboard, its notifications.

They are programs of the machine, run like all others; none is ours. What is missing is said
with how to get it.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.core.config import environment
from toolcrib.core.errors import TimedOut, Unavailable
from toolcrib.system.child import Process
from toolcrib.system.processes import PASSED_ON, Finished, Processes

SECONDS = 5.0
MAX_BYTES = 1_000_000
"""Of what is on the clipboard."""
OWN = (
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE"),
    *("DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP"),
)
"""Variables that say where the desktop is."""
POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand")
XCLIP = ("xclip", "-selection", "clipboard")
APPLE_SCRIPT = (
    "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
)
NO_SCREEN = "There is no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set."
SCREEN_HINT = "It works in the session of a desktop. Give the text in your answer."


@dataclass(frozen=True, slots=True)
class DesktopProgram:
    """One program for a thing: its words, and whether it stays as long as it owns the text."""

    argv: tuple[str, ...]
    stays: bool = False


def _is_wsl() -> bool:
    return bool(environment(("WSL_DISTRO_NAME",)))


def _encoded(script: str) -> str:
    return base64.b64encode(script.encode("utf-16-le")).decode("ascii")


READ_SCRIPT = (
    "[Console]::OutputEncoding=[Text.Encoding]::UTF8; [Console]::Out.Write((Get-Clipboard -Raw))"
)
WRITE_SCRIPT = (
    "[Console]::InputEncoding=[Text.Encoding]::UTF8; "
    "Set-Clipboard -Value ([Console]::In.ReadToEnd())"
)


def _readers() -> list[DesktopProgram]:
    if sys.platform == "darwin":
        return [DesktopProgram(("pbpaste",))]
    if sys.platform == "win32" or _is_wsl():
        return [DesktopProgram((*POWERSHELL, _encoded(READ_SCRIPT)))]
    named = environment(OWN)
    found = []
    if named.get("WAYLAND_DISPLAY"):
        found.append(DesktopProgram(("wl-paste", "--no-newline", "--type", "text")))
    if named.get("DISPLAY"):
        found.append(DesktopProgram((*XCLIP, "-out", "-target", "UTF8_STRING")))
        found.append(DesktopProgram(("xsel", "--clipboard", "--output")))
    return _with_a_screen(found)


def _writers() -> list[DesktopProgram]:
    if sys.platform == "darwin":
        return [DesktopProgram(("pbcopy",))]
    if sys.platform == "win32" or _is_wsl():
        return [DesktopProgram((*POWERSHELL, _encoded(WRITE_SCRIPT)))]
    named = environment(OWN)
    found = []
    if named.get("WAYLAND_DISPLAY"):
        found.append(DesktopProgram(("wl-copy", "--foreground"), stays=True))
    if named.get("DISPLAY"):
        found.append(DesktopProgram((*XCLIP, "-in", "-quiet"), stays=True))
        found.append(DesktopProgram(("xsel", "--clipboard", "--input", "--nodetach"), stays=True))
    return _with_a_screen(found)


def _with_a_screen(found: list[DesktopProgram]) -> list[DesktopProgram]:
    if not found:
        raise Unavailable(NO_SCREEN, hint=SCREEN_HINT)
    return found


def _first(ways: Sequence[DesktopProgram], what: str) -> DesktopProgram:
    for program in ways:
        if shutil.which(program.argv[0]):
            return program
    names = " or ".join(dict.fromkeys(program.argv[0] for program in ways))
    raise Unavailable(
        f"{what} needs {names}, which is not installed.",
        hint=f"The user can install {names} from the system's packages.",
    )


class Clipboard:
    """The text on the clipboard of the desktop.

    Under X11 and Wayland a text is there as long as the program that put it there runs, so one
    stays, and ends with toolcrib or when somebody copies something else.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    async def read(self) -> str:
        """The text; empty where there is none.

        Raises:
            Unavailable: no desktop, or no program for it.
            TimedOut: the owner of the text does not give it.
        """
        program = _first(_readers(), "Reading the clipboard")
        done = await _run(self._processes, program.argv)
        if done.exit_code and not done.stdout.size:
            reason = str(done.stderr).strip().splitlines()
            if not reason or _is_empty(reason[0]):
                return ""
            raise _failed(program.argv[0], reason[0])
        return bytes(done.stdout).decode("utf-8", "replace")

    async def write(self, text: str) -> str:
        """Put a text there; the name of the program that did.

        Raises:
            Unavailable, TimedOut: as `read`.
        """
        program = _first(_writers(), "Writing to the clipboard")
        if not program.stays:
            done = await _run(self._processes, program.argv, text.encode())
            if done.exit_code:
                raise _failed(program.argv[0], str(done.stderr))
            return program.argv[0]
        process = await self._processes.spawn(
            program.argv, cwd="/", env=environment(OWN), stdin=text.encode(), passed_on=PASSED_ON
        )
        try:
            await self._until_there(text, process)
        except BaseException:
            await process.kill(0)
            raise
        if process.exit_code:
            raise _failed(program.argv[0], "it ended at once")
        return program.argv[0]

    async def _until_there(self, text: str, process: Process) -> None:
        """Wait until the text can be read back, so that nobody pastes the one before; or an end."""
        pause = 0.02
        try:
            async with asyncio.timeout(SECONDS):
                while await self.read() != text and not process.exit_code:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 0.3)
        except TimeoutError:
            raise TimedOut(
                "The clipboard did not take the text.", hint="Give the text in your answer."
            ) from None


def _is_empty(reason: str) -> bool:
    words = ("not available", "nothing is copied", "no selection", "no suitable")
    return any(word in reason.lower() for word in words)


def _failed(program: str, reason: str) -> Unavailable:
    short = " ".join(reason.split())[:200] or "it says no reason"
    return Unavailable(f"{program} failed: {short}.", hint=SCREEN_HINT)


async def _run(processes: Processes, argv: Sequence[str], stdin: bytes | None = None) -> Finished:
    done = await processes.run(
        argv,
        cwd="/" if os.name != "nt" else os.sep,
        env=environment(OWN),
        stdin=stdin,
        timeout=SECONDS,
        max_output=MAX_BYTES,
        passed_on=PASSED_ON,
    )
    if done.timed_out:
        raise TimedOut(
            f"{argv[0]} did not end within {SECONDS:.0f} s.",
            hint="The program that owns the clipboard or shows notifications may hang.",
        )
    return done


NOTIFY = "org.freedesktop.Notifications"


def _notifiers(title: str, message: str, icon: str) -> list[DesktopProgram]:
    if sys.platform == "darwin":
        return [DesktopProgram(("osascript", "-e", APPLE_SCRIPT, title, message))]
    if sys.platform == "win32" or _is_wsl():
        return [DesktopProgram((*POWERSHELL, _encoded(_toast(title, message))))]
    named = environment(OWN)
    if not named.get("DBUS_SESSION_BUS_ADDRESS") and not named.get("XDG_RUNTIME_DIR"):
        raise Unavailable(
            "There is no desktop session here: DBUS_SESSION_BUS_ADDRESS is not set.",
            hint="It works where toolcrib runs in the session of a desktop. Say it in your answer.",
        )
    # Its body is markup, in which these signs mean something.
    body = message.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words = ["--app-name=toolcrib", *([f"--icon={icon}"] if icon else []), "--", title]
    escaped = body.replace("\\", "\\\\")  # notify-send reads escapes in it, gdbus does not
    call = ("gdbus", "call", "--session", "--timeout=4", f"--dest={NOTIFY}")
    place = ("--object-path=/org/freedesktop/Notifications", f"--method={NOTIFY}.Notify")
    values = ["toolcrib", "uint32 0", icon, title, body, "@as []", "@a{sv} {}", "int32 -1"]
    quoted = [_variant(v) if n in (0, 2, 3, 4) else v for n, v in enumerate(values)]
    return [
        DesktopProgram(("notify-send", *words, escaped)),
        DesktopProgram((*call, *place, *quoted)),
    ]


def _variant(text: str) -> str:
    """A text as gdbus reads it."""
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or c in "'\\\"" else c for c in text if ord(c) != 0
    )
    return f"'{escaped}'"


def _toast(title: str, message: str) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''").replace("\u2018", "''").replace("\u2019", "''") + "'"

    kind = "Windows.UI.Notifications"
    return (
        f"[{kind}.ToastNotificationManager,{kind},ContentType=WindowsRuntime]|Out-Null;"
        f"$x=[{kind}.ToastNotificationManager]::GetTemplateContent("
        f"[{kind}.ToastTemplateType]::ToastText02);"
        "$t=$x.GetElementsByTagName('text');"
        f"$t.Item(0).AppendChild($x.CreateTextNode({quoted(title)}))|Out-Null;"
        f"$t.Item(1).AppendChild($x.CreateTextNode({quoted(message)}))|Out-Null;"
        f"[{kind}.ToastNotificationManager]::CreateToastNotifier('toolcrib')"
        f".Show([{kind}.ToastNotification]::new($x))"
    )


async def notify(processes: Processes, title: str, message: str, icon: str = "") -> str:
    """Show a notification of the desktop; the name of the program that did.

    Raises:
        Unavailable: no desktop, no program for it, or nobody shows notifications.
        TimedOut: the service does not answer.
    """
    program = _first(_notifiers(title, message, icon), "A notification")
    done = await _run(processes, program.argv)
    if done.exit_code:
        reason = " ".join(str(done.stderr).split())[:200]
        if "ServiceUnknown" in reason or "was not provided" in reason:
            reason = "no program of this desktop shows notifications"
        raise Unavailable(f"{program.argv[0]} failed: {reason}.", hint="Say it in your answer.")
    return program.argv[0]
