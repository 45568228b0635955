"""Arguments of file tools of other systems, turned into those of the tools here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.text.json_values import json_value

TRUE = {"true", "yes", "on", "1"}
FALSE = {"false", "no", "off", "0"}


def is_true(value: Any) -> bool:
    """Whether a flag was set."""
    return str(value).strip().lower() in TRUE


def is_flag(value: Any) -> bool:
    """Whether a value can only be a flag."""
    return isinstance(value, bool) or str(value).strip().lower() in (TRUE | FALSE) - {"0", "1"}


def taken(arguments: dict[str, Any], names: Iterable[str]) -> list[Any]:
    """Take out all of some names, and give the values that say something."""
    found = [arguments.pop(name) for name in names if name in arguments]
    return [value for value in found if value not in (None, "", [], {})]


def listed(value: Any) -> list[str]:
    """One text or a list of them, also as JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        found = json_value(value)
        value = value if found is None else found
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


AROUND = (
    *("c", "a", "b", "beforecontext", "aftercontext", "contextbefore", "contextafter"),
    "linesaround",
)
ANY_CASE = ("i", "ignorecase", "caseinsensitive")
INCLUDES = ("glob", "include", "includeglob", "includeglobs", "includepattern", "filepattern")
EXCLUDES = (
    *("exclude", "excludes", "excludeglob", "excludeglobs", "excludepattern", "excludepatterns"),
)
AS_REGEX = ("regex", "isregex", "isregexp", "useregex")
SHOWS = {"content": "lines", "fileswithmatches": "files", "files_with_matches": "files"}
SORTS = {"time": "modified", "mtime": "modified", "date": "modified", "mtime_desc": "modified"}
DEEPEST = 10


def adapt_search(arguments: dict[str, Any]) -> None:
    """Of tools that search the contents of files."""
    _expression(arguments)
    around = [v for v in taken(arguments, AROUND) if str(v).isdigit()]
    if around:
        arguments.setdefault("context", min(max(map(int, around)), DEEPEST))
    for value in taken(arguments, ANY_CASE):
        arguments.setdefault("casesensitive", not is_true(value))
    globs = [g for v in taken(arguments, INCLUDES) for g in listed(v)]
    globs += [f"*.{str(v).lstrip('*.')}" for v in taken(arguments, ("type", "filetype"))]
    globs += [f"!{g.lstrip('!')}" for v in taken(arguments, EXCLUDES) for g in listed(v)]
    if globs:
        arguments["glob"] = ", ".join(dict.fromkeys(globs))
    for name in ("outputmode", "show"):
        if name in arguments:
            wanted = str(arguments.pop(name))
            arguments["show"] = SHOWS.get(wanted.lower(), wanted)


def _expression(arguments: dict[str, Any]) -> None:
    for name in AS_REGEX:
        if name in arguments and is_flag(arguments[name]):
            arguments.setdefault("literal", not is_true(arguments.pop(name)))
    for mode in taken(arguments, ("mode", "searchtype", "literalsearch")):
        if str(mode) == "files":
            raise BadInput("search_files searches contents.", hint="find_files finds names.")
        arguments.setdefault("literal", str(mode) == "literal" or is_true(mode))
    if any(map(is_true, taken(arguments, ("multiline",)))):
        raise BadInput("A pattern fits within one line.", hint="Search for one line, then read.")


def adapt_listing(arguments: dict[str, Any]) -> None:
    """Of tools that list folders."""
    if any(map(is_true, taken(arguments, ("recursive",)))):
        arguments.setdefault("depth", DEEPEST)
    for name in ("sort", "sortby", "orderby"):
        if str(arguments.get(name)) in SORTS:
            arguments[name] = SORTS[str(arguments[name])]


# Arguments of tools that write, edit and delete files elsewhere.

COMMANDS = {
    "view": "read_file reads a file.",
    "create": "write_file makes a file.",
    "write": "write_file makes a file.",
    "insert": "edit_lines inserts lines.",
    "undo_edit": "undo_changes takes changes back.",
}
DESTINATIONS = (
    "destination",
    "destinationpath",
    "dst",
    "dest",
    "to",
    "topath",
    "target",
    "newpath",
)
SOURCES = ("source", "src", "from", "frompath", "oldpath", "sourcepath", "path")


def adapt_destination(arguments: dict[str, Any]) -> None:
    """Of tools that move or copy: a folder, with a slash at its end, takes what is moved.

    Both with a slash, or of one name, are folders as they are meant: the old and the new one.
    """
    given = (arguments[name] for name in SOURCES if name in arguments)
    source = str(next(given, "/")).replace("\\", "/")
    name = source.rpartition("/")[2]
    for each in DESTINATIONS:
        folder = str(arguments.get(each, "")).replace("\\", "/")
        if name and folder.endswith("/") and not folder.endswith(f"/{name}/"):
            arguments[each] = f"{folder}{name}"


APPENDING = {"append", "a", "a+", "at", "ab"}


def adapt_write(arguments: dict[str, Any]) -> None:
    """Of tools that write a whole file."""
    _drop_usual_encoding(arguments)
    for name in ("path", "filepath", "filename", "file", "name", "targetfile"):
        if str(arguments.get(name, "")).endswith(("/", "\\")):
            raise BadInput(
                f"{arguments[name]} is a folder, not a file.",
                hint="Send the path of the file in it; make_directory makes a folder.",
            )
    modes = taken(arguments, ("mode",))
    appended = taken(arguments, ("append",))
    if any(str(mode).lower() in APPENDING for mode in modes) or any(map(is_true, appended)):
        raise BadInput("write_file replaces all of the text.", hint="append_file adds to the end.")
    if any(not is_true(value) for value in taken(arguments, ("overwrite",))):
        raise BadInput(
            "write_file replaces a file that exists.",
            hint="Leave overwrite away, or look first with file_info.",
        )


def adapt_replacement(arguments: dict[str, Any]) -> None:
    """Of tools that replace in many files, and want to be told so twice."""
    for value in taken(arguments, ("confirm", "confirmed", "apply")):
        if is_true(value):
            arguments.setdefault("dryrun", False)
        else:
            arguments["dryrun"] = True


def adapt_edit(arguments: dict[str, Any]) -> None:
    """Of tools that replace text in a file."""
    _refuse_other_work(arguments)
    counts = taken(arguments, ("expectedreplacements", "expectedoccurrences"))
    several = any(str(count).strip() not in ("0", "1", "1.0") for count in counts)
    if several and not any(map(is_true, (arguments.get("all"), arguments.get("replaceall")))):
        raise BadInput("Several places are expected.", hint="all=true replaces every match.")
    for name in ("edits", "replacements", "changes"):
        arguments.update({name: _without_counts(arguments[name])} if name in arguments else {})


def _refuse_other_work(arguments: dict[str, Any]) -> None:
    if any(map(is_true, taken(arguments, ("dryrun", "preview")))):
        raise BadInput(
            "edit_file has no dry run; nothing was changed.",
            hint="Send it without: the difference is shown, and undo_changes takes it back.",
        )
    for name in ("diff", "patch"):
        if name in arguments:
            raise BadInput(f"edit_file takes no {name}.", hint="Send it to apply_patch, as patch.")
    if "codeedit" in arguments:
        raise BadInput(
            "edit_file takes no sketch of a file.",
            hint="Send old, the text to replace as the file has it, and new.",
        )
    for command in taken(arguments, ("command",)):
        if str(command) in COMMANDS:
            raise BadInput(f"edit_file does not {command}.", hint=COMMANDS[str(command)])
    _drop_usual_encoding(arguments)


def _drop_usual_encoding(arguments: dict[str, Any]) -> None:
    if str(arguments.get("encoding", "")).lower() in ("utf-8", "utf8"):
        del arguments["encoding"]


def _without_counts(edits: Any) -> Any:
    """Edits without how many places they expect: there must be one, or `all`."""
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except ValueError:
            return edits
    if not isinstance(edits, list):
        return edits
    counts = {"expected_replacements", "expectedReplacements"}
    return [
        {k: v for k, v in edit.items() if k not in counts} if isinstance(edit, dict) else edit
        for edit in edits
    ]


def adapt_line_edit(arguments: dict[str, Any]) -> None:
    """Of tools that do one thing with lines: what is sent tells which."""
    if {"operation", "op", "action", "command"} & set(arguments):
        return
    content = {"content", "contenttoinsert", "newcontent", "text", "lines"} & set(arguments)
    inserting = {"contenttoinsert", "insertline", "linenumber", "after", "before", "afterline"}
    if content and inserting & set(arguments):
        arguments["operation"] = "insert"
    elif "movefrom" in arguments:
        arguments["operation"] = "move"
    elif (
        not content
        and {"startline", "start"} & set(arguments)
        and {"endline", "end"} & set(arguments)
    ):
        arguments["operation"] = "delete"


def adapt_archive(arguments: dict[str, Any]) -> None:
    """Of tools that only pack, or only unpack, or that name the archive as `path`."""
    archives = {"archive", "archivepath", "zippath", "output"}
    sources = {"paths", "files"} & set(arguments)
    is_named = isinstance(arguments.get("path"), str) and not archives & set(arguments)
    doing = str(arguments.get("action") or arguments.get("operation") or arguments.get("mode"))
    if is_named and (sources or doing in ("list", "unpack")):
        arguments["archive"] = arguments.pop("path")
    if {"action", "operation", "mode"} & set(arguments):
        return
    if {"paths", "files", "path"} & set(arguments):
        arguments["action"] = "pack"
    elif {"folder", "destination", "target", "dest", "to"} & set(arguments):
        arguments["action"] = "unpack"


def adapt_watch(arguments: dict[str, Any]) -> None:
    """Of tools that only start a watch, or only stop one."""
    if "action" in arguments:
        return
    if {"id", "watcherid", "watchid"} & set(arguments):
        raise BadInput("action is missing.", hint="Send action: read or stop.")
    if {"path", "directory", "file", "filepath"} & set(arguments):
        arguments["action"] = "start"
