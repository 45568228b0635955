"""Reader of one file for `read_file`: a page, the regions about some words, or a picture."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, NoResults, TooLarge, UnsupportedContent
from toolcrib.core.result import Image
from toolcrib.documents.kinds import BINARY_KINDS, is_coded_mail, is_document, labelled_kind
from toolcrib.files.content.kinds import SAMPLE_BYTES, Kind, kind_of, picture_of
from toolcrib.files.content.lines import MAX_COUNTED_BYTES, FittingChars, LinePage, TextFile
from toolcrib.files.edits.line_marks import anchor
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath
from toolcrib.system.threads import Checkpoint
from toolcrib.text.display import counted
from toolcrib.text.tokens import estimate, longest_head

if TYPE_CHECKING:
    from toolcrib.files.content.outline import FocusWord, FoundRegions, OutlineEntry, Region

MAX_LINES = 2000


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Which part of a file; None where nothing was said."""

    start: int | None = None
    end: int | None = None
    lines: int | None = None
    column: int = 0
    focus: str = ""
    numbers: bool = False
    anchors: bool = False
    max_chars: int = 0
    about: str | None = None
    """What the user last said, where a long file is to be read by it."""
    is_lenient: bool = False
    """Whether a short file without the words of the focus is given whole."""

    @property
    def ranged(self) -> bool:
        """Whether a part was asked for, and not just the file."""
        return bool(self.column or self.max_chars) or (self.start, self.end, self.lines) != (
            None,
            None,
            None,
        )

    def span(self, text: TextFile) -> tuple[int, int]:
        """The first line and how many.

        Raises:
            BadInput: the end is before the start.
        """
        start, limit = self.start or 1, self.lines or MAX_LINES
        if self.end is None:
            return start, limit
        end = self.end
        if (start < 0) != (end < 0) and text.size <= MAX_COUNTED_BYTES:
            total = text.count()
            start = max(total + start + 1, 1) if start < 0 else start
            end = total + end + 1 if end < 0 else end
        if (start < 0) != (end < 0):
            raise BadInput(f"{text.name} is too large to count its lines from both ends.")
        if end < start:
            raise BadInput(f"The last line, {self.end:,}, is before the first, {start:,}.")
        return start, min(end - start + 1, limit)

    def going_on(self, path: str, start: int, column: int) -> dict[str, Any]:
        """The arguments that read on where a page ends."""
        given = {
            "end": self.end if self.end is not None and self.end >= start else None,
            "lines": self.lines if self.lines != MAX_LINES else None,
            "column": column,
            "numbers": self.numbers,
            "anchors": self.anchors,
            "max_chars": self.max_chars,
        }
        return {"path": path, "start": start} | {k: v for k, v in given.items() if v}


@dataclass(frozen=True, slots=True)
class FilePart:
    """What comes of one file.

    Attributes:
        text: what a model reads.
        data: the same for programs.
        next: arguments of the call that reads on; None where nothing more was asked for.
        image: a picture.
        document: the bytes of a document that is still to be converted.
        seen: the absolute path and the fingerprint, for the stale-edit check.
        source: where text came from that the user has not written.
        changed: when this very file was last changed, seen after it was read; since 1970.
    """

    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    next: dict[str, Any] | None = None
    image: Image | None = None
    document: bytes | None = None
    seen: tuple[str, str] | None = None
    source: str = ""
    changed: float = inf


# The text of a file: a page of it, with an outline of the rest where there is too much.

CHARS_A_TOKEN = 10
"""No page has more characters than its tokens times this, whatever the estimate says."""
EOL_NAMES = {"crlf": "CRLF line ends", "cr": "CR line ends", "mixed": "mixed line ends"}
MAX_OUTLINED_BYTES = 8_000_000
"""Bytes of a file that are looked through for an outline."""
MIN_OUTLINE_ENTRIES = 3
MIN_OUTLINE_TOKENS = 300
"""Tokens below which an outline leaves too little for anything else."""
OUTLINE_SHARE = 1 / 3
"""What the outline may take of the room."""
FOOTER_TOKENS = 40
"""Tokens that the lines around an outline take."""


def page_of(text: TextFile, size: int, request: ReadRequest, room: int) -> FilePart:
    """A page of a file; where a whole file was asked for that has no room, an outline too.

    Raises:
        BadInput: the file has fewer lines.
    """
    start, lines = request.span(text)
    if request.ranged or room < MIN_OUTLINE_TOKENS:
        return _part(text, _page(text, start, lines, request, room), size, request)
    page = _page(text, start, lines, request, room)
    if not page.more:
        return _part(text, page, size, request)
    from toolcrib.files.content.outline import outline  # most files have room whole

    entries = outline(text.each_line(MAX_OUTLINED_BYTES), text.name)
    less = _page(text, start, lines, request, int(room * (1 - OUTLINE_SHARE)) - FOOTER_TOKENS)
    rest = [entry for entry in entries if entry.line > less.lines - bool(less.column)]
    if len(rest) < MIN_OUTLINE_ENTRIES:
        return _part(text, page, size, request)
    part = _part(text, less, size, request)
    body_text = _outline(rest, int(room * OUTLINE_SHARE))
    part.data["outline"] = [{"line": entry.line, "text": entry.text} for entry in rest[:1000]]
    return FilePart(f"{part.text}\n{body_text}", part.data, part.next)


def _page(text: TextFile, start: int, lines: int, request: ReadRequest, room: int) -> LinePage:
    fits: FittingChars = partial(longest_head, max_tokens=room)
    if request.numbers or request.anchors:
        first = start if start > 0 else 100_000
        fits = partial(_numbered_head, first=first, max_tokens=room, anchors=request.anchors)
    max_chars = min(room * CHARS_A_TOKEN, request.max_chars or room * CHARS_A_TOKEN)
    return text.page(start, lines, request.column, max_chars, fits)


def _numbered_head(text: str, first: int, max_tokens: int, *, anchors: bool) -> int:
    """How many first characters of a text there is room for when its lines are numbered."""
    lines = text.splitlines(keepends=True)

    def tokens(count: int) -> int:
        return estimate(numbered("".join(lines[:count]), first, anchors=anchors))

    fitting = bisect_right(range(1, len(lines) + 1), max_tokens, key=tokens)
    if fitting:
        return sum(map(len, lines[:fitting]))
    return longest_head(text, max(max_tokens - 4, 1))


def numbered(text: str, first: int, *, anchors: bool = False, cut: tuple[int, int] = (0, 0)) -> str:
    """The text with the number of each line before it, as in `12|text`.

    Args:
        text: whole lines, but for what `cut` says.
        first: the number of the first.
        anchors: put the anchor of each line there, as in `12:a3f9|text`.
        cut: how many characters the first line lacks, and after how many the last one ends;
            0 for none. Such lines have no anchor.
    """
    ended = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n")
    marks = [anchor(n, line) if anchors else str(n) for n, line in enumerate(lines, first)]
    if cut[0]:
        marks[0] = str(first)
    if cut[1]:
        marks[-1] = str(first + len(lines) - 1)
    body_text = (f"{mark}|{line}" for mark, line in zip(marks, lines, strict=True))
    return "\n".join(body_text) + ("\n" if ended else "")


def _part(text: TextFile, page: LinePage, size: int, request: ReadRequest) -> FilePart:
    data = facts(text, size) | {
        "path": text.name,
        "start": page.first,
        "lines": page.lines,
        "total_lines": page.total,
    }
    if not page.text and page.whole:
        return FilePart(f"({text.name} is empty)", data)
    footer = _footer(text, page, size)
    body = page.text
    if (request.numbers or request.anchors) and page.first is not None:
        cut = request.column, page.column
        body = numbered(body, page.first, anchors=request.anchors, cut=cut)
    separator = "" if body.endswith("\n") or not footer else "\n"
    body_text = f"{body}{separator}{footer}"
    data["tokens"] = estimate(body_text)
    start, column = page.next_start()
    last = start - 1
    reached = request.end is not None and not column and _end(request, page) <= last
    more = page.more and not reached
    return FilePart(body_text, data, request.going_on(text.name, start, column) if more else None)


def _end(request: ReadRequest, page: LinePage) -> int:
    end = request.end or 0
    return end if end > 0 or page.total is None else page.total + end + 1


def facts(text: TextFile, size: int) -> dict[str, Any]:
    """What is known of a text file as a whole."""
    return {
        "size": size,
        "encoding": text.encoding.name,
        "bom": bool(text.encoding.mark),
        "eol": text.eol,
    }


def _footer(text: TextFile, page: LinePage, size: int) -> str:
    """What a reader cannot see: where the page stands, the encoding, the line ends."""
    notes = [] if page.whole else [_where(page, size)]
    return f"[{', '.join(notes + oddities(text))}]" if notes or oddities(text) else ""


def oddities(text: TextFile) -> list[str]:
    """What of the encoding and the line ends is not as usual."""
    notes = []
    if text.encoding.name != "utf-8":
        notes.append(f"{text.encoding.name}{' (guessed)' if text.encoding.guessed else ''}")
    if text.encoding.mark:
        notes.append("byte order mark")
    if text.eol in EOL_NAMES:
        notes.append(EOL_NAMES[text.eol])
    return notes


def _where(page: LinePage, size: int) -> str:
    total = f" of {page.total:,}" if page.total is not None else f", file of {size:,} bytes"
    if page.first is None:
        return f"lines {page.start} to {page.start + page.lines - 1} from the end{total}"
    last = page.first + page.lines - 1
    where = f"line {last:,}" if last == page.first else f"lines {page.first:,}-{last:,}"
    return f"{where}{total}" + (f", cut after {page.column:,} characters" if page.column else "")


def _outline(entries: list[OutlineEntry], room: int) -> str:
    """The entries that fit, the outer ones first, each as `line: text`."""
    from toolcrib.files.content.outline import outermost

    counts = range(2, min(len(entries), max(room // 3, 1)) + 1)
    fitting = bisect_right(counts, room, key=lambda n: estimate(_listed(outermost(entries, n))))
    chosen = outermost(entries, 1 + fitting)
    left = len(entries) - len(chosen)
    more = f", {counted(left, 'entry', 'entries')} left out" if left else ""
    return f"Outline of the rest{more}:\n{_listed(chosen)}"


def _listed(entries: list[OutlineEntry]) -> str:
    depths = {level: at for at, level in enumerate(sorted({entry.level for entry in entries}))}
    return "\n".join(f"{e.line}: {'  ' * min(depths[e.level], 4)}{e.text}" for e in entries)


# The regions of a file that speak of some words, with their line numbers.

CONTEXT_LINES = 3
"""Lines shown before and after a region."""
MAX_SEARCHED_BYTES = 64_000_000
"""Bytes of a file that are looked through."""
MAX_LINE_CHARS = 400
"""Characters of a line that is shown whole."""
LONG_LINE_CHARS = 4000
"""Characters from which a line is a text of its own, with more places than one."""
MAX_PLACES = 8
"""Places shown of such a line."""
MAX_REGIONS = 60
"""Regions among which it is chosen."""
MIN_SCORE_SHARE = 0.25
"""A region that scores below this share of the best one is named and not shown."""
MAX_NAMED_REGIONS = 12
"""Regions named that are not shown."""
GAP_TOKENS = 25
"""Tokens of the line between two regions."""
FOCUS_FOOTER_TOKENS = 90
"""Tokens of the last line."""


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines that are shown, from `first` to `last`."""

    first: int
    last: int
    region: Region


def focus_on(
    text: TextFile, size: int, focus: str, room: int, check: Callable[[], None]
) -> FilePart:
    """The best regions of a file within a budget, in the order of the file.

    Raises:
        NoResults: no line has any of the words.
        BadInput: there are no words.
    """
    from toolcrib.files.content.outline import find_regions, words_of

    words = words_of(focus)
    if not words:
        raise BadInput("'focus' holds no words.", hint="Name what to look for in the file.")
    found = find_regions(text.each_line(MAX_SEARCHED_BYTES), words, check)
    if not found.regions:
        raise NoResults(
            f"No line of {text.name} has {_quoted([w.text for w in words])}.",
            hint="Use other words, or leave 'focus' out to read the file.",
        )
    min_score = found.regions[0].score * MIN_SCORE_SHARE
    spans = [
        LineSpan(max(r.first - CONTEXT_LINES, 1), min(r.last + CONTEXT_LINES, found.lines), r)
        for r in found.regions[:MAX_REGIONS]
        if r.score >= min_score
    ]
    lines = _lines(text, spans, words)
    chosen = _chosen(spans, lines, room - FOCUS_FOOTER_TOKENS)
    body_text = _rendered(chosen, lines, found)
    left = [r for r in found.regions if all(r is not span.region for span in chosen)]
    footer = _focus_footer(found, left, len(found.regions) - len(left))
    data = facts(text, size) | {
        "path": text.name,
        "total_lines": None if text.size > MAX_SEARCHED_BYTES else found.lines,
        "regions": [{"start": span.first, "end": span.last} for span in chosen],
        "regions_found": len(found.regions),
        "missing": list(found.missing),
    }
    more = None
    if left:
        first = max(left[0].first - CONTEXT_LINES, 1)
        last = left[0].last + CONTEXT_LINES
        more = {"path": text.name, "start": first, "end": last, "numbers": True}
    return FilePart(f"{body_text}\n{footer}", data, more)


def _quoted(words: Sequence[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _lines(text: TextFile, spans: list[LineSpan], words: Sequence[FocusWord]) -> dict[int, str]:
    """The lines of all spans, each cut around the words where it is long."""
    wanted = {n for span in spans for n in range(span.first, span.last + 1 + CONTEXT_LINES)}
    last = max(wanted)
    found = {}
    for number, line in enumerate(text.each_line(MAX_SEARCHED_BYTES), 1):
        if number in wanted:
            found[number] = _clipped(line, words)
        if number >= last:
            break
    return found


def _clipped(line: str, words: Sequence[FocusWord]) -> str:
    """A long line around the first places of the words in it."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    each = MAX_LINE_CHARS // 2 if len(line) > LONG_LINE_CHARS else MAX_LINE_CHARS // len(words)
    limit = MAX_PLACES if len(line) > LONG_LINE_CHARS else 1
    places = [m.start() for word in words for m in islice(word.pattern.finditer(line), limit)]
    cut = [(max(at - each // 3, 0), at + each * 2 // 3) for at in sorted(places)[:MAX_PLACES]]
    cut = cut or [(0, MAX_LINE_CHARS)]
    pieces, reached = [], 0
    for begin, end in cut:
        start = max(begin, reached)
        if start < end:
            pieces.append(("\u2026" if start > reached else "") + line[start:end])
            reached = end
    left = len(line) - reached
    return "".join(pieces) + (f"\u2026 (column {reached:,} of {len(line):,})" if left > 0 else "")


def _chosen(spans: list[LineSpan], lines: dict[int, str], room: int) -> list[LineSpan]:
    """The best spans that fit; of the best one a part, if nothing else does."""
    chosen: list[LineSpan] = []
    taken: set[int] = set()
    for span in spans:
        new = [n for n in range(span.first, span.last + 1) if n in lines and n not in taken]
        price = estimate("\n".join(f"{n}|{lines[n]}" for n in new)) + GAP_TOKENS
        if price <= room:
            room -= price
            chosen.append(span)
            taken.update(new)
    if not chosen:
        best = spans[0]
        last = first = best.region.first
        while last < best.region.last and last - first < room // 12:
            last += 1
        cut = lines[first][: max(room * 2, 20)]
        lines[first] = cut[: longest_head(cut, max(room, 10))]
        chosen = [
            LineSpan(first, last if _price(lines, first, last) <= room else first, best.region)
        ]
    return chosen


def _price(lines: dict[int, str], first: int, last: int) -> int:
    return (
        estimate("\n".join(f"{n}|{lines.get(n, '')}" for n in range(first, last + 1))) + GAP_TOKENS
    )


def _rendered(chosen: list[LineSpan], lines: dict[int, str], found: FoundRegions) -> str:
    out: list[str] = []
    done = 0
    for span in sorted(chosen, key=lambda s: s.first):
        first = max(span.first, done + 1)
        between = [f"{n}|{lines[n]}" for n in range(done + 1, first) if n in lines]
        if len(between) == first - done - 1 and estimate("\n".join(between)) < GAP_TOKENS:
            out += between
        else:
            out.append(_gap(done + 1, first - 1, span))
        out += [f"{n}|{lines[n]}" for n in range(first, span.last + 1) if n in lines]
        done = max(done, span.last)
    if done < found.lines:
        out.append(_gap(done + 1, found.lines, None))
    return "\n".join(out)


def _gap(first: int, last: int, span: LineSpan | None) -> str:
    which = f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"
    under = span.region.under if span else None
    inside = ""
    if span and under and under[0] < span.first:
        inside = f"; below line {under[0]:,}: {re.sub(r'[{ ]+$', '', under[1])}"
    return f"[{which} left out{inside}]"


def _focus_footer(found: FoundRegions, left: list[Region], body_text: int) -> str:
    size = counted(found.lines, "line")
    notes = [f"{body_text:,} of {len(found.regions):,} places shown, file of {size}"]
    if found.partly:
        notes[0] += ", there may be more places"
    if left:
        also = ", ".join(_place(region) for region in left[:MAX_NAMED_REGIONS])
        notes.append(f"also at {also}{' and more' if len(left) > MAX_NAMED_REGIONS else ''}")
    if found.missing:
        notes.append(f"no line has {_quoted(found.missing)}")
    return f"[{'; '.join(notes)}]"


def _place(region: Region) -> str:
    return f"{region.first}-{region.last}" if region.last > region.first else f"{region.first}"


# One file, opened and told apart: text, a picture, a document, or nothing to read.

MAX_IMAGE_BYTES = 5_000_000
MAX_DOCUMENT_BYTES = 100_000_000


def read_part(
    path: SafePath,
    request: ReadRequest,
    room: int,
    check: Checkpoint,
    *,
    refuse_binary: bool = True,
) -> FilePart:
    """What a file gives; a document as bytes that are still to be converted.

    Args:
        path: the file.
        request: which part of it.
        room: tokens that the text may fill.
        check: called between the steps.
        refuse_binary: whether what is no text is an error and not read as if it were.

    Raises:
        UnsupportedContent: it is binary; the message says what it is.
        TooLarge: a picture or document has too many bytes.
        NoResults: nothing in it is about the words of the focus.
        BadInput: it is a folder, or has fewer lines.
        PathDenied, NotFound: see `Gate.open`.
    """
    with _open(path) as handle:
        seen = (handle.absolute, handle.fingerprint)
        head = handle.file.read(SAMPLE_BYTES)
        kind = kind_of(head)
        if _needs_reader(head, kind, path.name):
            part = _document(path, handle, kind)
        elif kind is not None and (kind.image or refuse_binary):
            part = _not_text(path, handle, kind)
        else:
            text = TextFile(handle.file, path.display, check)
            part = text_part(text, handle.size, request, room, check)
        return replace(part, seen=seen, changed=handle.last_change())


def text_part(
    text: TextFile, size: int, request: ReadRequest, room: int, check: Checkpoint
) -> FilePart:
    """What is asked of a text."""
    if request.focus:
        try:
            return focus_on(text, size, request.focus, room, check)
        except NoResults as nothing:
            if size > SHORT_BYTES or not request.is_lenient:
                raise
            page = page_of(text, size, request, room)
            return replace(page, text=f"{page.text}\n[{nothing.message} This is the file.]")
    if request.about is None or request.ranged:
        return page_of(text, size, request, room)
    return _smart_part(text, size, request, room, check)


SHORT_BYTES = 1_500
"""A file that is given whole where nothing in it is about the words of the focus."""
SMART_BYTES, SMART_LINES = 100 * 1024, 2_000
"""A file below both is read as usual."""
ENDS_LINES = 50
MIN_IDENTIFIER_CHARS = 5
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:[.-]\w+)*")
WHOLE_HINT = "[of {lines:,} lines, by what was asked; start=1 reads it from the beginning]"


def _smart_part(
    text: TextFile, size: int, request: ReadRequest, room: int, check: Checkpoint
) -> FilePart:
    """A long file by what the user said; its ends where nothing of that stands in it."""
    lines = sum(1 for _ in islice(text.each_line(MAX_SEARCHED_BYTES), SMART_LINES))
    page = page_of(text, size, request, room)
    if page.next is None or (size < SMART_BYTES and lines < SMART_LINES):
        return page
    words = [w for w in _IDENTIFIER.findall(request.about or "") if len(w) >= MIN_IDENTIFIER_CHARS]
    if words:
        try:
            part = focus_on(text, size, " ".join(words), room, check)
        except (NoResults, BadInput):
            pass
        else:
            note = WHOLE_HINT.format(lines=part.data.get("total_lines") or lines)
            return replace(part, text=f"{part.text}\n{note}")
    first = page_of(text, size, replace(request, lines=ENDS_LINES), room // 2)
    last = page_of(text, size, replace(request, start=-ENDS_LINES), room // 2)
    marker = f"[lines left out; start={ENDS_LINES + 1} goes on]"
    return replace(first, text=f"{first.text.rstrip()}\n{marker}\n{last.text}")


def converted_part(
    part: FilePart, markdown: str, request: ReadRequest, room: int, check: Checkpoint
) -> FilePart:
    """What is asked of a document, of its Markdown."""
    display, size = part.data["path"], part.data["size"]
    text = TextFile(io.BytesIO(markdown.encode("utf-8", "replace")), display, check)
    body_text = text_part(text, size, request, room, check)
    return replace(body_text, data=body_text.data | part.data, seen=part.seen, source=display)


def _open(path: SafePath) -> Handle:
    handle = path.open()
    if handle.kind == "file":
        return handle
    handle.close()
    raise BadInput(f"{path.display} is a folder.", hint="list_directory shows what it holds.")


def _needs_reader(head: bytes, kind: Kind | None, name: str) -> bool:
    if kind is None:
        return is_document(head) or is_coded_mail(head, name)
    # The names of its parts may stand further in than the first bytes of an archive.
    packed = kind.name == "ZIP archive" and labelled_kind(name) in BINARY_KINDS
    return packed or is_document(kind.name)


def _document(path: SafePath, handle: Handle, kind: Kind | None) -> FilePart:
    name = kind.name if kind else "e-mail" if labelled_kind(path.name) == "eml" else "RTF document"
    refusal = f"{path.display}: {name}, {handle.size:,} bytes; documents are read up to"
    content = _whole(handle, MAX_DOCUMENT_BYTES, refusal)
    data = {"path": path.display, "kind": name, "size": len(content)}
    return FilePart(data=data, document=content)


def _not_text(path: SafePath, handle: Handle, kind: Kind) -> FilePart:
    described = f"{path.display}: {kind.name}, {handle.size:,} bytes"
    data = {"path": path.display, "kind": kind.name, "size": handle.size}
    if kind.image:
        content = _whole(handle, MAX_IMAGE_BYTES, f"{described}; images are read up to")
        return FilePart(_pictured(described, content), data, image=Image(content, kind.image))
    raise UnsupportedContent(
        f"{described}; it is not text.",
        hint="read_file reads text, PNG, JPEG, GIF and WebP images, and the documents of "
        "read_document: PDF, office files, e-books, mail.",
        kind=kind.name,
        size=handle.size,
    )


def _pictured(described: str, content: bytes) -> str:
    head = picture_of(content)
    return f"{described}, {head.width} x {head.height}" if head and head.width else described


def _whole(handle: Handle, limit: int, refusal: str) -> bytes:
    handle.file.seek(0)
    data = handle.file.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(f"{refusal} {limit:,} bytes.")
    return data
