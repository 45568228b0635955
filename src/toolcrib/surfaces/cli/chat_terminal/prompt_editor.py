"""Typing with prompt_toolkit: a line that is edited, with history, search and completion."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

FOLDED_CHARS = 2_000
FOLDED_LINES = 30
"""What is pasted stands in the line up to here; beyond, a mark stands for it."""
MAX_ENTRY_CHARS = 20_000
"""Characters of an entry of the history."""
MAX_MATCHES = 200
FOLD = re.compile(r"\[pasted (\d+): [\d,]+ characters\]")
CURSOR_REPORT = re.compile(r"\x1b\[\d+;\d+R")
"""What a terminal answers to an editor that has left meanwhile."""
Words = Callable[[str], Sequence[str]]


def available() -> bool:
    """Whether the extra is installed."""
    from importlib.util import find_spec

    return find_spec("prompt_toolkit") is not None


class PromptEditor:
    """Reads what a person types, with all that an editor of lines has.

    Enter sends; Alt-Enter or Ctrl-J begins a new line. Pasted text never sends.

    Args:
        history: the file that keeps what was typed; None keeps nothing.
        commands: the names of the commands.
        words: what a command may be followed by, for completion.
        on_detail: called at Ctrl-O.
    """

    def __init__(
        self,
        history: Path | None,
        commands: Sequence[str],
        words: Words,
        on_detail: Callable[[], Any],
    ) -> None:
        self._commands = list(commands)
        self._words = words
        self._on_detail = on_detail
        self._pasted: list[str] = []
        self._session = self._built(history)

    async def read(self, prompt: str, typed_ahead: bytes = b"", text: str = "") -> str | None:
        """What is typed; None at its end (Ctrl-D).

        Args:
            prompt: shown before.
            typed_ahead: keys that came before.
            text: what stands in the line to begin with.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        self._pasted.clear()
        if typed_ahead:
            self._feed(typed_ahead)
        try:
            # Ctrl-C is a key while it reads. With a handler of its own it would leave the
            # signal without one, and then nothing stops a turn.
            line = await self._session.prompt_async(prompt, default=text, handle_sigint=False)
        except EOFError:
            return None
        return self._whole(line)

    @property
    def draft(self) -> str:
        """What stood in the line when `read` ended."""
        return self._session.default_buffer.text

    def _built(self, path: Path | None) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import FileHistory, History, InMemoryHistory

        editor = self

        class ChatHistory(FileHistory):
            """What was typed, with what was pasted, up to a size; unreadable is empty."""

            def append_string(self, string: str) -> None:
                whole = editor._whole(string)
                if len(whole) <= MAX_ENTRY_CHARS:
                    with suppress(OSError):
                        super().append_string(whole)

            def load_history_strings(self) -> Iterable[str]:
                with suppress(OSError):
                    yield from super().load_history_strings()

        class ChatCompleter(Completer):
            """Commands, what follows them, and paths."""

            def get_completions(self, document: Any, complete_event: Any) -> Iterable[Completion]:
                del complete_event
                before = document.text_before_cursor
                for word, start in editor._completions(before):
                    yield Completion(word, start_position=start)

        history: History = InMemoryHistory()
        if path is not None:
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
                history = ChatHistory(str(path))
        return PromptSession(
            history=history,
            completer=ChatCompleter(),
            complete_while_typing=False,
            multiline=True,
            key_bindings=self._keys(),
            enable_open_in_editor=True,
            enable_history_search=True,
            search_ignore_case=True,
            prompt_continuation=lambda _, __, is_wrapped: "" if is_wrapped else "...> ",
        )

    def _keys(self) -> Any:
        from prompt_toolkit.filters import has_focus
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.keys import Keys

        keys = KeyBindings()
        typing = has_focus("DEFAULT_BUFFER")

        @keys.add("enter", filter=typing)
        def _(event: Any) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("escape", "enter", filter=typing)
        @keys.add("c-j", filter=typing)
        def _(event: Any) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-o", filter=typing)
        def _(event: Any) -> None:
            # `run_in_terminal` would turn the terminal's own line mode on meanwhile, in which
            # an Enter that is typed early is another key.
            event.app.renderer.erase()
            self._on_detail()
            event.app.invalidate()

        @keys.add(Keys.BracketedPaste)
        def _(event: Any) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            if len(text) > FOLDED_CHARS or text.count("\n") > FOLDED_LINES:
                self._pasted.append(text)
                text = f"[pasted {len(self._pasted)}: {len(text):,} characters]"
            event.current_buffer.insert_text(text)

        return keys

    def _whole(self, line: str) -> str:
        """The line with what its marks stand for."""

        def pasted(found: re.Match[str]) -> str:
            number = int(found[1])
            return self._pasted[number - 1] if 0 < number <= len(self._pasted) else found[0]

        return FOLD.sub(pasted, line)

    def _feed(self, data: bytes) -> None:
        """Let keys that came before count as typed now."""
        from prompt_toolkit.input.typeahead import store_typeahead
        from prompt_toolkit.input.vt100_parser import Vt100Parser

        presses: list[Any] = []
        parser = Vt100Parser(presses.append)
        parser.feed_and_flush(CURSOR_REPORT.sub("", data.decode("utf-8", "replace")))
        store_typeahead(self._session.app.input, presses)

    def _completions(self, before: str) -> Iterable[tuple[str, int]]:
        if before.startswith("/") and " " not in before:
            yield from ((name, -len(before)) for name in self._commands if name.startswith(before))
            return
        command, space, rest = before.partition(" ")
        word = rest.rpartition(" ")[2] if space else before.rpartition(" ")[2]
        if before.startswith("/") and space:
            given = [w for w in self._words(command) if w.lower().startswith(word.lower())]
            yield from ((w, -len(word)) for w in given[:MAX_MATCHES])
        yield from ((path, -len(word)) for path in paths_like(word))


def paths_like(word: str) -> list[str]:
    """The paths that a word may become, folders with a slash."""
    folder, slash, start = word.rpartition("/")
    where = Path(f"{folder}{slash}" or ".").expanduser()
    found = []
    with suppress(OSError, ValueError, RuntimeError):
        for entry in sorted(os.scandir(where), key=lambda e: e.name):
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if entry.name.startswith(start) and not hidden and entry.name.isprintable():
                with suppress(OSError):
                    end = "/" if entry.is_dir() else ""
                    found.append(f"{folder}{slash}{entry.name}{end}")
            if len(found) >= MAX_MATCHES:
                break
    return found
