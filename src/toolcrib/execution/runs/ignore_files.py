"""Changes of git's ignore files by which the user's `git add -A` takes up protected files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.step import Source
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.search.globs import MAX_RULES_BYTES, IgnoreRules, ignore_rules
from toolcrib.files.trees import names_beneath

GITIGNORE, EXCLUDE = ".gitignore", (".git", "info", "exclude")
MAX_FOLDERS, MAX_SECONDS, MAX_DEPTH = 2_000, 0.5, 200
"""Of the look for protected files; so deep are their absolute paths."""


def folder_of(path: SafePath) -> SafePath | None:
    """The folder whose files an ignore file speaks of; None for what is none."""
    if fold(path.name) == GITIGNORE:
        return path.parent
    is_exclude = tuple(map(fold, path.parts[-3:])) == EXCLUDE
    return path.ancestor(len(path.parts) - 3) if is_exclude else None


def uncovered(workspace: Workspace, delta: Delta) -> str:
    """A file that is protected from reading and that git ignored, or did not take up, before.

    Args:
        workspace: its roots.
        delta: a change, of an ignore file or of another.

    Returns:
        Its path from the folder of the ignore file; "" where there is none.
    """
    folder = folder_of(delta.path)
    if folder is None or delta.same:
        return ""
    old, new = _old_content(delta), _content(delta.new)
    if old is not None and not _is_less(old, new):
        return ""
    before, after = (IgnoreRules(ignore_rules(data), "") for data in (old, new))
    for path in _protected_beneath(workspace, folder):
        was = True if old is None else _ignores(before, path)
        is_now = _ignores(after, path)
        if not is_now and was is not is_now and was is not False:
            return path
    return ""


def _is_less(old: bytes, new: bytes) -> bool:
    """Whether lines are gone, come in another order, or lift others."""
    lines = new.splitlines()
    if any(line.startswith(b"!") for line in lines) or len(new) > MAX_RULES_BYTES:
        return True
    rest = iter(lines)
    return not all(line in rest for line in old.splitlines())


def _old_content(delta: Delta) -> bytes | None:
    """What the file held; None where that cannot be told any more."""
    if delta.old is not None or not delta.before:
        return _content(delta.old)
    with suppress(ToolError, OSError):
        return delta.path.read_bytes(MAX_RULES_BYTES)
    return None


def _content(source: Source | None) -> bytes:
    found = b""
    with suppress(ToolError, OSError):
        for chunk in source.chunks() if source is not None else ():
            found += chunk
            if len(found) > MAX_RULES_BYTES:
                break
    return found


def _ignores(rules: IgnoreRules, path: str) -> bool | None:
    """Whether a file, or a folder above it, is left out; None where nothing speaks of them."""
    verdict, names = None, path.split("/")
    for depth in range(1, len(names) + 1):
        place = "/".join(names[:depth]) + "/" * (depth < len(names))
        verdict = rules.verdict(place.encode("utf-8", "surrogateescape"))
        if verdict:
            return True
    return verdict


def _protected_beneath(workspace: Workspace, folder: SafePath) -> Iterator[str]:
    """The files that are protected from reading, by their paths from a folder."""
    top = folder.real_absolute
    names: dict[str, list[str]] = defaultdict(list)
    for path in names_beneath(
        [top], max_folders=MAX_FOLDERS, max_seconds=MAX_SECONDS, max_depth=MAX_DEPTH
    ):
        above, _, name = path.rpartition("/")
        names[above].append(name)
    for above, found in names.items():
        place = workspace.find(above)
        if place is None or ".git" in place.parts:
            continue
        barred = place.gate.barring(place, "read")
        yield from (f"{above}/{name}"[len(top.rstrip("/")) + 1 :] for name in found if barred(name))
