"""A patch as an argument: read and its paths checked before the call is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NotFound, ToolError
from toolcrib.core.params import Param
from toolcrib.files.changes.step import Step
from toolcrib.files.content.display import counted
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.files.loader import Loaded, load, load_or_new, need_size
from toolcrib.files.edits.files.report import Told
from toolcrib.files.edits.patches.application import patched
from toolcrib.files.edits.patches.model import FilePatch
from toolcrib.files.edits.patches.parser import read_patch
from toolcrib.files.edits.placeholders import placeholder
from toolcrib.files.paths import SafePath, resolve_writable

MODE_BITS = 0o777


@dataclass(frozen=True, slots=True)
class Part:
    """What happens to one file, with the paths that the patch names for it."""

    patch: FilePatch
    path: SafePath | None
    other: SafePath | None = None
    target: SafePath | None = None

    def paths(self) -> list[SafePath]:
        """All of them."""
        return [path for path in (self.path, self.other, self.target) if path is not None]


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch whose paths are inside the workspace and may be written."""

    text: str
    parts: tuple[Part, ...]

    def spellings(self) -> list[str]:
        """Every path in it, as rules on targets look at them."""
        return [name for part in self.parts for path in part.paths() for name in path.spellings()]

    def __str__(self) -> str:
        return self.text


def _checked(value: str, ctx: Ctx) -> Patch:
    parts = []
    for file in read_patch(value):
        names = (file.path, file.other, file.target)
        found = [resolve_writable(name, ctx) if name else None for name in names]
        parts.append(Part(file, *found))
    return Patch(value, tuple(parts))


PatchText: TypeAlias = Annotated[
    Patch, Param("The patch.", kind="path", check=_checked, json_type="string")
]
"""A patch: every path in it is checked as a path to write, and is a target of the call."""


def confined(patch: Patch, path: SafePath) -> Patch:
    """The patch with a file for the part that names none.

    Raises:
        BadInput: it changes another file.
    """
    parts = []
    for part in patch.parts:
        for named in part.paths():
            if named.absolute != path.absolute:
                raise BadInput(
                    f"The patch names {named.display}, and only {path.display} may be changed.",
                    hint="Leave path away, or send the part of the patch for that file alone.",
                )
        parts.append(Part(part.patch, path))
    if len(parts) > 1:
        raise BadInput(f"The patch has {len(parts)} parts for {path.display}.")
    return Patch(patch.text, tuple(parts))


def planned(plan: Step, part: Part) -> Told:
    """Add to a plan what one part of a patch does. It blocks.

    Raises:
        NotFound: the file, or lines of a hunk, are not there.
        Conflict: a file that is to be new exists.
        BadInput: a hunk is ambiguous, or the patch names no file.
    """
    try:
        if part.path is None:
            raise BadInput("The patch names no file.", hint="Send path, or headers with the name.")
        if part.patch.does == "add":
            return _add(plan, part.path, part.patch)
        if part.patch.does == "delete":
            return _delete(plan, part.path, part.patch)
        return _update(plan, part)
    except ToolError as error:
        name = part.path.display if part.path else ""
        if name and name not in error.message:
            error.message = f"{name}: {error.message}"
            error.args = (error.message,)
        raise


def _add(plan: Step, path: SafePath, patch: FilePatch) -> Told:
    loaded = load_or_new(path)
    if loaded.exists and loaded.text:
        raise Conflict(
            f"{path.display} exists already.", hint="Change it with an update, or delete it first."
        )
    hunk = patch.hunks[0]
    text = "\n".join(hunk.new) + ("\n" if hunk.new and hunk.new_ended is not False else "")
    data = loaded.faithful.spliced([Splice(0, 0, text)]) if text else b""
    plan.write(path, need_size(path, data), expected=loaded.fingerprint)
    line = f"{path.display} created: {counted(len(hunk.new), 'line')}"
    found = placeholder(text, "")
    notes = [f"Warning: a line stands for text left out: {found}"] if found else []
    return Told(path.display, line, "", text, notes, {"did": "add"})


def _delete(plan: Step, path: SafePath, patch: FilePatch) -> Told:
    if not patch.checked:
        with path.open_read() as handle:
            plan.delete(path, expected=handle.fingerprint)
        return Told(path.display, f"{path.display} deleted", data={"did": "delete"})
    loaded = load(path)
    done = patched(loaded.text, patch.hunks)
    if loaded.faithful.spliced_text(done.splices).strip("\n"):
        raise Conflict(
            f"{path.display} has other lines than those that the patch deletes.",
            hint="Read the file again and make the patch anew.",
        )
    plan.delete(path, expected=loaded.fingerprint)
    return Told(path.display, f"{path.display} deleted", data={"did": "delete"})


def _update(plan: Step, part: Part) -> Told:
    path, target = _standing(part), part.target
    if not part.patch.hunks and target is not None:
        plan.move(path, target)
        return Told(path.display, _moved(path, target), data={"did": "move"})
    loaded = load(path)
    done = patched(loaded.text, part.patch.hunks)
    after = loaded.faithful.spliced_text(done.splices)
    _refuse_empty(loaded, after, part.patch)
    data = need_size(path, loaded.faithful.spliced(done.splices))
    ways = list(dict.fromkeys(way for way in done.ways if way != "exact"))
    how = f" (found by: {'; '.join(ways)})" if ways else ""
    if target is None or target.absolute == path.absolute:
        plan.write(path, data, expected=loaded.fingerprint)
        line = f"{path.display}: {_hunks(len(done.ways))} applied{how}"
    else:
        plan.write(target, data, expected="", mode=path.stat().st_mode & MODE_BITS)
        plan.delete(path, expected=loaded.fingerprint)
        line = f"{_moved(path, target)}, {_hunks(len(done.ways))} applied{how}"
    info = {"did": "update", "hunks": len(done.ways), "matched": done.ways}
    return Told(path.display, line, loaded.text, after, [], info)


def _standing(part: Part) -> SafePath:
    """The file that is meant where a plain diff has two names."""
    assert part.path is not None
    if part.other is None:
        return part.path
    there = [path for path in (part.path, part.other) if _exists(path)]
    if len(there) > 1:
        raise BadInput(
            f"The patch may mean {there[0].display} or {there[1].display}.",
            hint="Write the same name after --- and +++.",
        )
    return there[0] if there else part.path


def _exists(path: SafePath) -> bool:
    try:
        path.stat()
    except NotFound:
        return False
    return True


def _refuse_empty(loaded: Loaded, after: str, patch: FilePatch) -> None:
    if after == loaded.text and not patch.target:
        raise BadInput("The patch changes nothing: old and new lines are the same.")
    for hunk in patch.hunks:
        found = placeholder("\n".join(hunk.new), loaded.text)
        if found:
            raise BadInput(
                f"A line stands for text left out: {found}", hint="Write out all of the lines."
            )


def _moved(path: SafePath, target: SafePath) -> str:
    return f"{path.display} moved to {target.display}"


def _hunks(count: int) -> str:
    return "1 hunk" if count == 1 else f"{count:,} hunks"
