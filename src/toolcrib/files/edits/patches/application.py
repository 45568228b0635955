"""What the hunks of a patch come to in a text: found by the rules of every edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import BadInput, NotFound
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.haystack import Haystack, loose
from toolcrib.files.edits.indentation import lead_of
from toolcrib.files.edits.nearest import region
from toolcrib.files.edits.patches.model import Hunk
from toolcrib.files.edits.rewrite import rewritten
from toolcrib.files.edits.spans import NAMES, Candidate, candidates, significant

READ_AGAIN = "Read the file again and make the patch anew; nothing was changed."


@dataclass(slots=True)
class Patched:
    """Changes of a text, in order, and how their places were found."""

    splices: list[Splice] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)


def patched(text: str, hunks: Sequence[Hunk]) -> Patched:
    """Find what hunks mean in a text.

    Each is found by its lines, all of them, exactly or with the differences that `spans`
    knows. Where they stand several times, the line number, the lines named above, the end
    of the file or the hunk before must leave one place.

    Raises:
        NotFound: the lines of a hunk are not there.
        BadInput: they are there more than once, or two hunks change the same lines.
    """
    hay = Haystack(text)
    done = Patched()
    after, moved = 0, 0
    for number, hunk in enumerate(hunks, 1):
        name = f"hunk {number} of {len(hunks)}" if len(hunks) > 1 else "the hunk"
        if not hunk.old:
            done.splices.append(_added(hay, hunk, name))
            done.ways.append("exact")
            continue
        found = _place(hay, hunk, after, moved, name)
        done.splices += _splices(hay, hunk, found)
        done.ways.append(" + ".join(n for key, n in NAMES.items() if key in found.needs) or "exact")
        after = found.last + 1
        moved = found.first - hunk.at if hunk.at is not None else moved
    done.splices.sort(key=lambda splice: (splice.start, splice.end))
    for one, other in zip(done.splices, done.splices[1:], strict=False):
        if other.start < one.end:
            raise BadInput("Two hunks change the same lines.", hint="Put them into one hunk.")
    return done


def _added(hay: Haystack, hunk: Hunk, name: str) -> Splice:
    """Lines without any around: the text of an empty file, or the end of one."""
    if hay.text and (hunk.heads or hunk.at is not None):
        raise BadInput(
            f"{name.capitalize()} only adds lines, and nothing says where.",
            hint="Begin or end it with a line of the file, after a space.",
        )
    unended = bool(hay.text) and not hay.text.endswith("\n")
    body = "\n".join(hunk.new)
    ended = body if unended or hunk.new_ended is False else f"{body}\n"
    return Splice(len(hay.text), len(hay.text), f"\n{ended}" if unended else ended)


def _place(hay: Haystack, hunk: Hunk, after: int, moved: int, name: str) -> Candidate:
    found = candidates(hay, hunk.old, hunk.new)
    found = [c for c in found if not c.needs or significant("\n".join(hunk.old))]
    if hunk.at_end:
        found = [c for c in found if c.last == len(hay.lines) - 1]
    if not found:
        near = region(hay, "\n".join(hunk.old))
        shown = f"\nThe nearest lines of the file:\n{near}" if near else ""
        raise NotFound(f"The lines of {name} are not in the file.{shown}", hint=READ_AGAIN)
    for narrowed in (
        found,
        [c for c in found if hunk.at is not None and c.first == hunk.at + moved],
        _under_heads(hay, hunk.heads, found),
        [c for c in found if c.first >= after] if after and hunk.ordered else [],
    ):
        if len(narrowed) == 1:
            return narrowed[0]
    shown = ", ".join(str(c.first + 1) for c in found[:8])
    raise BadInput(
        f"The lines of {name} are there {len(found)} times, at lines {shown}.",
        hint="Add lines around it, so that there is only one such place.",
        lines=[c.first + 1 for c in found[:100]],
    )


def _under_heads(
    hay: Haystack, heads: Sequence[str], found: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates that stand beneath the lines named, in what is indented under them."""
    if not heads:
        return []
    return [c for c in found if _is_under(hay, list(heads), c.first)]


def _is_under(hay: Haystack, heads: list[str], index: int) -> bool:
    """Whether all heads are met on the way from a line outwards, the innermost first."""
    wanted = [loose(head) for head in heads]
    solid = next((i for i in range(index, len(hay.lines)) if hay.keys[i]), index)
    depth = len(lead_of(hay.lines[solid]).expandtabs())
    for above in range(index - 1, -1, -1):
        if not hay.keys[above]:
            continue
        lead = len(lead_of(hay.lines[above]).expandtabs())
        if lead < depth:
            depth = lead
            if hay.keys[above] == wanted[-1]:
                wanted.pop()
                if not wanted:
                    return True
    return False


def _splices(hay: Haystack, hunk: Hunk, found: Candidate) -> list[Splice]:
    """The change of the lines between those that stay."""
    there = hay.lines[found.first : found.last + 1]
    lines = rewritten(hunk.old, hunk.new, there, found.indentation)
    head = 0
    while head < min(len(there), len(lines)) and there[head] == lines[head]:
        head += 1
    tail = 0
    most = min(len(there), len(lines)) - head
    while tail < most and there[-1 - tail] == lines[-1 - tail]:
        tail += 1
    first, stop = found.first + head, found.last + 1 - tail
    middle = lines[head : len(lines) - tail]
    splices = [_between(hay, first, stop, middle)] if first < stop or middle else []
    return _with_end(hay, hunk, found, splices)


def _between(hay: Haystack, first: int, stop: int, middle: Sequence[str]) -> Splice:
    """Lines `first` to before `stop` replaced, each with its line end."""
    size = len(hay.text)
    start, end = min(hay.starts[first], size), min(hay.starts[stop], size)
    new = "".join(f"{line}\n" for line in middle)
    if hay.text.endswith("\n") or stop < len(hay.lines):
        return Splice(start, end, new)
    if first == len(hay.lines):
        return Splice(size, size, f"\n{new[:-1]}")
    if not new and start:
        return Splice(start - 1, end, "")
    return Splice(start, end, new[:-1])


def _with_end(hay: Haystack, hunk: Hunk, found: Candidate, splices: list[Splice]) -> list[Splice]:
    """The last line end added or taken away where the patch says so."""
    if found.last != len(hay.lines) - 1 or hunk.new_ended is None:
        return splices
    ended = hay.text.endswith("\n")
    if ended == hunk.new_ended:
        return splices
    if splices and splices[-1].end == len(hay.text):
        if not splices[-1].start and not hunk.new:
            return splices
        last = splices.pop()
        if not hunk.new_ended and not last.new:  # the line before is the last one now
            return [*splices, Splice(last.start - 1, last.end, "")]
        new = f"{last.new}\n" if hunk.new_ended else last.new.removesuffix("\n")
        return [*splices, Splice(last.start, last.end, new)]
    size = len(hay.text)
    return [*splices, Splice(size, size, "\n") if hunk.new_ended else Splice(size - 1, size, "")]
