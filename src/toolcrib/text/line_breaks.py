"""Line breaks that were escaped once too often: a backslash and an `n` where lines should end."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"(?<![\\`'\"])\\(?:r\\n|n)(?![`'\"])")
_OF_PROSE = re.compile(r"(?<!\\)(?:\\n){2}|(?<!\\)\\n(?:[-*+>|] |#{1,6} |\d+\. )")


def with_line_breaks(text: str) -> str:
    r"""A text of prose in one line as its lines, where it surely has escaped line breaks.

    That is where paragraphs, headings or lists follow one: `Title\n\nText`.
    """
    if "\n" in text.strip() or not _OF_PROSE.search(text):
        return text
    return re.sub(r"(?<!\\)\\(?:r\\n|n)", "\n", text)


def note_on_escaped(before: str, after: str, *, prose: bool) -> str:
    """A note on escaped line breaks that a change brought into a file; "" where there are none.

    Args:
        before: the text before; "" for a new file.
        after: the text after.
        prose: whether it holds text or a table. Code has escaped ones in strings: there, only one
            line as the whole of a file is told.
    """
    if not prose and "\n" in after.strip():
        return ""
    known = set(before.split("\n"))
    count = sum(len(_ESCAPED.findall(line)) for line in after.split("\n") if line not in known)
    if not count:
        return ""
    written = "a line break is" if count == 1 else f"{count:,} line breaks are"
    return f"Note: {written} written as \\n, in two characters. If lines end there, send real ones."
