"""Jupyter notebooks: text as it is, code in fences, and what the code gave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.text import MAX_TEXT, DocumentText, Page, first_heading

MAX_OUTPUT = 20_000
"""Characters of one output."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def convert(data: bytes) -> DocumentText:
    """A notebook in the order of its cells.

    Raises:
        UnsupportedContent: it is no notebook.
    """
    try:
        book = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnsupportedContent(
            f"The Jupyter notebook is damaged: {error}"[:200] + ".", hint="Use another copy of it."
        ) from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if cells is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        sheets = [sheet for sheet in book["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or []]
    if not isinstance(cells, list):
        raise UnsupportedContent(
            "The Jupyter notebook has no cells.", hint="Use another copy of it."
        )
    language = _language(book)
    parts: list[str] = []
    for cell in cells:
        if isinstance(cell, dict):
            parts += _cell(cell, language)
    text = "\n\n".join(filter(None, parts))
    return DocumentText(
        "ipynb",
        first_heading([text]),
        pages=(Page(1, text[:MAX_TEXT]),),
        metadata={"language": language, "cells": len(cells)},
        warnings=("It was cut.",) if len(text) > MAX_TEXT else (),
    )


def _language(book: Mapping[str, Any]) -> str:
    told = book.get("metadata") if isinstance(book.get("metadata"), dict) else {}
    assert isinstance(told, dict)
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        found = told.get(part)
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key])[:30]
    return "python"


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind != "code":
        yield f"```\n{source}\n```" if kind == "raw" and source.strip() else source.strip()
        return
    if source.strip():
        yield _fenced(source, language)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            text = _ANSI.sub("", _output(output)).strip("\n")
            if text:
                cut = f"\n[{len(text) - MAX_OUTPUT:,} characters left out]"
                shown = text[:MAX_OUTPUT] + (cut if len(text) > MAX_OUTPUT else "")
                yield f"Output:\n\n{_fenced(shown, '')}"


def _output(output: Mapping[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _joined(output.get("text", ""))
    if kind in ("error", "pyerr"):
        trace = output.get("traceback")
        listed = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
        return listed or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    data = output.get("data")
    if not isinstance(data, dict):
        return _joined(output.get("text", ""))
    for form in ("text/plain", "text/markdown", "text/latex", "application/json"):
        if form in data:
            return _joined(data[form])
    return ", ".join(f"[{form}]" for form in list(data)[:5] if isinstance(form, str))


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(map(str, source))
    return source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)


def _fenced(text: str, language: str) -> str:
    text = text.strip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
