"""The keyboard of a chat: lines of any length, pastes as one piece, keys while a model writes.

The terminal's own line mode cuts a line at 4,095 characters without a word, so it is off for as
long as a chat goes on, and lines are put together here.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from toolcrib.surfaces.cli import person
from toolcrib.surfaces.cli.screen import cells, visible

CHUNK_BYTES = 65_536
PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
PASTE_START, PASTE_END = "[200~", "[201~"
DETAIL_KEY = "\x0f"
"""Ctrl-O."""
MAX_ECHO_CHARS = 2_000
MAX_SEQUENCE_CHARS = 40
BLOCK = '"""'


class LineBuffer:
    """Puts a line together from what is typed.

    Enter ends it, but for a line that ends with a backslash or a block that three quotes opened
    and none closed. Pasted text is part of it whatever it holds. Cursor keys do nothing.

    Args:
        echo: shows what was typed.
    """

    def __init__(self, echo: Callable[[str], None]) -> None:
        self._echo = echo
        self._chars: list[str] = []
        self._sequence: str | None = None
        self._is_pasting = False
        self._pasted = 0
        self._after_return = False

    @property
    def text(self) -> str:
        """What is typed so far."""
        return "".join(self._chars)

    def feed(self, char: str) -> str | None:
        """Take a character; the line where it ends here. Raises EOFError at Ctrl-D."""
        if self._sequence is not None:
            self._in_sequence(char)
            return None
        if char == "\x1b":
            self._sequence = ""
            return None
        if char in "\r\n":
            return self._enter(char)
        self._after_return = False
        if self._is_pasting or char == "\t" or char.isprintable():
            self._add(char)
        elif char in "\x7f\b":
            self._erase(1)
        elif char == "\x15":
            self._erase(len(self._chars) - self._line_start())
        elif char == "\x17":
            self._erase(self._word())
        elif char == "\x04" and not self._chars:
            raise EOFError
        return None

    def _enter(self, char: str) -> str | None:
        twice = char == "\n" and self._after_return
        self._after_return = char == "\r"
        if self._is_pasting:
            if not twice:
                self._add("\n")
            return None
        if twice:
            return None
        self._echo("\n")
        text = self.text
        if text.endswith("\\"):
            self._chars[-1:] = ["\n"]
            return None
        stripped = text.strip()
        if stripped.startswith(BLOCK):
            if not stripped.endswith(BLOCK) or len(stripped) < 2 * len(BLOCK):
                self._chars.append("\n")
                return None
            text = stripped[len(BLOCK) : -len(BLOCK)].strip("\n")
        self._chars.clear()
        return text

    def _add(self, char: str) -> None:
        self._chars.append(char)
        if not self._is_pasting:
            self._echo(char)
            return
        self._pasted += 1
        if self._pasted <= MAX_ECHO_CHARS:
            self._echo(char)

    def _in_sequence(self, char: str) -> None:
        assert self._sequence is not None
        self._sequence += char
        sequence = self._sequence
        if sequence in ("\r", "\n"):  # Alt-Enter
            self._add("\n")
        elif sequence[0] in "[O" and len(sequence) < MAX_SEQUENCE_CHARS:
            if len(sequence) == 1 or not "@" <= char <= "~":
                return
            if sequence == PASTE_START:
                self._is_pasting, self._pasted = True, 0
            elif sequence == PASTE_END:
                self._is_pasting = False
                if self._pasted > MAX_ECHO_CHARS:
                    self._echo(f"... [pasted {self._pasted:,} characters]")
        elif self._is_pasting:  # no key, but a part of what was pasted
            for part in f"\x1b{sequence}":
                self._add(part)
        self._sequence = None

    def _line_start(self) -> int:
        return len(self._chars) - len(self.text.rpartition("\n")[2])

    def _word(self) -> int:
        text = self.text
        return len(text) - len(text.rstrip().rpartition(" ")[0])

    def _erase(self, count: int) -> None:
        for char in reversed(self._chars[max(len(self._chars) - count, 0) :]):
            size = cells(visible(char)) if char != "\n" else 0
            self._echo("\b" * size + " " * size + "\b" * size)
        if count:
            del self._chars[-count:]


class Keyboard:
    """The one reader of standard input while a chat goes on.

    Args:
        write: shows what is typed, and prompts.

    Attributes:
        pending: what was typed while nobody read it.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self.pending = b""
        self._write = write
        self._descriptor = sys.stdin.fileno()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the terminal out of its line mode meanwhile; it is as before afterwards."""
        if sys.platform == "win32" or find_spec("termios") is None:  # lines have no such limit
            yield
            return
        import termios

        before = termios.tcgetattr(self._descriptor)
        mode = termios.tcgetattr(self._descriptor)
        # Enter comes as the editor expects it, also what was typed before it began to read.
        mode[0] &= ~termios.ICRNL
        # Ctrl-C stays a signal; Ctrl-O and Ctrl-V are keys.
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)
        self._write(PASTE_ON)
        try:
            yield
        finally:
            self._write(PASTE_OFF)
            with suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)

    async def read_line(self, prompt: str, *, fresh: bool = False) -> str | None:
        """A line that is typed; None at the end of input.

        Args:
            prompt: shown before.
            fresh: nothing that was typed before the prompt counts.
        """
        self._write(prompt)
        if sys.platform == "win32":
            line = await asyncio.to_thread(sys.stdin.readline)
            return line.rstrip("\r\n") if line else None
        earlier, self.pending = self.pending, b""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        buffer = LineBuffer(self._show)
        data = b"" if fresh else earlier
        taken = 0
        try:
            while True:
                for taken, byte in enumerate(data, 1):
                    for char in decoder.decode(bytes([byte])):
                        line = buffer.feed(char)
                        if line is not None:
                            self.pending = data[taken:]
                            return line
                data, taken = await person.typed(CHUNK_BYTES), 0
                if not data:
                    return None
        except EOFError:
            self.pending = data[taken:]
            return None
        finally:
            if fresh:
                self.pending = earlier + self.pending

    @contextmanager
    def watched(self, on_detail: Callable[[], Any]) -> Iterator[None]:
        """Keep what is typed meanwhile for the next line; Ctrl-O calls `on_detail` at once."""
        if sys.platform == "win32":
            yield
            return

        def ready() -> None:
            try:
                data = os.read(self._descriptor, CHUNK_BYTES)
            except OSError:
                data = b""
            if not data:
                loop.remove_reader(self._descriptor)
                return
            key = DETAIL_KEY.encode()
            if data == key:
                on_detail()
            else:
                self.pending += data

        loop = asyncio.get_running_loop()
        self._write(PASTE_ON)  # an editor may have turned it off
        loop.add_reader(self._descriptor, ready)
        try:
            yield
        finally:
            loop.remove_reader(self._descriptor)

    def _show(self, text: str) -> None:
        self._write(text if text == "\n" or set(text) <= {"\b", " "} else visible(text))
