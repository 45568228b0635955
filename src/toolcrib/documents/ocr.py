"""Text of pictures: by the program tesseract, or by rapidocr where that alone is installed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from toolcrib.core.errors import (
    BadInput,
    MissingExtra,
    TimedOut,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.core.package_data import package_table
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.paths import Workspace
from toolcrib.system.processes import Processes

if TYPE_CHECKING:
    from toolcrib.core.context import Services

SMALLER_HINT = "Use a smaller picture."
READY_TASK = Task(
    "toolcrib.documents.ocr_child:ready", "Preparing the picture", 30.0, 3000, 60_000_000,
    SMALLER_HINT,
)  # fmt: skip
RAPID_TASK = Task(
    "toolcrib.documents.rapid_ocr_child:recognise", "Reading the picture", 180.0, 12_000,
    hint=SMALLER_HINT,
)  # fmt: skip
PAGE_SECONDS = 40.0
RESERVE_SECONDS = 1.0
"""Seconds of a deadline that are left for what comes after."""
MAX_OUTPUT = 8_000_000
SURE = 88.0
"""Confidence above which a page is not read once more."""
DOUBTFUL = 75.0
"""Confidence below which it may lie on its side."""
UPRIGHT, ANY_SIDE_UP = "3", "1"
"""Layouts, as tesseract numbers them; the second makes more mistakes in upright pages."""
FEW_CHARS = 400
"""With more of them tesseract tells by itself how a page lies."""
BRIEF_SECONDS = 4.0
"""A reading of a few words takes less; a large picture of anything else takes more."""
QUARTERS = (1, 3, 2)
"""Turns, by quarters clockwise, that a page with too few words to tell how it lies is tried in."""
LOW_LINE = 20
"""Lines of fewer pixels are read once more, larger."""
GOOD_LINE = 32
MAX_SCALE = 4.0
MAX_EMPTY_PIXELS = 8_000_000
"""To which a picture without a line is enlarged: most large ones have no text."""
RAPID_LANGUAGES = ("eng", "chi_sim", "chi_tra")
LANGUAGE = re.compile(r"[A-Za-z]\w*([+/]\w+)*", re.ASCII)
LANGUAGES: dict[str, str] = package_table("documents/ocr_languages.toml")
_EAST_ASIAN = r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
_BETWEEN = re.compile(f"(?<={_EAST_ASIAN}) (?={_EAST_ASIAN}|[,.:;!?])")
_NARROW = re.compile(f"(?<={_EAST_ASIAN}) ?[,:;!?] ?(?={_EAST_ASIAN}|$)")
_WIDE = str.maketrans(",:;!?", "\uff0c\uff1a\uff1b\uff01\uff1f")
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class PageForm:
    """A form in which a picture is read: so much larger, without specks, turned or not."""

    scale: float = 1.0
    median: bool = False
    layout: str = UPRIGHT
    quarters: int = 0
    max_enlarged: int = 40_000_000


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line: its text, a confidence of 0 to 100, and left, top, width, height in pixels."""

    text: str
    confidence: float
    box: Box
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class OcrText:
    """The text of a picture, and what read it in which language."""

    lines: tuple[OcrLine, ...]
    engine: str
    language: str

    @property
    def text(self) -> str:
        """All of it, with an empty line between paragraphs."""
        parts: list[str] = []
        last = None
        for line in self.lines:
            if last is not None:
                parts.append("\n" if line.paragraph == last else "\n\n")
            parts.append(line.text)
            last = line.paragraph
        return "".join(parts)

    @property
    def confidence(self) -> float:
        """The mean over all characters."""
        count = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / count if count else 0

    @property
    def line_height(self) -> int:
        """The usual height of a line in pixels; 0 for no line."""
        heights = sorted(min(line.box[2:]) for line in self.lines)
        return heights[len(heights) // 2] if heights else 0

    @property
    def score(self) -> float:
        """By which one reading is better than another: characters that are rather sure."""
        return sum(max(line.confidence - 50, 0) * len(line.text) for line in self.lines)


def language_of(text: str) -> str:
    """Languages as tesseract names them, from its own names, ISO codes or words.

    Raises:
        BadInput: it is no name of a language.
    """
    names = [part.strip().replace("-", "_") for part in re.split(r"[+,\s]+", text) if part]
    found = "+".join(LANGUAGES.get(name.lower(), name) for name in names)
    if not LANGUAGE.fullmatch(found):
        raise BadInput(
            f"{text[:60]!r} is no language.", hint='Such as "eng", "deu+eng" or "zh-TW".'
        )
    return found


class Ocr:
    """A service: reads pictures, in a child and by a program that both can be killed."""

    def __init__(self, processes: Processes, workers: Workers, workspace: Workspace) -> None:
        self._processes = processes
        self._workers = workers
        self._workspace = workspace

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing runs before the first page."""
        return cls(services.use(Processes), services.use(Workers), services.use(Workspace))

    async def read(
        self, picture: bytes, language: str, deadline: float | None, *, rapid: bool = False
    ) -> OcrText:
        """The text of a picture; small and noisy ones are read again in another form.

        Args:
            picture: the file.
            language: as `language_of` gives it.
            deadline: a `time.monotonic()` value after which it stops, or None.
            rapid: whether rapidocr may read where tesseract cannot.

        Raises:
            UnsupportedContent: it cannot be read.
            Unavailable: tesseract or its language is not installed.
            TimedOut: it takes too long.
        """
        program = self._workspace.outside_program("tesseract")
        use_rapid = rapid and find_spec("rapidocr") is not None
        try:
            if not program:
                raise Unavailable(
                    "The program tesseract is not on this machine.",
                    hint="Install it (Debian: tesseract-ocr), or toolcrib[ocr] for English and "
                    "Chinese.",
                )
            return await self._by_tesseract(program, picture, language, deadline)
        except Unavailable:
            if not use_rapid or not set(language.split("+")) <= set(RAPID_LANGUAGES):
                raise
        return await self._by_rapidocr(picture, language, deadline)

    async def _by_tesseract(
        self, program: str, picture: bytes, language: str, deadline: float | None
    ) -> OcrText:
        if find_spec("PIL") is None:  # as it is: tesseract opens the usual kinds itself
            return await self._recognised(program, picture, language, deadline, PageForm())
        began = time.monotonic()
        best = await self._in_form(program, picture, language, deadline, PageForm())
        seconds = time.monotonic() - began
        with suppress(TimedOut):  # what is read by then is an answer
            forms = _forms(best)
            for form in forms:
                if best.confidence < SURE or form.scale != 1:
                    other = await self._in_form(program, picture, language, deadline, form)
                    best = max(best, other, key=lambda found: found.score)
            scale = max((form.scale for form in forms), default=1.0) if best.lines else 1.0
            for quarters in QUARTERS if seconds <= BRIEF_SECONDS else ():
                if best.confidence >= DOUBTFUL or len(best.text) > FEW_CHARS:
                    break
                form = PageForm(scale=scale, quarters=quarters)
                other = await self._in_form(program, picture, language, deadline, form)
                best = max(best, other, key=lambda found: found.score)
        return best

    async def _in_form(
        self,
        program: str,
        picture: bytes,
        language: str,
        deadline: float | None,
        form: PageForm,
    ) -> OcrText:
        made, page = await self._workers.run(READY_TASK, asdict(form), picture, deadline)
        form = replace(form, scale=made["scale"])
        found = await self._recognised(program, page, language, deadline, form)
        if not form.quarters:
            return found
        size = (made["width"], made["height"])
        lines = (replace(x, box=_turned_back(x.box, form.quarters, size)) for x in found.lines)
        return replace(found, lines=tuple(lines))

    async def _recognised(
        self,
        program: str,
        picture: bytes,
        language: str,
        deadline: float | None,
        form: PageForm,
    ) -> OcrText:
        seconds = PAGE_SECONDS
        if deadline is not None:
            seconds = min(seconds, deadline - time.monotonic() - RESERVE_SECONDS)
        if seconds <= 0:
            raise TimedOut("The time for OCR is used up.")
        # What finds pages that lie on their side is a part that may not be installed.
        for layout in dict.fromkeys((form.layout, UPRIGHT)):
            done = await self._processes.run(
                [program, "stdin", "stdout", "-l", language, "--psm", layout, "tsv"],
                cwd="/",
                env={"OMP_THREAD_LIMIT": "1"},
                stdin=picture,
                timeout=seconds,
                max_output=MAX_OUTPUT,
                passed_on=("PATH", "LANG", "LC_*", "TESSDATA_PREFIX"),
            )
            if done.timed_out:
                raise TimedOut(f"OCR was stopped after {done.seconds:.0f} s.")
            if not done.exit_code or "osd" not in str(done.stderr):
                break
        # Of several languages it reads on without those that it does not have.
        if done.exit_code or "Failed loading language" in str(done.stderr):
            raise _failure(str(done.stderr), language)
        return OcrText(tuple(_lines(str(done.stdout), form.scale)), "tesseract", language)

    async def _by_rapidocr(self, picture: bytes, language: str, deadline: float | None) -> OcrText:
        if find_spec("PIL") is None:
            raise MissingExtra("images", "Reading a picture by rapidocr")
        answer, _ = await self._workers.run(RAPID_TASK, {}, picture, deadline)
        lines = [
            OcrLine(text, confidence, (left, top, width, height))
            for text, confidence, left, top, width, height in answer["lines"]
        ]
        return OcrText(tuple(lines), "rapidocr", language)


def _forms(first: OcrText) -> list[PageForm]:
    """The forms in which a page is read once more, by how well it was read at first."""
    height = first.line_height
    forms = []
    if first.confidence < DOUBTFUL:
        forms.append(PageForm(layout=ANY_SIDE_UP))
    if height < LOW_LINE:
        if height:
            forms.append(PageForm(scale=min(max(GOOD_LINE / height, 1.5), MAX_SCALE)))
        else:
            forms.append(PageForm(scale=3.0, max_enlarged=MAX_EMPTY_PIXELS))
    if first.confidence < SURE:
        layout = ANY_SIDE_UP if first.confidence < DOUBTFUL else UPRIGHT
        forms.append(PageForm(median=True, layout=layout))
    return forms


def _turned_back(box: Box, quarters: int, size: tuple[int, int]) -> Box:
    """A box of a page that was turned clockwise, in the page of this size as it lay."""
    (left, top, width, height), (page_width, page_height) = box, size
    if quarters == 1:
        return top, page_height - left - width, height, width
    if quarters == 3:
        return page_width - top - height, left, height, width
    return page_width - left - width, page_height - top - height, width, height


def _failure(stderr: str, language: str) -> ToolError:
    lost = re.search(r"Failed loading language '(\w+)'", stderr)
    package = (lost[1] if lost else language.partition("+")[0]).replace("_", "-")
    if "traineddata" in stderr or "languages" in stderr:
        return Unavailable(
            f"tesseract does not have the language {language}.",
            hint=f"Install it (Debian: tesseract-ocr-{package}), "
            "or name another: language, or the setting documents.ocr_language.",
        )
    return UnsupportedContent(
        "tesseract cannot read this picture.", hint="Use it as PNG, JPEG or TIFF."
    )


def _lines(table: str, scale: float) -> Iterable[OcrLine]:
    """The lines of tesseract's table of words."""
    words: list[tuple[str, float, Box]] = []
    place: tuple[str, ...] = ()
    paragraphs: dict[tuple[str, ...], int] = {}
    for row in [*table.splitlines()[1:], "5\t" + "\t" * 10]:
        cells = row.split("\t")
        if len(cells) < 12 or cells[0] != "5":
            continue
        if tuple(cells[1:5]) != place:
            if words:
                number = paragraphs.setdefault(place[:3], len(paragraphs))
                yield _joined(words, number)
            words, place = [], tuple(cells[1:5])
        text = cells[11].strip()
        if not text:
            continue
        left, top, width, height = (round(int(cell) / scale) for cell in cells[6:10])
        words.append((text, float(cells[10]), (left, top, width, height)))


def _joined(words: Sequence[tuple[str, float, Box]], paragraph: int) -> OcrLine:
    text = _BETWEEN.sub("", " ".join(text for text, _, _ in words))
    text = _NARROW.sub(lambda found: found.group().strip().translate(_WIDE), text)
    count = sum(len(text) for text, _, _ in words)
    confidence = sum(sure * len(text) for text, sure, _ in words) / count
    left = min(box[0] for _, _, box in words)
    top = min(box[1] for _, _, box in words)
    right = max(box[0] + box[2] for _, _, box in words)
    bottom = max(box[1] + box[3] for _, _, box in words)
    return OcrLine(text, confidence, (left, top, right - left, bottom - top), paragraph)
