"""Markdown rendered again, to ask what a reader of it would see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from turbohtml import parse

from toolcrib.documents.reader.markdown.writer import write

BASE = "https://site.example/docs/page"
_RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass(frozen=True)
class Page:
    """Markdown and the tree of its rendering."""

    md: str
    tree: Any

    def texts(self, selector: str) -> list[str]:
        return [" ".join(node.text.split()) for node in self.tree.select(selector)]

    def raw(self, selector: str) -> list[str]:
        return [node.text for node in self.tree.select(selector)]

    def attrs(self, selector: str, name: str) -> list[str | None]:
        return [node.attr(name) for node in self.tree.select(selector)]

    def count(self, selector: str) -> int:
        return len(self.tree.select(selector))

    @property
    def text(self) -> str:
        return " ".join(self.tree.text.split())

    @property
    def rows(self) -> list[list[str]]:
        return [
            [" ".join(cell.text.split()) for cell in row.select("th, td")]
            for row in self.tree.select("tr")
        ]


def rendered(markdown: str) -> Page:
    tree = parse(_RENDERER.render(markdown), positions=False).find("body")
    assert tree is not None
    return Page(markdown, tree)


def convert(html: str) -> str:
    body = parse(html, positions=False).find("body")
    assert body is not None
    return write(body, BASE).markdown
