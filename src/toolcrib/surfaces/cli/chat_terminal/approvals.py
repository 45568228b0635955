"""Asking a person in a chat: what a call would change as a diff, and once, always, or a no."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from toolcrib.core.context import Form, PersonAnswer, Question, Rejection, SiteApproval
from toolcrib.core.errors import ToolError
from toolcrib.files.paths import SafePath
from toolcrib.surfaces.cli.chat_terminal.view import note, write_error
from toolcrib.surfaces.cli.form import filled
from toolcrib.surfaces.cli.screen import COLOURS, visible

CHOICES = "[y]es once, [a]lways in this chat, [n]o, or words that say what to do instead: "
SITE_CHOICE = "[s]ite in this chat, "
MAX_DIFF_LINES = 60
MAX_DIFF_BYTES = 1_000_000
GREEN, PLAIN = "\x1b[32m", "\x1b[0m"
ReadLine = Callable[[str], Awaitable[str | None]]


class Approver:
    """Asks the person: yes, no, or always for a tool in this chat.

    Always holds for the same reason alone: who lets a tool write has not let it send out
    what came from a page.

    Args:
        read_line: shows a prompt and reads a line; None at the end of input.
        styled: colours may be used.
    """

    def __init__(self, read_line: ReadLine, *, styled: bool = False) -> None:
        self._read_line = read_line
        self._styled = styled
        self._always: set[tuple[str, str]] = set()

    async def __call__(self, question: Question) -> PersonAnswer:
        """Whether the call may go on."""
        key = (question.tool, question.reason)
        if key in self._always and not question.is_single:
            return True
        diff = list(diff_of(question.tool, question.arguments))
        note(f"Allow {question.tool}? {question.summary if not diff else ''}".rstrip())
        for line in diff[:MAX_DIFF_LINES]:
            self._show(line)
        if len(diff) > MAX_DIFF_LINES:
            note(f"  ({len(diff) - MAX_DIFF_LINES} more lines)")
        note(f"Asked because: {visible(question.reason)}.")
        answer = await self._read_line(SITE_CHOICE * bool(question.site) + CHOICES)
        word = (answer or "").strip()
        if question.site and word.lower() in ("s", "site"):
            return SiteApproval()
        if word.lower() in ("a", "always"):
            self._always.add(key)
            return True
        if word.lower() in ("y", "yes"):
            return True
        first, _, rest = word.partition(" ")
        words = rest if first.lower().rstrip(",:;.") in ("n", "no") else word
        return Rejection(words.strip()) if words.strip() else False

    async def fill(self, form: Form) -> Mapping[str, Any] | None:
        """The fields of a form as the person fills them in; None where they do not."""
        return await filled(form, self._read_line, note)

    def _show(self, line: str) -> None:
        colour = {"+": GREEN, "-": COLOURS["red"]}.get(line[:1], "") if self._styled else ""
        write_error(f"  {colour}{visible(line)}{PLAIN if colour else ''}\n")


def diff_of(tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What a call would change, as lines of a diff; nothing where that is not known.

    Of a file that is written anew, its text now and then; of edits, what they replace by what.
    """
    patch = arguments.get("patch")
    if tool == "apply_patch" and isinstance(patch, str):
        yield from patch.splitlines()
        return
    for place, before, after in _changes(tool, arguments):
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), place, place, n=2, lineterm=""
        )
        yield from lines


def _changes(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    several = arguments.get("files") or arguments.get("edits") or ()
    for item in [arguments, *(several if isinstance(several, list | tuple) else ())]:
        if not isinstance(item, Mapping):
            continue
        path = item.get("path") or arguments.get("path")
        old, new, content = item.get("old"), item.get("new"), item.get("content")
        if tool == "write_file" and isinstance(path, SafePath) and isinstance(content, str):
            yield str(path), _text_of(path), content
        elif tool == "append_file" and path and isinstance(content, str):
            yield str(path), "", content
        elif tool == "edit_file" and isinstance(old, str) and isinstance(new, str):
            yield str(path or ""), old, new


def _text_of(path: SafePath) -> str:
    try:
        return path.read_bytes(MAX_DIFF_BYTES).decode("utf-8", "replace")
    except (ToolError, OSError):
        return ""
