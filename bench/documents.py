"""The reader of documents against markitdown: 15 kinds of files, what is kept, and how fast.

    python bench/documents.py [--markitdown /path/to/python] [--rounds 7]

markitdown runs in an environment of its own (`pip install 'markitdown[pdf,docx,pptx,xlsx,
outlook]'`), in one warm process, as ours does. A kind counts as done when the marker words
and the structure that its file has are in the text: headings, table, list, notes, outputs.
Times are medians of warm calls with the text made anew; the ratio is of both in this run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.documents import office, pdfs, texts
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.documents.documents import Documents

HEADING = r"^#{1,6} .*(?:Annual Harbour|Harbour Report|One|Title)"
TABLE = r"^\|.*Quarter.*\|"
LIST = r"^\s*[-*] .*first item"
MARKER = "KESTREL"
KINDS: Mapping[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "pdf": (pdfs.report, (MARKER, HEADING, TABLE, LIST)),
    "docx": (office.docx, (MARKER, HEADING, TABLE, LIST)),
    "pptx": (office.pptx, (MARKER, HEADING, TABLE, "OSPREY", "HERON")),
    "xlsx": (office.xlsx, (MARKER, TABLE, "OSPREY", r"^#.*Crew")),
    "odt": (office.odt, (MARKER, HEADING, TABLE, LIST)),
    "rtf": (office.rtf, (MARKER, TABLE)),
    "epub": (office.epub, (MARKER, HEADING, TABLE, LIST)),
    "csv": (texts.csv, (MARKER, TABLE)),
    "json": (texts.json_text, (MARKER,)),
    "xml": (texts.xml, (MARKER,)),
    "rss": (texts.rss, (MARKER, HEADING)),
    "atom": (texts.atom, (MARKER, HEADING)),
    "eml": (texts.mail, (MARKER, "Subject: ", "r.pdf")),
    "ipynb": (texts.notebook, (MARKER, HEADING, "```", "OUTPUT")),
    "png": (lambda: pdfs.png(*pdfs.drawn("The harbour KESTREL opens")), (MARKER,)),
}
PEER = """
import json, pathlib, sys, time
from markitdown import MarkItDown
reader = MarkItDown()
for line in sys.stdin:
    start = time.perf_counter()
    try:
        text = reader.convert(line.strip()).text_content
    except Exception as error:
        text = ""
    print(json.dumps([text, time.perf_counter() - start]), flush=True)
"""


def missing(text: str, wanted: tuple[str, ...]) -> list[str]:
    """What should be in a text and is not."""
    return [one for one in wanted if not re.search(one, text, re.MULTILINE)]


async def ours(rounds: int) -> dict[str, tuple[str, float]]:
    """The text and the milliseconds of each kind."""
    ocr = "tesseract" if shutil.which("tesseract") else "off"
    services = Services(Config(documents={"ocr": ocr}))
    documents = services.use(Documents)
    found: dict[str, tuple[str, float]] = {}
    try:
        for kind, (make, _) in KINDS.items():
            data, times, text = make(), [], ""
            for _ in range(rounds + 1):
                documents.forget()
                start = time.perf_counter()
                try:
                    text = (await documents.read(data, name=f"x.{kind}")).markdown
                except ToolError as error:
                    text = f"error: {error}"
                times.append(time.perf_counter() - start)
            found[kind] = text, statistics.median(times[1:]) * 1000
    finally:
        await services.close()
    return found


def theirs(python: str, rounds: int) -> dict[str, tuple[str, float]]:
    """The same of markitdown."""
    found: dict[str, tuple[str, float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [python, "-W", "ignore", "-c", PEER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as peer,
    ):
        assert peer.stdin is not None
        assert peer.stdout is not None
        for kind, (make, _) in KINDS.items():
            path = Path(folder) / f"x.{kind}"
            path.write_bytes(make())
            answers: list[Any] = []
            for _ in range(rounds + 1):
                peer.stdin.write(f"{path}\n")
                peer.stdin.flush()
                answers.append(json.loads(peer.stdout.readline()))
            seconds = statistics.median(answer[1] for answer in answers[1:])
            found[kind] = answers[-1][0], seconds * 1000
        peer.stdin.close()
    return found


def main() -> None:
    """Print a row for each kind, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markitdown", default="", help="the Python that has it")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    mine = asyncio.run(ours(given.rounds))
    peer = theirs(given.markitdown, given.rounds) if given.markitdown else {}
    done = [0, 0]
    ratios = []
    for kind, (_, wanted) in KINDS.items():
        row = f"{kind:6}"
        for number, found in enumerate((mine, peer)):
            if kind not in found:
                continue
            text, ms = found[kind]
            gone = missing(text, wanted)
            done[number] += not gone
            reported = "all" if not gone else f"without {len(gone)} of {len(wanted)}"
            row += f" | {reported:18} {ms:8.1f} ms"
        if kind in peer and not missing(peer[kind][0], wanted):
            ratios.append(peer[kind][1] / mine[kind][1])
        print(row)
    print(f"kinds done: {done[0]} of {len(KINDS)}" + (f", markitdown {done[1]}" if peer else ""))
    if ratios:
        print(f"speed where both do it: {statistics.median(ratios):.1f}x markitdown (median)")


if __name__ == "__main__":
    main()
