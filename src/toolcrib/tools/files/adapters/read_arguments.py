"""Arguments of tools that read, list and search elsewhere."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.tools.files.adapters.values import drop, is_flag, is_true, listed, span, taken

RANGES = ("viewrange", "linerange", "range", "lines")
BOUNDS = (
    "maxlength",
    "maxchars",
    "maxbytes",
    "chunksize",
    "maxchunks",
    "encoding",
    "shouldreadentirefile",
    "isurl",
    "mode",
)
"""An answer is bounded by itself, and says how to read on."""
LIMITS = (
    "maxdepth",
    "maxfilesize",
    "maxfilesizebytes",
    "maxfilelines",
    "maxmatchesperfile",
    "matchlinelength",
    "maxcontentlength",
    "concurrency",
    "timeoutms",
    "n",
    "linenumbers",
    "earlytermination",
    "withfilename",
)
AROUND = (
    "c",
    "a",
    "b",
    "beforecontext",
    "aftercontext",
    "contextbefore",
    "contextafter",
    "linesaround",
)
ANY_CASE = ("i", "ignorecase", "caseinsensitive")
EXCLUDES = (
    "exclude",
    "excludes",
    "excludeglob",
    "excludeglobs",
    "excludepattern",
    "excludepatterns",
)
AS_REGEX = ("regex", "isregex", "isregexp", "useregex")
HIDDEN = (
    "showhidden",
    "includehidden",
    "hidden",
    "all",
    "respectgitignore",
    "filefilteringoptions",
)
SHOWS = {"content": "lines", "fileswithmatches": "files", "files_with_matches": "files"}
SORTS = {"time": "modified", "mtime": "modified", "date": "modified", "mtime_desc": "modified"}
DEEPEST = 10


def reading(said: dict[str, Any]) -> None:
    """Of tools that read files."""
    drop(said, BOUNDS)
    for name in ("path", "filepath"):
        if isinstance(said.get(name), list):
            said["paths"] = said.pop(name)
    for head in taken(said, ("head",)):
        said.setdefault("lines", head)
    for tail in taken(said, ("tail",)):
        said.setdefault("start", f"-{str(tail).lstrip('-')}")
    for name in RANGES:
        found = span(said[name]) if name in said else None
        if found:
            del said[name]
            said["start"], said["end"] = found


def searching(said: dict[str, Any]) -> None:
    """Of tools that search the contents of files."""
    drop(said, LIMITS)
    _expression(said)
    around = [v for v in taken(said, AROUND) if str(v).isdigit()]
    if around:
        said.setdefault("context", min(max(map(int, around)), DEEPEST))
    for value in taken(said, ANY_CASE):
        said.setdefault("casesensitive", not is_true(value))
    globs = [
        g
        for v in taken(
            said,
            ("glob", "include", "includeglob", "includeglobs", "includepattern", "filepattern"),
        )
        for g in listed(v)
    ]
    globs += [f"*.{str(v).lstrip('*.')}" for v in taken(said, ("type", "filetype"))]
    globs += [f"!{g.lstrip('!')}" for v in taken(said, EXCLUDES) for g in listed(v)]
    if globs:
        said["glob"] = ", ".join(dict.fromkeys(globs))
    for name in ("outputmode", "show"):
        if name in said:
            wanted = str(said.pop(name))
            said["show"] = SHOWS.get(wanted.lower(), wanted)


def _expression(said: dict[str, Any]) -> None:
    for name in AS_REGEX:
        if name in said and is_flag(said[name]):
            said.setdefault("literal", not is_true(said.pop(name)))
    for mode in taken(said, ("mode", "searchtype", "literalsearch")):
        if str(mode) == "files":
            raise BadInput("search_files searches contents.", hint="find_files finds names.")
        said.setdefault("literal", str(mode) == "literal" or is_true(mode))
    if any(map(is_true, taken(said, ("multiline",)))):
        raise BadInput("A pattern fits within one line.", hint="Search for one line, then read.")


def finding(said: dict[str, Any]) -> None:
    """Of tools that find files by name."""
    drop(said, ("casesensitive", "maxdepth", "type", "searchtype", *HIDDEN))


def listing(said: dict[str, Any]) -> None:
    """Of tools that list folders."""
    drop(said, HIDDEN)
    if any(map(is_true, taken(said, ("recursive",)))):
        said.setdefault("depth", DEEPEST)
    for name in ("sort", "sortby", "orderby"):
        if str(said.get(name)) in SORTS:
            said[name] = SORTS[str(said[name])]
