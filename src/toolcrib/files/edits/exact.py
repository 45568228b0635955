"""A quote that stands in the file as it is, and the care that its first and last line need."""

from __future__ import annotations

from collections.abc import Iterable

from toolcrib.core.errors import BadInput
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.haystack import Haystack
from toolcrib.files.edits.indentation import lead_of

WHOLE_LINES = "Send whole lines in old and new, each with the indentation that it has in the file."
_OPENERS = (":", "{", "(", "[")


def apart(places: Iterable[int], length: int) -> list[int]:
    """Those of the places that do not overlap, from the left."""
    kept: list[int] = []
    for place in places:
        if not kept or place >= kept[-1] + length:
            kept.append(place)
    return kept


def replacement(hay: Haystack, at: int, old: str, new: str) -> tuple[Splice, str]:
    """The change at one place, and what was done beyond the letter of it ("" for nothing).

    Raises:
        BadInput: the first line of old lacks its indentation, so that nobody can tell where
            the other lines of new belong.
    """
    end = at + len(old)
    before = hay.text[hay.text.rfind("\n", 0, at) + 1 : at]
    if not new and old.endswith("\n") and not before.strip():
        # A line is taken out with the indentation that the quote lacks.
        return Splice(at - len(before), end, new), ""
    new, note = _indented(hay, at, old, new)
    if new and old.endswith("\n") and not new.endswith(("\n", " ", "\t")):
        new, note = f"{new}\n", note or "the line end after old was kept"
    joins = new and old.startswith("\n") and at > 0
    if joins and (new[0].isalnum() or new[0] == "_") and hay.text[at - 1] != "\n":
        new, note = f"\n{new}", note or "the line end before old was kept"
    if _within_word(hay.text, at) or _within_word(hay.text, end):
        note = note or "old begins or ends within a word of the file"
    return Splice(at, end, new), note


def refuse_part_of_number(hay: Haystack, at: int, old: str) -> None:
    """Refuse a quote that begins or ends within a number of the file: that is another number.

    Raises:
        BadInput: `x = 1` was quoted where the file has `x = 10`.
    """
    for place in (at, at + len(old)):
        if 0 < place < len(hay.text) and hay.text[place - 1 : place + 1].isdecimal():
            raise BadInput(
                f"old begins or ends within a number of line {hay.line_at(place) + 1}.",
                hint="Quote the whole number as the file has it, or the whole line.",
            )


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _indented(hay: Haystack, at: int, old: str, new: str) -> tuple[str, str]:
    """The new text where old is one line that starts within the indentation of its line."""
    before = hay.text[hay.text.rfind("\n", 0, at) + 1 : at]
    first, *others = new.split("\n")
    others = [line for line in others if line.strip()]
    if not before or before.strip() or not others or "\n" in old.strip("\n"):
        return new, ""
    lead = lead_of(old)
    if lead:
        return _shifted(new, before, lead)
    if not all(line.startswith(before) for line in others):
        raise _unclear(hay, at)
    if first.rstrip().endswith(_OPENERS) and lead_of(others[0]) == before:
        raise _unclear(hay, at)
    return new, ""


def _shifted(new: str, before: str, lead: str) -> tuple[str, str]:
    """The new text moved as far to the right as the old one stands."""
    first, *others = new.split("\n")
    if not all(line.startswith(lead) for line in (first, *others) if line.strip()):
        return new, ""
    moved = [f"{before}{line}" if line.strip() else line for line in others]
    return "\n".join([first, *moved]), "indented as in the file"


def _unclear(hay: Haystack, at: int) -> BadInput:
    return BadInput(
        f"'old' starts behind the indentation of line {hay.line_at(at) + 1}, so it is not clear "
        "where the other lines of 'new' belong.",
        hint=WHOLE_LINES,
    )
