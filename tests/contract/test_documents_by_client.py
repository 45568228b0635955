"""A folder of mixed documents, indexed and asked by a real client: each answer by its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.doors import MODERN, Send, stdio
from tests.documents import office, pdfs

pytestmark = pytest.mark.timeout(600)
PAGES = 5
SIGNS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty")


def name_of(number: int) -> str:
    """A word that only this document has."""
    return SIGNS[number // 100] + SIGNS[number // 10 % 10] + SIGNS[number % 10]


def fact(number: int) -> str:
    return f"The warden of {name_of(number)} keeps {number + 3} keys."


def padding(number: int, lines: int = 12) -> list[str]:
    return [f"Line {n} of note {number} is about ropes and weather." for n in range(lines)]


def plain(number: int) -> tuple[bytes, str]:
    lines = [*padding(number), fact(number), *padding(number, 3)]
    return "\n".join(lines).encode(), "lines"


def markdown(number: int) -> tuple[bytes, str]:
    lines = ["# Notes", "", *padding(number), "", "## Wardens", "", fact(number)]
    return "\n".join(lines).encode(), "lines"


def html(number: int) -> tuple[bytes, str]:
    body = "".join(f"<p>{line}</p>" for line in [*padding(number), fact(number)])
    return f"<html><body><h1>Wardens</h1>{body}</body></html>".encode(), "file"


def pdf(number: int) -> tuple[bytes, str]:
    page = number % PAGES
    texts = [fact(number) if n == page else f"Page {n} is about ropes." for n in range(PAGES)]
    pages = [pdfs.page_of([(11, 72, 690, text)]) for text in texts]
    return pdfs.pdf(pages, "Wardens"), f"page {page + 1}"


def docx(number: int) -> tuple[bytes, str]:
    return office.docx("".join(map(office.paragraph, [*padding(number), fact(number)]))), "file"


def xlsx(number: int) -> tuple[bytes, str]:
    rows = [("Name", "Note"), ("ropes", "weather"), (name_of(number), fact(number))]
    return office.xlsx({"Wardens": rows}), "file"


def csv(number: int) -> tuple[bytes, str]:
    rows = [f"{n},ropes" for n in range(20)]
    return "\n".join(["id,note", *rows, f"99,{fact(number)}"]).encode(), "file"


def code(number: int) -> tuple[bytes, str]:
    lines = [f"def knot_{n}():\n    return {n}\n" for n in range(8)]
    return "\n".join([*lines, f"# {fact(number)}", "KEYS = 3"]).encode(), "lines"


def data(number: int) -> tuple[bytes, str]:
    return json.dumps({"ropes": list(range(9)), "note": fact(number)}, indent=1).encode(), "file"


MAKERS: dict[str, Callable[[int], tuple[bytes, str]]] = {
    "txt": plain, "md": markdown, "html": html, "pdf": pdf, "docx": docx, "xlsx": xlsx,
    "csv": csv, "py": code, "json": data,
}  # fmt: skip


async def ask(send: Send, name: str, /, **given: object) -> str:
    outcome = await send(name, given)
    assert outcome.code is None, (name, given, outcome.text)
    return outcome.text


@pytest.mark.parametrize("count", [12, 200])
async def test_each_answer_is_cited_by_its_place(
    count: int, tmp_path: Path, own_state: None
) -> None:
    folder = tmp_path / "papers"
    places: dict[str, tuple[int, str]] = {}
    endings = list(MAKERS)
    for number in range(count):
        ending = endings[number % len(endings)]
        name = f"part{number % 7}/paper{number:03}.{ending}"
        content, place = MAKERS[ending](number)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        places[name] = number, place
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
    }
    async with stdio(config, tmp_path, MODERN) as send:
        indexed = await ask(send, "index_documents")
        while job := re.search(r"being indexed by job (\w+)", indexed):  # more than a call may
            await ask(send, "read_job", id=job[1], wait="exit")
            indexed = await ask(send, "index_documents")
        assert f"The index has {count} files" in indexed
        assert "Not read" not in indexed
        for name, (number, place) in places.items():
            question = f"What does the warden of {name_of(number)} keep?"
            answer = await ask(send, "search_documents", query=question)
            cited = re.search(rf"^\[1\] {re.escape(name)}(.*)$", answer, re.MULTILINE)
            assert cited, (name, answer)
            assert fact(number) in answer
            if place == "lines":
                first, last = re.match(r":(\d+)(?:-(\d+))?", cited[1]).groups()  # type: ignore[union-attr]
                rows = (folder / name).read_text().splitlines()
                assert fact(number) in "\n".join(rows[int(first) - 1 : int(last or first)]), answer
            elif place != "file":
                assert place in cited[1], answer
            answer = await ask(send, "ask_documents", question=question)
            assert fact(number) in answer, (name, answer)
        listed = await ask(send, "ask_documents", question="Which files name a warden?")
        assert f"{count} files" in listed
