"""PDF files as Markdown by pdf-oxide, with pypdfium2 where that fails or sees less."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from toolcrib.core.errors import TooLarge, UnsupportedContent
from toolcrib.documents.kinds import NAMES
from toolcrib.documents.text import (
    MAX_TEXT_CHARS,
    DocumentPage,
    DocumentText,
    damaged_error,
    first_heading,
    page_numbers,
)

if TYPE_CHECKING:
    from pdf_oxide import PdfDocument
    from pypdfium2 import PdfDocument as Pdfium  # type: ignore[import-untyped]


# Both libraries are needed: only pdf-oxide finds headings, lists and tables and opens torn files;
# only pypdfium2 gives title, author, dates and attached files, and text where pdf-oxide has none.

MAX_HEADING_CHARS = 150
"""Characters of what can be a heading."""
MIN_HEADING_RATIO = 1.15
"""A heading's letters are so many times those of the running text."""
LEVELS = ((1.8, "#"), (1.35, "##"), (0.0, "###"))
LIST_MARK = r"(?:[-\u2013\u2014•*▪◦‣·●○■]|\(?\d{1,3}[.)]|\(?[a-z][.)])"
MAX_ITEMS = 300
_ITEM = re.compile(rf"\s*({LIST_MARK})\s+(\S.*)")
_BULLET = re.compile(r"[\u2013\u2014•*▪◦‣·●○■]")
_WORD = re.compile(r"[^\W_]+")
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*\n")
MAX_TORN_WORDS = 100
"""Words of a page that are put together."""
_STARS = re.compile(r"\*{1,3}|_{1,3}(?=\b)|\\")


class FontSizes:
    """Sizes of the letters of a document, which tell headings. `add` spans of some pages first."""

    def __init__(self) -> None:
        self._sizes: Counter[float] = Counter()

    def add(self, spans: Iterable[Any]) -> None:
        """Count the letters of a page by their size."""
        for span in spans:
            self._sizes[round(span.font_size, 1)] += len(span.text.strip())

    @property
    def body(self) -> float:
        """The size of the running text; 0 where there is none."""
        return self._sizes.most_common(1)[0][0] if self._sizes else 0.0

    def mended(self, markdown: str, spans: Sequence[Any], text: str) -> str:
        """A page whose large lines are headings, and whose list items stand on lines of their own.

        Args:
            markdown: the page as it was converted.
            spans: its pieces of text, with `text`, `font_size` and `bbox`.
            text: the page as plain lines.
        """
        large = self._large(spans)
        items = [m for m in map(_ITEM.fullmatch, text.split("\n")) if m][:MAX_ITEMS]
        lines: list[str] = []
        for line in markdown.split("\n"):
            if not line or line.startswith(("|", "#", "```")):
                lines.append(line)
                continue
            size = large.get(_bare(line))
            if size is not None and len(line) <= MAX_HEADING_CHARS:
                lines.append(f"{_level(size / self.body)} {_STARS.sub('', line).strip()}")
            else:
                lines += _parted(line, items)
        return "\n".join(lines)

    def _large(self, spans: Sequence[Any]) -> dict[str, float]:
        """The lines of a page whose letters are large: bare text to size."""
        if not self.body:
            return {}
        lines: dict[tuple[int, float], list[str]] = {}
        for span in spans:
            size = round(span.font_size, 1)
            if size >= self.body * MIN_HEADING_RATIO and span.text.strip():
                lines.setdefault((round(span.bbox[1]), size), []).append(span.text)
        found = {_bare("".join(parts)): size for (_, size), parts in lines.items()}
        found.pop("", None)
        # One word of digits is a page number or a figure, not a heading.
        return {text: size for text, size in found.items() if not text.isdigit()}


def _bare(text: str) -> str:
    return "".join(_STARS.sub("", text).split()).lower()


def _level(ratio: float) -> str:
    return next(mark for minimum, mark in LEVELS if ratio >= minimum)


def whole_words(markdown: str, text: str) -> str:
    """A page whose words are whole again, where letters set close together were taken apart.

    Only words of the plain text that the Markdown has not, and whose pieces only it has, are put
    together: where the first piece is, with what follows the last one if that is torn off too.
    """
    known, plain = Counter(_WORD.findall(text)), "".join(filter(str.isalnum, text))
    for _ in range(MAX_TORN_WORDS):
        found = list(_WORD.finditer(markdown))
        stray = [match for match in found if match[0] not in known]
        missing = known - Counter(match[0] for match in found) if stray else Counter()
        pieces = next(filter(None, (_pieces(word, stray) for word in missing)), None)
        if pieces is None:
            break
        markdown = _joined(markdown, pieces, plain)
    return markdown


def _joined(markdown: str, pieces: Sequence[re.Match[str]], plain: str) -> str:
    """A page with a word in the place of its first piece, and the others gone."""
    first, last = pieces[0], pieces[-1]
    word = "".join(piece[0] for piece in pieces)
    rest = markdown[last.end() :].partition("\n")[0]
    ends_line = markdown[first.end() : first.end() + 1] in ("", "\n")
    if not ends_line or word + "".join(filter(str.isalnum, rest)) not in plain:
        rest = ""
    cuts = [(last.start(), last.end() + len(rest), ""), (*first.span(), word + rest)]
    cuts += [(*piece.span(), "") for piece in pieces[1:-1]]
    for start, end, new in sorted(cuts, reverse=True):
        markdown = markdown[:start] + new + markdown[end:]
    return _BLANK_LINES.sub("\n\n", markdown)


def _pieces(word: str, stray: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Words that follow each other and together are a word; none where there are no such."""
    for number, first in enumerate(stray):
        # What a hyphen parts is no piece: whoever wrote it may mean it so.
        # Figures that stand close are run together in the plain text, not torn apart here.
        if (
            word.isdigit()
            or not word.startswith(first[0])
            or first.string.startswith("-", first.end())
        ):
            continue
        pieces, rest = [first], word.removeprefix(first[0])
        for piece in stray[number + 1 :]:
            if rest and rest.startswith(piece[0]):
                pieces.append(piece)
                rest = rest.removeprefix(piece[0])
        if not rest and len(pieces) > 1:
            return pieces
    return []


def _parted(line: str, items: Sequence[re.Match[str]]) -> list[str]:
    """The items of a list that were run together, apart again."""
    if not items or not _ITEM.fullmatch(line):
        return [line]
    cuts = set()
    for item in items:
        start = " ".join(item[2].split())[:40]
        for found in re.finditer(rf"(?<=\s){LIST_MARK}\s+(?={re.escape(start)})", line):
            cuts.add(found.start())
    edges = [0, *sorted(cuts - {0}), len(line)]
    parts = [line[a:b].strip() for a, b in pairwise(edges)]
    return [_BULLET.sub("-", part, count=1) if _BULLET.match(part) else part for part in parts]


T = TypeVar("T")
NAME = NAMES["pdf"]
PAGES_SECONDS = 20.0
"""Time for the pages of one call; the rest is left to another."""
MIN_TEXT_RATIO = 1.3
"""pypdfium2's text of a page is taken where it has so many times the letters."""
SPARE_LETTERS = 40
SAMPLED_PAGES = 40
"""Pages by which the size of the running text is found."""
MAX_ATTACHED = 20
SAME_LINE = 12.0
"""Points by which what is read later may stand higher, on the same line."""
OVERLAP = 2.0
"""Points by which a block may reach into the one above it."""
MATCHED_LETTERS = 60
"""Letters by which a block is found in the plain text, where all of it is not."""
MIN_TORN_ROWS = 3
"""Rows of amounts, one below the other, by which the plain text of a page is the better one."""
MIN_FOOTER_GAP = 2.5
"""Heights of a line between a page's number and the text above it."""
MARGIN_SHARE = 0.09
"""Of a page's height, where its number stands."""
MAX_FIELDS, MAX_FIELD_CHARS = 500, 1000
_AMOUNT = re.compile(r"[-+(\u2212]?[$\u20ac\u00a3]?-?\d[\d.,']*[.,]\d\d\)?[$\u20ac\u00a3%-]?")
_PAGE_NUMBER = re.compile(
    r"(?:\b(?:page|seite|p\.|pág\.)\s*|[-\u2013\u2014]\s?|(?<!\S))"
    r"(\d{1,4})(?:\s*(?:/|of|von|de)\s*(\d{1,4}))?(?:\s?[-\u2013\u2014])?\s*\Z",
    re.IGNORECASE,
)
_ESCAPED_ROW = re.compile(r"^\\(\|.*\|)$", re.MULTILINE)
_HEADING = re.compile(r"^(#+ .*)$", re.MULTILINE)
_LEFTWARD = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{3,}")
_WORDS = re.compile(r"[^\W_]")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def convert(request: dict[str, Any], data: bytes) -> DocumentText:
    """A PDF by its pages; `request` has the requested `pages`.

    Raises:
        UnsupportedContent: it is damaged or encrypted.
        BadInput: it has no such pages.
    """
    return _PdfReader(data).document(request["pages"])


class _PdfReader:
    """A PDF opened by both libraries, of which one may not be able to."""

    def __init__(self, data: bytes) -> None:
        self.oxide = _open_in_oxide(data)
        self.pdfium, locked = _open_in_pdfium(data)
        self.oxide_pages = _try(self._count, 0)
        if locked and not self._is_open():
            raise UnsupportedContent(
                f"The {NAME} is encrypted.", hint="Use a copy that opens without a password."
            )
        self.total = max(self.oxide_pages, len(self.pdfium) if self.pdfium else 0)
        if not self.total:
            raise damaged_error(NAME)
        self.warnings: list[str] = []
        if self.pdfium is None and not locked:
            self.warnings.append("The file is damaged: some of it may be missing.")
        self.layout = FontSizes()

    def _count(self) -> int:
        count = self.oxide.page_count if self.oxide else 0
        return int(count() if callable(count) else count)

    def _is_open(self) -> bool:
        """Whether pdf-oxide can read a file for which pypdfium2 needs a password."""
        oxide = self.oxide
        if oxide is None:
            return False
        first = range(min(self.oxide_pages, 3))
        return any(_try(partial(oxide.extract_text, n), "") for n in first)

    def document(self, spec: str) -> DocumentText:
        """The requested pages, as many as the time allows."""
        wanted = page_numbers(spec, self.total)
        self._measure()
        end = time.monotonic() + PAGES_SECONDS
        pages: list[DocumentPage] = []
        size, rest = 0, ""
        for number in wanted:
            if pages and (time.monotonic() > end or size > MAX_TEXT_CHARS):
                rest = f"{number}-{wanted[-1]}"
                self.warnings.append(
                    f"Only pages up to {pages[-1].number:,} of {self.total:,} were read: "
                    f'pages="{rest}" reads on.'
                )
                break
            text = self._page(number - 1)
            size += len(text)
            pages.append(DocumentPage(number, text[:MAX_TEXT_CHARS]))
        if self.pdfium is None and not any(page.text for page in pages):
            raise damaged_error(NAME)
        metadata = self._metadata()
        title = metadata.pop("title", "") or first_heading([page.text for page in pages])
        self._note_attached()
        return DocumentText(
            "pdf",
            title,
            "page",
            tuple(pages),
            self.total,
            rest,
            tuple(p.number for p in pages if not p.text and self._has_picture(p.number - 1)),
            metadata,
            tuple(self.warnings),
        )

    def _measure(self) -> None:
        oxide, count = self.oxide, self.oxide_pages
        if oxide is not None:
            for index in range(0, count, max(1, count // SAMPLED_PAGES)):
                self.layout.add(_try(partial(oxide.extract_spans, index), []))

    def _page(self, index: int) -> str:
        text = _try(lambda: self._text_by_oxide(index), "")
        other = _try(lambda: self._text_by_pdfium(index), "")
        more = MIN_TEXT_RATIO * len(_WORDS.findall(text)) + SPARE_LETTERS
        if len(_WORDS.findall(other)) > more or _is_reversed(text, other):
            text = other
        elif _has_torn_rows(text, other):
            text = _try(partial(self._with_headings, other, index), other)
        elif "\n|" in f"\n{text}":
            text = _try(lambda: self._in_page_order(text, index), text)
        text = _ODD.sub("", text).strip()
        text = text.removesuffix(_try(lambda: self._page_number(text, index), "")).rstrip()
        return text + _try(self._fields, "") if text and index == 0 else text

    def _page_number(self, text: str, index: int) -> str:
        """The printed number of a page at the end of its text, which is no part of that.

        It is the number of this very page, in the margin, alone and well below all else.
        """
        if self.oxide is None or not (end := _PAGE_NUMBER.search(text)):
            return ""
        if (end[1], end[2] or str(self.total)) != (str(index + 1), str(self.total)):
            return ""
        spans = [s for s in self.oxide.extract_spans(index) if s.text.strip()]
        spans.sort(key=lambda span: float(span.bbox[1]))
        lowest = [span for span in spans if span.bbox[1] - spans[0].bbox[1] < SAME_LINE / 2]
        gap = spans[len(lowest)].bbox[1] - spans[0].bbox[1] if len(spans) > len(lowest) else 0.0
        printed = "".join(_bare(span.text) for span in sorted(lowest, key=lambda s: s.bbox[0]))
        _, bottom, _, top = self.oxide.page_media_box(index)
        in_margin = spans[0].bbox[1] - bottom < MARGIN_SHARE * (top - bottom)
        is_apart = in_margin and gap > MIN_FOOTER_GAP * spans[0].font_size
        return end[0] if is_apart and printed == _bare(end[0]) else ""

    def _fields(self) -> str:
        """The fields of a form by name and value, of all pages; "" where there are none."""
        known = self.oxide.get_form_fields() if self.oxide else []
        lines = [
            f"- {_one_line(field.name)}: {_one_line(_field_value(field.value))}"
            for field in known
            if field.name and field.field_type != "unknown"
        ]
        if len(lines) > MAX_FIELDS:
            lines[MAX_FIELDS:] = [f"- and {len(lines) - MAX_FIELDS:,} more"]
        return "\n\n".join(("", "Fields of the form:", "\n".join(lines))) if lines else ""

    def _with_headings(self, text: str, index: int) -> str:
        assert self.oxide is not None
        marked = self.layout.mended(text, self.oxide.extract_spans(index), text)
        return _HEADING.sub(r"\n\1\n", marked)

    def _in_page_order(self, text: str, index: int) -> str:
        """A page with tables in the order in which it is written: pdf-oxide puts tables last."""
        if self.pdfium is None or index >= len(self.pdfium):
            return text
        blocks = [block.strip("\n") for block in text.split("\n\n") if block.strip()]
        with _text_reader(self.pdfium, index) as reader:
            places = _places(blocks, reader.get_text_range())
            heights = [place and (_edge(reader, place[0], 3), _edge(reader, place[1], 1))
                       for place in places]  # fmt: skip
        keys = _down_the_page(places, heights)
        order = sorted(range(len(blocks)), key=keys.__getitem__) if keys else range(len(blocks))
        return "\n\n".join(blocks[number] for number in order)

    def _text_by_oxide(self, index: int) -> str:
        oxide = self.oxide
        if oxide is None or index >= self.oxide_pages:
            return ""
        text: str = oxide.to_markdown(index, include_images=False, embed_images=False)
        if "\n\\|---|\n" in text:  # as it writes a table of one column
            text = _ESCAPED_ROW.sub(r"\1", text)
        with suppress(Exception):
            plain = oxide.extract_text(index)
            text = whole_words(text, plain)
            return self.layout.mended(text, oxide.extract_spans(index), plain)
        return text

    def _text_by_pdfium(self, index: int) -> str:
        if self.pdfium is None or index >= len(self.pdfium):
            return ""
        with _text_reader(self.pdfium, index) as reader:
            text: str = reader.get_text_range()
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _has_picture(self, index: int) -> bool:
        """Whether a page draws a picture."""

        def first_picture() -> bool:
            assert self.pdfium is not None
            page = self.pdfium[index]
            return next(iter(page.get_objects(filter=[3], max_depth=3)), None) is not None

        return self.pdfium is not None and _try(first_picture, default=False)

    def _metadata(self) -> dict[str, Any]:
        info: dict[str, str] = _try(self.pdfium.get_metadata_dict, {}) if self.pdfium else {}
        known = {
            "title": info.get("Title", ""),
            "author": info.get("Author", ""),
            "subject": info.get("Subject", ""),
            "created": _date(info.get("CreationDate", "")),
            "modified": _date(info.get("ModDate", "")),
        }
        return {k: " ".join(v.split())[:300] for k, v in known.items() if v and v.strip()}

    def _note_attached(self) -> None:
        pdfium = self.pdfium
        count = _try(pdfium.count_attachments, 0) if pdfium else 0
        names = [_try(partial(_attached, pdfium, n), "") for n in range(min(count, MAX_ATTACHED))]
        listed = list(filter(None, names))
        if listed:
            self.warnings.append(f"Files attached to it were not read: {', '.join(listed)}.")


@contextmanager
def _text_reader(document: Pdfium, index: int) -> Iterator[Any]:
    """What reads the plain text of a page."""
    page = document[index]
    reader = page.get_textpage()
    try:
        yield reader
    finally:
        reader.close()
        page.close()


def _has_torn_rows(text: str, other: str) -> bool:
    """Whether rows that end in an amount, one below the other, are torn apart in `text` alone."""
    bare = [_bare(line.replace("|", "")) for line in text.split("\n") if line]
    cells = [line for line in text.split("\n") if line.startswith("|")]
    torn = 0
    for line in other.split("\n"):
        words = line.split()
        is_row, row = len(words) > 1 and _AMOUNT.fullmatch(words[-1]), _bare(line)
        if is_row and not (
            any(row in each for each in bare)
            or any(words[0] in each and words[-1] in each for each in cells)
        ):
            torn += 1
            if torn == MIN_TORN_ROWS:
                return True
        else:
            torn = 0
    return False


def _field_value(value: Any) -> str:
    """The value of a field of a form as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(str(each) for each in values if each not in (None, "")) or "(empty)"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_FIELD_CHARS]


def _is_reversed(text: str, other: str) -> bool:
    """Whether words that are written from right to left lost their order in `text`."""
    words = set(_LEFTWARD.findall(other))
    return len([word for word in words if word not in text]) * 2 > len(words)


def _places(blocks: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Where the blocks of a page begin and end in its plain text: whole lines, by their letters."""
    letters = [n for n, char in enumerate(text) if char.isalnum()]
    bare = "".join(text[n] for n in letters)
    edges = {0, len(bare)}
    edges |= {n for n in range(1, len(bare)) if "\n" in text[letters[n - 1] : letters[n]]}
    taken: set[int] = set()
    places: list[tuple[int, int] | None] = []
    for block in blocks:
        own = "".join(filter(str.isalnum, block))
        places.append(None)
        for wanted in (own, own[:MATCHED_LETTERS]):
            is_whole = wanted == own
            at = bare.find(wanted) if wanted else -1
            while at >= 0 and (
                at in taken or at not in edges or (is_whole and at + len(wanted) not in edges)
            ):
                at = bare.find(wanted, at + 1)
            if at >= 0:
                taken.add(at)
                places[-1] = letters[at], letters[at + len(wanted) - 1]
                break
    return places


def _edge(reader: Any, place: int, side: int) -> float:
    """The lower (1) or upper (3) edge of a character of the plain text of a page."""
    from pypdfium2 import raw

    return float(reader.get_charbox(raw.FPDFText_GetCharIndexFromTextIndex(reader, place))[side])


def _down_the_page(
    places: Sequence[tuple[int, int] | None], heights: Sequence[tuple[float, float] | None]
) -> list[float]:
    """Keys that sort the blocks of a page; none where it has columns.

    The order of the file is taken where it goes down the page, else the heights, where no block
    stands beside another. What was not found stays behind what is before it.
    """
    found = [(p[0], *h) for p, h in zip(places, heights, strict=True) if p and h]
    by_file = all(low[1] <= high[1] + SAME_LINE for high, low in pairwise(sorted(found)))
    downward = sorted(found, key=lambda block: -block[1])
    if not by_file and any(low[1] > high[2] + OVERLAP for high, low in pairwise(downward)):
        return []
    keys: list[float] = []
    for place, height in zip(places, heights, strict=True):
        if place and height:
            keys.append(place[0] if by_file else -height[0])
        else:
            keys.append(keys[-1] if keys else -math.inf)
    return keys


def render(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """One page as a picture in grey, in the PGM format; `request` has its `page` and `dpi`.

    Raises:
        UnsupportedContent: it cannot be drawn.
        TooLarge: the page is larger than a wall.
    """
    import pypdfium2

    try:
        page = pypdfium2.PdfDocument(data)[request["page"] - 1]
        scale = request["dpi"] / 72
        width, height = (int(side * scale) for side in page.get_size())
        if width * height > request["pixels"]:
            raise TooLarge(f"Page {request['page']} has {width:,} x {height:,} pixels.")
        drawn = page.render(scale=scale, grayscale=True)
    except pypdfium2.PdfiumError as error:
        raise damaged_error(NAME, str(error)) from None
    lines = memoryview(drawn.buffer).cast("B")
    rows = [
        bytes(lines[y * drawn.stride : y * drawn.stride + drawn.width]) for y in range(drawn.height)
    ]
    return {}, f"P5 {drawn.width} {drawn.height} 255\n".encode() + b"".join(rows)


def _open_in_oxide(data: bytes) -> PdfDocument | None:
    import pdf_oxide

    return _try(lambda: pdf_oxide.PdfDocument.from_bytes(data), None)


def _open_in_pdfium(data: bytes) -> tuple[Pdfium | None, bool]:
    """The document, and whether it needs a password."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        len(document)
    except pypdfium2.PdfiumError as error:
        return None, "password" in str(error).lower() or "security" in str(error).lower()
    return document, False


def _try(work: Callable[[], T], default: T) -> T:
    """What foreign code gives, or a default where it fails in whatever way."""
    try:
        return work()
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a panic of its language is no Exception
        return default


def _attached(document: Pdfium, number: int) -> str:
    return " ".join(str(document.get_attachment(number).get_name()).split())[:100]


def _date(text: str) -> str:
    """`D:20260131120000Z` as 2026-01-31."""
    match = re.match(r"D:(\d{4})(\d\d)?(\d\d)?", text)
    return "-".join(filter(None, match.groups())) if match else text
