"""How near the token estimate comes to the o200k count, and how long it takes.

    python bench/tokens.py

Texts: the standard library, installed packages, generated data, message catalogues of
the system, and the reader's pages where TOOLCRIB_WCXB names them. `chars/4` is what
most programs use. Needs the dev dependencies.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import struct
import sysconfig
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import bpe_openai

from toolcrib.text.tokens import estimate

MAXIMUM = 150_000
LANGUAGES = ("de", "fr", "es", "it", "pl", "vi", "ru", "uk", "el", "ar", "hi", "th")
LANGUAGES += ("ja", "ko", "zh_CN", "zh_TW")
ENCODING = bpe_openai.get_encoding("o200k_base")


def texts() -> Iterator[tuple[str, str]]:
    library = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    yield "python", _joined(sorted(library.glob("*.py"))[:40])
    yield "markdown", _joined(sorted(packages.glob("*/METADATA")))
    yield "json files", _joined(sorted(packages.rglob("*.json"))[:20])
    yield "c headers", _joined(sorted(Path(sysconfig.get_path("include")).glob("*.h")))
    yield "paths", "\n".join(map(str, sorted(packages.rglob("*.py"))))
    yield from _generated()
    for language in LANGUAGES:
        yield f"messages {language}", _catalogue(language)
    pages = os.environ.get("TOOLCRIB_WCXB")
    if pages:
        yield from _pages(Path(pages))


def _joined(files: list[Path]) -> str:
    return "\n".join(file.read_text(errors="replace") for file in files)


def _generated() -> Iterator[tuple[str, str]]:
    dice = random.Random(7)
    rows = [
        {"id": n, "name": f"item {n}", "price": round(dice.random() * 90, 2), "on": n % 3 == 0}
        for n in range(900)
    ]
    yield "json pretty", json.dumps(rows, indent=2)
    yield "json compact", json.dumps(rows, separators=(",", ":"))
    yield "csv", "\n".join(",".join(f"{dice.gauss(0, 99):.4f}" for _ in range(8)) for _ in rows)
    yield (
        "log",
        "\n".join(
            f"2026-11-21T22:{n % 60:02}:{n * 7 % 60:02}.{n % 997:03}Z INFO [worker-{n % 8}] "
            f"GET /api/v1/items/{n * 31} 200 {n * 17 % 900}ms id={dice.getrandbits(64):016x}"
            for n in range(1500)
        ),
    )
    noise = dice.randbytes(60_000)
    yield "base64", base64.b64encode(noise).decode()
    yield "base64 lines", base64.encodebytes(noise).decode()
    yield "hex", noise.hex()


def _catalogue(language: str) -> str:
    found: list[str] = []
    for file in sorted(Path("/usr/share").glob(f"**/{language}/LC_MESSAGES/*.mo")):
        if file.stem in ("git", "coreutils", "vim", "bash", "glib20", "wget", "dpkg"):
            found += _messages(file.read_bytes())
    random.Random(7).shuffle(found)
    return "\n".join(found)


def _messages(catalogue: bytes) -> Iterator[str]:
    """The translations in a compiled catalogue, where it is UTF-8."""
    count, _, table = struct.unpack("<3I", catalogue[8:20])
    for n in range(count):
        size, start = struct.unpack("<2I", catalogue[table + 8 * n : table + 8 * n + 8])
        with suppress(UnicodeDecodeError):
            yield catalogue[start : start + size].decode()


def _pages(folder: Path) -> Iterator[tuple[str, str]]:
    kinds: dict[str, list[str]] = {}
    with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            kinds.setdefault(page["page_type"], []).append(page["main_content"])
    for kind, contents in sorted(kinds.items()):
        yield f"prose {kind}", "\n\n".join(contents)
    sources = sorted((folder / "html").glob("*.gz"))[:40]
    yield "html", "\n".join(gzip.decompress(s.read_bytes()).decode()[:20_000] for s in sources)


def main() -> None:
    print(f"{'text':22}{'chars':>9}{'o200k':>8}{'estimate':>10}{'error':>8}{'chars/4':>9}")
    for name, text in texts():
        text = text[:MAXIMUM]  # noqa: PLW2901
        if len(text) < 2000:
            continue
        truth = len(ENCODING.encode_ordinary(text))
        guess = estimate(text)
        print(
            f"{name:22}{len(text):9}{truth:8}{guess:10}{guess / truth - 1:+8.1%}"
            f"{len(text) / 4 / truth - 1:+9.1%}"
        )
    large = (next(texts())[1] * 50)[:5_000_000]
    started = time.perf_counter()
    estimate(large)
    print(f"{len(large):,} characters of source code: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
