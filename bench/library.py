"""A folder of 200 mixed documents over MCP, indexed, each asked for, and cited by page or lines.

    python -m bench.library [--documents 200]

Files of nine kinds, made by `create_document` or written as they are, each with a sentence of its
own in the middle of filler. A document counts where it comes first and the page or lines that are
cited have the sentence, read there by another call. Beside it plain FTS5 over one column of what
the plain files among them hold, which is what a search finds that reads no documents.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MADE = ("pdf", "docx", "pptx", "xlsx", "html")
PLAIN = ("md", "txt", "csv", "ipynb")
KINDS = (*MADE, *PLAIN)
THINGS = ["lantern", "anchor", "barometer", "compass", "telescope", "windlass", "sextant", "buoy"]
TOWNS = ["Ravensund", "Aldmouth", "Kestport", "Tarnholm", "Wickby", "Osmere", "Fennick", "Brackley"]
FILLER = "The harbour office writes down who comes and goes, and what the weather was. "
_CITED = re.compile(
    r"^\[1\] (\S+?)(?:, (?:page|slide|sheet) (\d+)|, characters [\d,-]+|:(\d+)(?:-(\d+))?)? \(",
    re.MULTILINE,
)


def sentence_of(number: int) -> tuple[str, str]:
    """What one document alone says, and the question to it."""
    thing, town = THINGS[number % 8], TOWNS[number // 8 % 8]
    clerk = f"Clerk{number:03}"
    sentence = f"The {thing} of {town} was lent to {clerk} for {number + 3} days."
    return sentence, f"For how many days was the {thing} of {town} lent to {clerk}?"


def content_of(number: int, kind: str) -> str:
    """A document as Markdown, or as the text of its kind."""
    chance = random.Random(number)
    sentence = sentence_of(number)[0]
    parts = [FILLER * chance.randint(2, 12) for _ in range(12)]
    parts[chance.randint(2, 9)] += sentence
    if kind in ("csv", "xlsx"):
        rows = [["entry", "note"], *([str(n), part] for n, part in enumerate(parts))]
        if kind == "csv":
            return "\n".join(f'{n},"{part}"' for n, part in rows)
        lines = [f"| {n} | {part} |" for n, part in rows]
        return "\n".join([f"# Log {number}", "", lines[0], "|---|---|", *lines[1:]])
    if kind == "ipynb":
        cells = [{"cell_type": "markdown", "metadata": {}, "source": part} for part in parts]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    headed = [f"## Part {n}\n\n{part}" for n, part in enumerate(parts)]
    return "\n\n".join([f"# Log {number}", *headed])


async def text_of(session: ClientSession, tool: str, arguments: dict[str, Any]) -> str:
    """The text that a call gives."""
    result = await session.call_tool(tool, arguments)
    return "\n".join(getattr(part, "text", "") for part in result.content)


async def is_cited(session: ClientSession, name: str, question: str, sentence: str) -> bool:
    """Whether a document comes first, and what is cited of it has the sentence."""
    text = await text_of(session, "search_documents", {"query": question, "limit": 1})
    found = _CITED.search(text)
    if found is None or found[1] != name:
        return False
    if found[2]:
        there = {"path": name, "pages": found[2]}
        return sentence in " ".join((await text_of(session, "read_document", there)).split())
    if found[3] and not name.endswith(MADE):
        lines = {"path": name, "start": int(found[3]), "end": int(found[4] or found[3])}
        return sentence in await text_of(session, "read_file", lines)
    return sentence in text


def found_by_fts(folder: Path, names: list[str]) -> int:
    """How many documents plain FTS5 puts first."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE file USING fts5(text)")
    for number, name in enumerate(names):
        text = (folder / name).read_text("utf-8") if name.endswith(PLAIN) else name
        connection.execute("INSERT INTO file (rowid, text) VALUES (?, ?)", (number, text))
    met = 0
    for number in range(len(names)):
        words = re.findall(r"\w+", sentence_of(number)[1])
        sql = "SELECT rowid FROM file WHERE file MATCH ? ORDER BY rank LIMIT 1"
        row = connection.execute(sql, (" OR ".join(f'"{w}"' for w in words),)).fetchone()
        met += row is not None and row[0] == number
    return met


async def measure(folder: Path, count: int) -> None:
    """Make, index and ask."""
    names = [f"log{number}.{KINDS[number % len(KINDS)]}" for number in range(count)]
    program = shutil.which("toolcrib") or "toolcrib"
    options = ["mcp", "--workspace", str(folder), "--profile", "all"]
    server = StdioServerParameters(command=program, args=options, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for number, name in enumerate(names):
            content = content_of(number, name.rpartition(".")[2])
            if name.endswith(PLAIN):
                (folder / name).write_text(content, "utf-8")
            else:
                await text_of(session, "create_document", {"path": name, "content": content})
        began = time.perf_counter()
        text = await text_of(session, "index_documents", {})
        job = re.search(r"\bjob (\w+)", text)
        if job:
            await text_of(session, "read_job", {"id": job[1], "wait": "exit"})
        took = time.perf_counter() - began
        wrong = []
        for number, name in enumerate(names):
            sentence, question = sentence_of(number)
            if not await is_cited(session, name, question, sentence):
                wrong.append(name)
    print(f"{count} documents of {len(KINDS)} kinds, indexed in {took:.1f} s")
    print(f"first and rightly cited: {count - len(wrong)} {wrong[:10]}")
    print(f"first by plain FTS5 over the plain files: {found_by_fts(folder, names)}")


def main() -> None:
    """Measure in a folder, a store and a configuration of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOOLCRIB_DATA"] = f"{folder}/state"
        os.environ["TOOLCRIB_CONFIG"] = f"{folder}/config.toml"
        workspace = Path(folder) / "ws"
        workspace.mkdir()
        asyncio.run(measure(workspace, given.documents))


if __name__ == "__main__":
    main()
