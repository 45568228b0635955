"""Arguments of tools that write, edit and delete files elsewhere."""

from __future__ import annotations

import json
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.tools.files.adapters.values import drop, is_true, taken

COMMANDS = {
    "view": "read_file reads a file.",
    "create": "write_file makes a file.",
    "write": "write_file makes a file.",
    "insert": "edit_lines inserts lines.",
    "undo_edit": "undo_changes takes changes back.",
}
TOLD = ("linecount", "createdirs", "createdirectories", "createparents")
APPENDING = {"append", "a", "a+", "at", "ab"}


def writing(said: dict[str, Any]) -> None:
    """Of tools that write a whole file."""
    drop(said, TOLD)
    _drop_usual_encoding(said)
    modes = taken(said, ("mode",))
    appended = taken(said, ("append",))
    if any(str(mode).lower() in APPENDING for mode in modes) or any(map(is_true, appended)):
        raise BadInput("write_file replaces all of the text.", hint="append_file adds to the end.")
    if any(not is_true(value) for value in taken(said, ("overwrite",))):
        raise BadInput(
            "write_file replaces a file that exists.",
            hint="Leave overwrite away, or look first with file_info.",
        )


def editing(said: dict[str, Any]) -> None:
    """Of tools that replace text in a file."""
    _refuse_other_work(said)
    counts = taken(said, ("expectedreplacements", "expectedoccurrences"))
    several = any(str(count).strip() not in ("0", "1", "1.0") for count in counts)
    if several and not any(map(is_true, (said.get("all"), said.get("replaceall")))):
        raise BadInput("Several places are expected.", hint="all=true replaces every match.")
    for name in ("edits", "replacements", "changes"):
        said.update({name: _without_lines(said[name])} if name in said else {})


def _refuse_other_work(said: dict[str, Any]) -> None:
    if any(map(is_true, taken(said, ("dryrun", "preview")))):
        raise BadInput(
            "edit_file has no dry run; nothing was changed.",
            hint="Send it without: the difference is shown, and undo_changes takes it back.",
        )
    for name in ("diff", "patch"):
        if name in said:
            raise BadInput(f"edit_file takes no {name}.", hint="Send it to apply_patch, as patch.")
    if "codeedit" in said:
        raise BadInput(
            "edit_file takes no sketch of a file.",
            hint="Send old, the text to replace as the file has it, and new.",
        )
    for command in taken(said, ("command",)):
        if str(command) in COMMANDS:
            raise BadInput(f"edit_file does not {command}.", hint=COMMANDS[str(command)])
    drop(said, ("filetext", "insertline", "viewrange", "instructions"))
    _drop_usual_encoding(said)


def _drop_usual_encoding(said: dict[str, Any]) -> None:
    if str(said.get("encoding", "")).lower() in ("utf-8", "utf8"):
        del said["encoding"]


def _without_lines(edits: Any) -> Any:
    """Edits without line numbers: the text says where, and must stand there once."""
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            return edits
    if not isinstance(edits, list):
        return edits
    numbers = {"start_line", "end_line", "startLine", "endLine", "expected_replacements"}
    return [
        {k: v for k, v in edit.items() if k not in numbers} if isinstance(edit, dict) else edit
        for edit in edits
    ]


def recursing(said: dict[str, Any]) -> None:
    """Of tools that make, copy or delete folders: all that is below belongs to it anyway."""
    drop(said, ("recursive", "parents", "existok", "createparents", "isdirectory"))


def lining(said: dict[str, Any]) -> None:
    """Of tools that do one thing with lines: what is sent tells which."""
    drop(said, ("backup",))
    if {"operation", "op", "action", "command"} & set(said):
        return
    content = {"content", "contenttoinsert", "newcontent", "text", "lines"} & set(said)
    if content and {"contenttoinsert", "insertline", "linenumber"} & set(said):
        said["operation"] = "insert"
    elif "movefrom" in said:
        said["operation"] = "move"
    elif not content and {"startline", "start"} & set(said) and {"endline", "end"} & set(said):
        said["operation"] = "delete"


def packing(said: dict[str, Any]) -> None:
    """Of tools that only pack, or only unpack."""
    if {"action", "operation", "mode"} & set(said):
        return
    if {"paths", "files", "path"} & set(said):
        said["action"] = "pack"
    elif {"folder", "destination", "target", "dest"} & set(said):
        said["action"] = "unpack"


def watching(said: dict[str, Any]) -> None:
    """Of tools that only start a watch, or only stop one."""
    if "action" in said:
        return
    if {"id", "watcherid", "watchid"} & set(said):
        raise BadInput("action is missing.", hint="Send action: read or stop.")
    if {"path", "directory", "file", "filepath"} & set(said):
        said["action"] = "start"
