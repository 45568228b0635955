"""Markdown as an HTML page that loads nothing. Another process, a child, runs this module."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from toolcrib.documents.writers.blocks import (
    MarkdownBlock,
    Run,
    blocks_of,
    missing_pictures,
    plain,
    sent,
    title_of,
)

STYLE = (
    "body{max-width:46rem;margin:2rem auto;padding:0 1rem;line-height:1.5;"
    "font-family:system-ui,sans-serif}table{border-collapse:collapse}"
    "th,td{border:1px solid #999;padding:.3rem .6rem;text-align:left}"
    "pre{background:#f4f4f4;padding:.8rem;overflow-x:auto}"
    "img{max-width:100%}blockquote{border-left:.25rem solid #999;margin-left:0;padding-left:1rem}"
)


def prepare() -> None:
    """Load the parser."""
    create({"title": ""}, b"# one\n\n|a|\n|-|\n|b|")


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The page; `request` has `title`."""
    blocks = blocks_of(*sent(request, data))
    title = request["title"] or title_of(blocks) or "Document"
    page = (
        '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{_blocks(blocks)}\n</body>\n</html>\n"
    )
    return {"notes": [], "missing": missing_pictures(blocks)}, page.encode()


def _blocks(blocks: Iterable[MarkdownBlock]) -> str:
    return "\n".join(map(_block, blocks))


def _block(block: MarkdownBlock) -> str:
    if block.kind == "heading":
        return f"<h{block.level}>{_runs(block.runs)}</h{block.level}>"
    if block.kind == "text":
        return f"<p>{_runs(block.runs)}</p>"
    if block.kind == "code":
        return f"<pre><code>{escape(plain(block.runs))}</code></pre>"
    if block.kind == "quote":
        return f"<blockquote>\n{_blocks(block.items[0])}\n</blockquote>"
    if block.kind == "list":
        tag = "ol" if block.ordered else "ul"
        start = f' start="{block.start}"' if block.ordered and block.start != 1 else ""
        items = "\n".join(f"<li>{_item(item)}</li>" for item in block.items)
        return f"<{tag}{start}>\n{items}\n</{tag}>"
    if block.kind == "table":
        return _table(block)
    return "<hr>"


def _item(blocks: Sequence[MarkdownBlock]) -> str:
    """An item of a list; a single paragraph needs no mark of its own."""
    if blocks and blocks[0].kind == "text":
        rest = _blocks(blocks[1:])
        return _runs(blocks[0].runs) + (f"\n{rest}" if rest else "")
    return _blocks(blocks)


def _table(block: MarkdownBlock) -> str:
    lines = ["<table>"]
    for number, row in enumerate(block.rows):
        tag = "td" if number else "th"
        cells = "".join(f"<{tag}>{_runs(cell)}</{tag}>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</table>"])


def _runs(runs: Sequence[Run]) -> str:
    return "".join(map(_run, runs))


def _picture(run: Run) -> str:
    kind = "png" if run.picture.startswith(b"\x89") else "jpeg"
    content = b64encode(run.picture).decode()
    return f'<img src="data:image/{kind};base64,{content}" alt="{escape(run.text)}">'


def _run(run: Run) -> str:
    if run.picture:
        return _picture(run)
    text = escape(run.text).replace("\n", "<br>\n")
    for wanted, tag in (
        (run.code, "code"), (run.bold, "strong"), (run.italic, "em"), (run.strike, "s"),
    ):  # fmt: skip
        text = f"<{tag}>{text}</{tag}>" if wanted else text
    return f'<a href="{escape(run.link)}">{text}</a>' if run.link else text
