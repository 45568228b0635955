"""One pattern replaced wherever it stands in a text or in the files of a folder, in linear time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, PathDenied, TooLarge, ToolError, UnsupportedContent
from toolcrib.core.tool import Tool, decide
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.replacement_text import ReplacementText
from toolcrib.files.edits.text_loader import MAX_TEXT_BYTES, Loaded, load
from toolcrib.files.paths import SafePath
from toolcrib.files.search.pattern import reason_of
from toolcrib.files.search.scope import SearchScope, scope_of, walk
from toolcrib.files.trees import TreeFolder
from toolcrib.system.threads import Checkpoint

MAX_PATTERN_CHARS = 1000
MAX_MATCHES = 20_000
"""Places in one text."""
_CLASSES = {"w": r"\pL\pM\pN_", "d": r"\p{Nd}"}
_TOKEN = re.compile(r"\\(.)|\[|\]|.", re.DOTALL)


class PatternReplacement:
    r"""A pattern and what takes its place.

    Args:
        pattern: an RE2 expression, or plain text; `^` and `$` are the ends of lines.
        replacement: see `ReplacementText`; literal where the pattern is.
        literal: take the pattern as plain text.
        ignore_case: whether the case of letters does not matter.

    Raises:
        BadInput: the pattern is empty, too long, or no expression of RE2.
    """

    def __init__(
        self, pattern: str, replacement: str, *, literal: bool = False, ignore_case: bool = False
    ) -> None:
        if not pattern:
            raise BadInput("The pattern is empty.")
        if len(pattern) > MAX_PATTERN_CHARS:
            raise BadInput(
                f"The pattern has {len(pattern):,} characters, more than {MAX_PATTERN_CHARS:,}."
            )
        plain = pattern.replace("\r\n", "\n")
        self._engine = compiled_pattern(plain, literal=literal, ignore_case=ignore_case)
        self._literal = replacement.replace("\r\n", "\n")
        self._replacement = None
        if not literal:
            groups, names = self._engine.groups, self._engine.groupindex
            self._replacement = ReplacementText(self._literal, groups, names)

    @property
    def note(self) -> str:
        """What of the replacement looks like a group and is none; "" where nothing does."""
        return self._replacement.note if self._replacement else ""

    def may_fit(self, raw: bytes | None) -> bool:
        """Whether a file needs a closer look, from its bytes; None is one that was not read.

        False is said only of plain ASCII text, which is searched as it stands.
        """
        if raw is None or not raw.isascii() or b"\r" in raw or b"\0" in raw:
            return True
        return self._engine.search(raw) is not None

    def splices(self, text: str) -> list[Splice]:
        """The changes of a text, in order; places where nothing would change are left out.

        Raises:
            TooLarge: there are more than MOST.
        """
        raw = text.encode("utf-8", "surrogatepass")
        found: list[Splice] = []
        at = chars = 0
        for match in text_matches(self._engine, raw):
            start, end = match.span()
            chars += len(raw[at:start].decode("utf-8", "surrogatepass"))
            old = raw[start:end].decode("utf-8", "surrogatepass")
            new = self._replacement.expanded(match) if self._replacement else self._literal
            if new != old:
                found.append(Splice(chars, chars + len(old), new))
            if len(found) > MAX_MATCHES:
                raise TooLarge(f"The pattern stands there more than {MAX_MATCHES:,} times.")
            chars += len(old)
            at = end
        return found


def text_matches(engine: Any, raw: bytes) -> Iterator[Any]:
    """The matches of an engine in UTF-8, in order, as an editor of lines counts them.

    RE2 gives an empty match twice where another ends, one behind the last line end, and some
    within a character; none of them is a place of its own.
    """
    done = -1
    size = len(raw)
    for match in engine.finditer(raw):
        start, end = match.span()
        if start == end and (start == done or (start == size and raw[-1:] in (b"", b"\n"))):
            continue
        if any(at < size and raw[at] & 0xC0 == 0x80 for at in (start, end)):
            continue
        done = end
        yield match


def compiled_pattern(pattern: str, *, literal: bool, ignore_case: bool) -> Any:
    """An RE2 expression over bytes of UTF-8; `^` and `$` are the ends of lines.

    Raises:
        BadInput: it is no expression of RE2.
    """
    if literal and not ignore_case:  # needs no engine, so that it works where RE2 has no wheel
        return re.compile(re.escape(pattern.encode("utf-8", "surrogatepass")))
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    text = re2.escape(pattern) if literal else "".join(_unicode(pattern))
    try:
        return re2.compile(text if literal else f"(?m){text}", options)
    except re2.error as error:
        raise BadInput(
            f"The pattern is no expression: {reason_of(error)}.",
            hint="It is an RE2 expression, without look-around and back-references. "
            f"As plain text: {re2.escape(pattern[:200])}",
        ) from None


def _unicode(pattern: str) -> Iterator[str]:
    """The expression with word characters and digits of every script."""
    inside = False
    for token in _TOKEN.finditer(pattern):
        text, escaped = token[0], token[1]
        if escaped in _CLASSES:
            text = _CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]"
        elif escaped == "W" and not inside:
            text = f"[^{_CLASSES['w']}]"
        elif text == "[":
            inside = True
        elif text == "]":
            inside = False
        yield text


# The files of a folder that one pattern would change.

MAX_FILES = 1_000
MAX_TOTAL_BYTES = 200_000_000
"""Bytes of all files that are changed at once: they are held in memory."""
SECONDS = 15.0
"""After so long a dry run shows what it found, and says that there may be more."""
NARROWER = "Narrow it with path and glob, or change them in several calls."


@dataclass(frozen=True, slots=True)
class FileReplacement:
    """What changes in one file."""

    display: str
    loaded: Loaded
    splices: list[Splice]


@dataclass(slots=True)
class FoundReplacements:
    """The files that change, and those that were left out, by reason.

    `partly`: the time of a dry run was up before all files were looked at.
    """

    changes: list[FileReplacement] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    partly: bool = False

    def leave_out(self, reason: str, display: str) -> None:
        """Note a file that is not looked at or not changed."""
        self.left_out.setdefault(reason, []).append(display)


def find_replacements(
    folder: SafePath,
    globs: list[str],
    pattern: PatternReplacement,
    tool: Tool,
    ctx: Ctx,
    check: Checkpoint,
    *,
    until: float | None = None,
    depth: int | None = None,
) -> FoundReplacements:
    """Look through a file, or the files of a folder. It blocks.

    Files that are binary, too large, protected, links, or ruled out by the policy are left
    out and noted; hidden and ignored ones are not looked at.

    Args:
        folder: the file or folder.
        globs: which files.
        pattern: what is replaced.
        tool: the tool whose policy holds for each file.
        ctx: the call.
        check: called between two files.
        until: a `time.monotonic()` value after which it stops with what it found.
        depth: levels of folders, 1 for the folder itself.

    Raises:
        TooLarge: more than MOST_FILES would change, or more than MOST_BYTES.
        NotFound, PathDenied: there is no such folder, or it cannot be read.
    """
    found = FoundReplacements()
    size = 0
    for display, path in _files(folder, globs, pattern, check, found, depth):
        if until is not None and time.monotonic() > until:
            found.partly = True
            break
        change = None if path is None else _file_replacement(display, path, pattern, found)
        if path is None or change is None:
            continue
        reason = _barred(path, tool, ctx)
        if reason:
            found.leave_out(reason, display)
            continue
        found.changes.append(change)
        size += change.loaded.size
        if len(found.changes) > MAX_FILES:
            raise TooLarge(f"More than {MAX_FILES:,} files would change.", hint=NARROWER)
        if size > MAX_TOTAL_BYTES:
            raise TooLarge(
                f"Files of more than {MAX_TOTAL_BYTES:,} bytes would change.", hint=NARROWER
            )
    return found


def _files(
    folder: SafePath,
    globs: list[str],
    pattern: PatternReplacement,
    check: Checkpoint,
    found: FoundReplacements,
    depth: int | None,
) -> Iterator[tuple[str, SafePath | None]]:
    """The files to look at closely, each as a call would name it; None after each folder."""
    if folder.kind() == "file":
        yield folder.display, folder
        return
    scope = scope_of(folder, globs)
    unread: list[str] = []
    with scope.real.open() as top:
        for level in walk(scope, top, check, unread=unread):
            if depth is not None and level.prefix.count("/") + 1 >= depth:
                level.folders = []
            yield level.prefix, None
            _leave_out(level, scope, found)
            for number, name in enumerate(level.files):
                path = f"{level.prefix}{name}"
                if not scope.globs.fits(path):
                    continue
                if not number % 100:
                    check()
                    yield path, None
                if pattern.may_fit(level.read(name, MAX_TEXT_BYTES)):
                    yield scope.display(path), scope.file(path)
    for path in unread:
        found.leave_out("not readable", scope.display(path))


def _leave_out(level: TreeFolder, scope: SearchScope, found: FoundReplacements) -> None:
    """Note what of a folder is protected or a link."""
    for reason, names in (("protected", level.barred), ("a link", level.links)):
        for path in (f"{level.prefix}{name}" for name in names):
            if path.endswith("/") or scope.globs.fits(path):
                found.leave_out(reason, scope.display(path))


def _file_replacement(
    display: str, path: SafePath, pattern: PatternReplacement, found: FoundReplacements
) -> FileReplacement | None:
    try:
        loaded = load(path)
        if "\0" in loaded.text:  # search_files takes it for binary too
            raise UnsupportedContent("It is binary.")
        splices = pattern.splices(loaded.text)
    except UnsupportedContent:
        found.leave_out("not text", display)
    except TooLarge:
        found.leave_out("too large", display)
    except PathDenied as error:
        reason = "not readable" if error.details.get("rule") == "permissions" else "protected"
        found.leave_out(reason, display)
    except ToolError:
        found.leave_out("not readable", display)
    else:
        return FileReplacement(display, loaded, splices) if splices else None
    return None


def _barred(path: SafePath, tool: Tool, ctx: Ctx) -> str:
    """Why a file may not be written; "" where it may."""
    decision = decide(ctx.config.policy, tool, path.spellings())
    if decision.action != "allow":
        return "not allowed by policy"
    try:
        with path.place():
            return ""
    except PathDenied:
        return "protected, a link, or with several names"
