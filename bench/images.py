"""How well `ocr_image` reads: 40 rendered pages in five languages, half of them noisy.

    python -m bench.images [--rapid]

The pages are drawn with the fonts of the machine (DejaVu, and Droid Sans Fallback for
Chinese), so that their text is known to the letter. The figure is one less the edits that lead
from what was read to what stands there, by its characters; blanks count as one, and in Chinese
not at all. A language whose pack is not installed is left out, and said so.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.documents.ocr import RAPID_LANGUAGES, Ocr

TEXTS = {
    "eng": (
        "The harbour lies quiet before sunrise. Two boats leave at 5:30 and return with about "
        "240 kg of fish, mostly herring. On market days the square fills early: bread, apples, "
        "cheese and flowers are sold until noon. Prices rose by 3.5 % last year, yet nobody "
        "complains much. A letter from the mayor explains why the bridge stays closed until 14 "
        "October; please use the ferry instead. Questions? Call 0911 4520 or write to room 12."
    ),
    "deu": (
        "Der Hafen liegt still vor Sonnenaufgang. Zwei Boote fahren um 5:30 Uhr hinaus und "
        "kehren mit etwa 240 kg Fisch zurück, meist Hering. An Markttagen füllt sich der Platz "
        "früh: Brot, Äpfel, Käse und Blumen werden bis Mittag verkauft. Die Preise stiegen im "
        "letzten Jahr um 3,5 %, doch niemand beschwert sich groß. Ein Brief des Bürgermeisters "
        "erklärt, weshalb die Brücke gesperrt bleibt; bitte benutzen Sie die Fähre. Fragen?"
    ),
    "spa": (
        "El puerto está tranquilo antes del amanecer. Dos barcos salen a las 5:30 y vuelven con "
        "unos 240 kg de pescado, sobre todo arenque. Los días de mercado la plaza se llena "
        "temprano: pan, manzanas, queso y flores se venden hasta el mediodía. Los precios "
        "subieron un 3,5 % el año pasado, pero nadie se queja mucho. Una carta del alcalde "
        "explica por qué el puente sigue cerrado; utilice el transbordador. ¿Más preguntas?"
    ),
    "chi_sim": (
        "日出之前港口十分安静。两艘船在五点半出海，带回大约二百四十公斤鱼，多数是鲱鱼。赶集的"
        "日子广场很早就挤满了人：面包、苹果、奶酪和鲜花一直卖到中午。去年价格上涨了百分之三，"
        "但是没有人抱怨。市长的信说明了大桥为什么要关闭到十月十四日；请大家改乘渡船。如有问题，"
        "请打电话或者写信给市政厅十二号房间。学校的孩子们每天早上沿着河边走路上学，老人坐在树下"
        "喝茶聊天。"
    ),
    "chi_tra": (
        "日出之前港口十分安靜。兩艘船在五點半出海，帶回大約二百四十公斤魚，多數是鯡魚。趕集的"
        "日子廣場很早就擠滿了人：麵包、蘋果、乳酪和鮮花一直賣到中午。去年價格上漲了百分之三，"
        "但是沒有人抱怨。市長的信說明了大橋為什麼要關閉到十月十四日；請大家改乘渡船。如有問題，"
        "請打電話或者寫信給市政廳十二號房間。學校的孩子們每天早上沿著河邊走路上學，老人坐在樹下"
        "喝茶聊天。"
    ),
}
DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVu"
LATIN = ("Sans.ttf", "Serif.ttf", "SansMono.ttf", "SansCondensed.ttf")
CHINESE = "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf"
SIZES = (32, 26, 22, 18)
WIDTH, MARGIN = 1240, 90
NOISES = ("grain", "askew on gray", "on its side with specks", "light on dark, poor JPEG")


@dataclass(frozen=True)
class TestPage:
    """A picture of a text in a language."""

    language: str
    kind: str
    size: int
    text: str
    picture: bytes


def pages() -> Iterator[TestPage]:
    """Four clean pages of each language, and four noisy ones."""
    for language, text in TEXTS.items():
        for number, size in enumerate(SIZES):
            image = drawn(language, number, size)
            yield TestPage(language, "clean", size, text, png(image))
        for number, size in enumerate(SIZES):
            image = noisy(drawn(language, number, size), number)
            yield TestPage(language, NOISES[number], size, text, png(image))


def drawn(language: str, number: int, size: int) -> Image.Image:
    chinese = language.startswith("chi")
    font = ImageFont.truetype(CHINESE if chinese else DEJAVU + LATIN[number], size)
    text = TEXTS[language]
    lines, line = [], ""
    for unit in list(text) if chinese else [f"{word} " for word in text.split()]:
        if font.getlength((line + unit).rstrip()) > WIDTH - 2 * MARGIN:
            lines.append(line.rstrip())
            line = ""
        line += unit
    lines.append(line.rstrip())
    height = int(size * 1.5)
    image = Image.new("L", (WIDTH, MARGIN * 2 + height * len(lines)), 255)
    draw = ImageDraw.Draw(image)
    for n, words in enumerate(lines):
        draw.text((MARGIN, MARGIN + n * height), words, 0, font)
    return image


def noisy(image: Image.Image, number: int) -> Image.Image:
    dice = random.Random(number)
    if number == 0:
        rough = Image.blend(image, Image.effect_noise(image.size, 60), 0.3)
        return rough.filter(ImageFilter.GaussianBlur(0.7))
    if number == 1:
        turned = image.rotate(2.5, Image.Resampling.BICUBIC, expand=True, fillcolor=255)
        return turned.point(lambda v: int(60 + v * 0.6))
    if number == 2:
        for _ in range(image.width * image.height // 60):
            spot = (dice.randrange(image.width), dice.randrange(image.height))
            image.putpixel(spot, dice.choice((0, 255)))
        return image.rotate(90, expand=True)
    dark = ImageOps.invert(image).point(lambda v: int(30 + v * 0.7))
    buffer = BytesIO()
    dark.save(buffer, "JPEG", quality=18)
    return Image.open(buffer).convert("L")


def png(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def accuracy(found: str, wanted: str, language: str) -> float:
    """One less the edits to a text, by its characters."""
    blank = "" if language.startswith("chi") else " "
    a, b = (blank.join(text.split()) for text in (found, wanted))
    before = list(range(len(b) + 1))
    for row, char in enumerate(a, 1):
        now = [row]
        for column, other in enumerate(b, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (char != other)))
        before = now
    return max(0.0, 1 - before[-1] / len(b))


async def main() -> None:
    rapid = "--rapid" in sys.argv
    if not Path(CHINESE).exists() or not Path(DEJAVU + LATIN[0]).exists():
        sys.exit("The fonts DejaVu and Droid Sans Fallback are not installed.")
    services = Services(Config())
    ocr = services.use(Ocr)
    rates: dict[tuple[str, bool], list[float]] = {}
    took: list[float] = []
    for one in pages():
        if rapid and one.language not in RAPID_LANGUAGES:
            continue
        began = time.monotonic()
        try:
            if rapid:
                found = await ocr._by_rapidocr(one.picture, one.language, None)  # noqa: SLF001
            else:
                found = await ocr.read(one.picture, one.language, None)
        except ToolError as error:
            print(f"{one.language}: {error.message}")
            continue
        took.append(time.monotonic() - began)
        rate = accuracy(found.text, one.text, one.language)
        rates.setdefault((one.language, one.kind == "clean"), []).append(rate)
        sure = found.confidence
        print(f"{one.language:8} {one.kind:25} {one.size} px  {rate:.3f}  confidence {sure:.0f}")
    await services.close()
    for clean in (True, False):
        chosen = {lang: v for (lang, kind), v in rates.items() if kind is clean}
        each = ", ".join(f"{lang} {statistics.mean(v):.3f}" for lang, v in chosen.items())
        every = [rate for values in chosen.values() for rate in values]
        name = "clean" if clean else "noisy"
        print(f"{name}: {statistics.mean(every):.4f} over {len(every)} pages ({each})")
    print(f"seconds a page, median: {statistics.median(took):.1f}")


if __name__ == "__main__":
    asyncio.run(main())
