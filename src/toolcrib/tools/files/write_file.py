"""`write_file`: whole files, new or replaced."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Annotated, TypedDict

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NotFound, UnsupportedContent
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import FaithfulText, Splice
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.lines import line_count
from toolcrib.files.edits.fences import file_text, unfenced
from toolcrib.files.edits.left_out import placeholder
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import Loaded, load, need_size, refuse_no_text
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted
from toolcrib.tools.files.argument_adapters import adapt_write

UNUSUAL = frozenset('*?<>|"')
"""Characters that no name of a new file has: other systems refuse them, and shells read them."""
VARIABLE = re.compile(
    r"\$\{?[A-Z][A-Z0-9_]*\}?|%[A-Za-z][A-Za-z0-9_]*%"
    r"|\{\{ ?(?:path|file|filename|folder|dir|directory|cwd|home|root|workspace)(?:_\w+)? ?\}\}"
)
"""A variable of a shell, or what a prompt left in its template; projects have folders as `$id`."""
CONTENT_ALIASES = ("text", "data", "body", "file_text", "contents", "file_content")
PATH_ALIASES = ("file_path", "file_name", "filename", "file", "name", "target_file")


class NewFile(TypedDict):
    """One of several files."""

    path: Annotated[WritablePath, Param(aliases=PATH_ALIASES)]
    content: Annotated[str, Param(aliases=CONTENT_ALIASES)]


@tool(
    group="files",
    rights=WRITE,
    keywords=("save", "create", "new", "overwrite", "store", "output"),
    aliases=("write_text_file", "write_files", "save_files", "new_file"),
    argument_aliases={
        **dict.fromkeys(PATH_ALIASES, "path"),
        **dict.fromkeys(CONTENT_ALIASES, "content"),
    },
    profiles=("default",),
    destructive=True,
    idempotent=True,
    argument_adapter=adapt_write,
)
async def write_file(
    path: WritablePath | None = None,
    content: Annotated[str | None, Param("All of the text.")] = None,
    files: Annotated[list[NewFile] | None, Param("Several: all or none.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Create a file, or replace all of its text.

    Folders are made. A file that is replaced keeps its encoding and line ends. To change
    a part of a file use `edit_file`.
    """
    wanted = _wanted(path, content, files)
    ctx.session.taint(private=True)

    def work(check: Checkpoint) -> tuple[Step, list[ChangeReport], str]:
        step, report = Step(write_file.name), []
        for where, text in wanted:
            check()
            report.append(_planned(step, where, text))
        return step, report, render_reports(report)

    step, report, text = await in_thread(work, ctx.deadline)
    return await carry_out(step, report, text, ctx)


def _wanted(
    path: SafePath | None, content: str | None, files: Sequence[NewFile] | None
) -> list[tuple[SafePath, str]]:
    wanted = [(file["path"], file["content"]) for file in files or ()]
    if path is not None and content is not None:
        wanted.insert(0, (path, content))
    elif path is not None or content is not None:
        missing = "content" if content is None else "path"
        raise BadInput(f"{missing} is missing.", hint="Send path and content, or files.")
    if not wanted:
        raise BadInput("There is nothing to write.", hint="Send path and content, or files.")
    seen: set[str] = set()
    for where, _ in wanted:
        if where.absolute in seen:
            raise BadInput(f"{where.display} is there twice.", hint="Send each file once.")
        seen.add(where.absolute)
    return wanted


def _planned(step: Step, path: SafePath, content: str) -> ChangeReport:
    loaded = _existing(path)
    if loaded is None:
        _refuse_name(path)
        content, note = file_text(content, "", path.display)
        data = need_size(path, content.encode())
        step.write(path, data, expected="")
        report = _report(path, "created", "", content, data, new=True)
        report.notes += [note] if note else []
        return report
    fenced = unfenced(loaded.text) is not None
    content, fence = file_text(content, loaded.text if fenced else "", path.display)
    _refuse_placeholder(path, content, loaded.text)
    faithful = loaded.faithful
    text = content.replace("\r\n", "\n").removeprefix("\ufeff")
    data, note = _encoded(faithful, text if faithful.text else content)
    step.write(path, need_size(path, data), expected=loaded.fingerprint)
    report = _report(path, "replaced", loaded.text, text, data)
    report.notes += [each for each in (fence, note) if each]
    return report


def _encoded(faithful: FaithfulText, text: str) -> tuple[bytes, str]:
    """The bytes of a text in the way of the file that it replaces, and a note on it."""
    if not faithful.text:
        return faithful.encoding.mark + text.encode(faithful.encoding.name), ""
    try:
        return faithful.spliced([Splice(0, len(faithful.text), text)]), ""
    except BadInput:
        note = f"Note: the file was {faithful.encoding.name}, which cannot hold this: now UTF-8."
        return text.replace("\n", faithful.eol).encode(), note


def _existing(path: SafePath) -> Loaded | None:
    """The text that is replaced, if any; bytes of no known kind are replaced too.

    Raises:
        Conflict: it is a picture, a document or the like, which no text can be.
    """
    try:
        return load(path)
    except NotFound:
        return None
    except UnsupportedContent:
        with path.open_read() as handle:
            kind = kind_of(handle.file.read(SAMPLE_BYTES))
            if kind is not None and kind.media_type:
                raise Conflict(
                    f"{path.display} is a {kind.name}, {handle.size:,} bytes, and would be none "
                    "any more with text in its place.",
                    hint="Write to another name; or delete it first, if it is not needed.",
                ) from None
            return Loaded(path, FaithfulText.new(), handle.fingerprint, handle.size)


def _refuse_name(path: SafePath) -> None:
    refuse_no_text(path)
    for depth, name in enumerate(path.parts, 1):
        if VARIABLE.fullmatch(name) and not os.path.lexists(path.ancestor(depth).absolute):
            raise BadInput(
                f"'{name}' is not replaced: a path is taken as it stands.",
                hint="Send the path itself, relative to the workspace.",
            )
        strange = sorted(UNUSUAL & set(name))
        if strange:
            raise BadInput(
                f"'{name}' has {' '.join(strange)}, which names of files must not have.",
                hint="Use letters, digits, dots, dashes and underscores.",
            )


def _refuse_placeholder(path: SafePath, content: str, before: str) -> None:
    found = placeholder(content, before, before, path.display)
    if found:
        raise Conflict(
            f"The content has a line that stands for text left out, and {path.display} would "
            f"lose that text: {found}",
            hint="Send the whole content, or change a part of the file with edit_file.",
        )


def _report(
    path: SafePath, verb: str, before: str, after: str, data: bytes, *, new: bool = False
) -> ChangeReport:
    count = line_count(after)
    line = f"{path.display} {verb}: {counted(count, 'line')}, {counted(len(data), 'byte')}"
    notes = []
    if new and (found := placeholder(after, "")):
        notes.append(f"Warning: a line stands for text left out: {found}")
    info = {"created": new, "size": len(data), "lines": count}
    return ChangeReport(path.display, line, before, after, notes, info, whole=True)
