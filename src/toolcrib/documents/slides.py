"""What a presentation has beside its slides: the order in which they are shown, and notes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from toolcrib.documents.archives import Archive

MAX_NOTES = 20_000
"""Characters of the notes of one slide."""
_PRESENTATION = "ppt/presentation.xml"
_NUMBER = re.compile(r"(\d+)\.xml$")


class Deck:
    """A presentation. `slides` are the names of its slides, as they are shown."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        stored = (n for n in archive.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", n))
        self.stored = sorted(stored, key=_number)
        shown = [name for name in self._shown() if name in self.stored]
        self.slides = shown or self.stored

    def _shown(self) -> Iterator[str]:
        targets = dict(self._related(_PRESENTATION, "/slide"))
        root = _parsed(self._archive.read(_PRESENTATION))
        for node in _named(root, "sldId"):
            mark = next((v for k, v in node.attrib.items() if k.endswith("}id")), "")
            if mark in targets:
                yield targets[mark]

    def notes(self, slide: str) -> str:
        """The notes of the speaker, a paragraph a line."""
        for _, name in self._related(slide, "/notesSlide"):
            root = _parsed(self._archive.read(name))
            lines = [
                text
                for shape in _named(root, "sp")
                if not _is_frame(shape)
                for text in (_text(paragraph) for paragraph in _named(shape, "p"))
            ]
            return "\n".join(filter(None, lines))[:MAX_NOTES]
        return ""

    def in_order(self, slide: str, text: str) -> str:
        """The Markdown of a slide with each table after what stands before it there."""
        blocks = text.strip().split("\n\n")
        tables = [block for block in blocks if block.startswith("|")]
        if not tables:
            return text
        root = _parsed(self._archive.read(slide))
        before = [_last_before(root, table) for table in _named(root, "tbl")]
        others = [block for block in blocks if not block.startswith("|")]
        if len(before) != len(tables):
            return text
        first = 1 if others and others[0].startswith("#") else 0
        for table, words in zip(reversed(tables), reversed(before), strict=True):
            after = (n + 1 for n, block in enumerate(others) if words in _words(block))
            others.insert(max(first, next(after, len(others)) if words else 0), table)
        return "\n\n".join(others)

    def _related(self, part: str, kind: str) -> Iterator[tuple[str, str]]:
        """The parts of a kind that a part refers to, by the marks that it uses for them."""
        folder, _, file = part.rpartition("/")
        root = _parsed(self._archive.read(f"{folder}/_rels/{file}.rels"))
        for node in _named(root, "Relationship"):
            if node.get("Type", "").endswith(kind) and node.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, node.get("Target", "")))
                yield node.get("Id", ""), target.lstrip("/")


def _number(name: str) -> int:
    match = _NUMBER.search(name)
    return int(match[1]) if match else 0


def _parsed(xml: bytes) -> ET.Element | None:
    """A part as a tree; office files have no document type, so none is let in."""
    if not xml or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        return None
    try:
        return ET.fromstring(xml)  # noqa: S314 - nothing that could be expanded gets here
    except ET.ParseError:
        return None


def _named(root: ET.Element | None, name: str) -> Iterator[ET.Element]:
    if root is not None:
        yield from (node for node in root.iter() if node.tag.rpartition("}")[2] == name)


def _is_frame(shape: ET.Element) -> bool:
    """Whether a shape holds the number, date or picture of the slide, not words."""
    return any(
        node.get("type") in ("sldNum", "sldImg", "dt", "hdr", "ftr") for node in _named(shape, "ph")
    )


def _last_before(root: ET.Element | None, table: ET.Element) -> str:
    """The words of the last paragraph with any that stands before a table, outside of tables."""
    last = ""
    inside: set[ET.Element] = set()
    for node in root.iter() if root is not None else ():
        if node is table:
            break
        if node.tag.endswith("}tbl"):
            inside.update(node.iter())
        elif node.tag.endswith("}p") and node not in inside:
            last = _text(node) or last
    return last


def _words(block: str) -> str:
    return " ".join(block.split())


def _text(paragraph: ET.Element) -> str:
    parts = (
        " " if node.tag.endswith("}br") else node.text or ""
        for node in paragraph.iter()
        if node.tag.endswith(("}t", "}br"))
    )
    return " ".join("".join(parts).split())
