"""HTML to Markdown: what a reader of the page would see, with absolute links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.tools.web.document import Document, Raw, decode

if TYPE_CHECKING:
    from turbohtml import Document as Tree

_UNSEEN = (
    "script, style, template, svg, iframe, object, embed, canvas, audio, video, "
    "datalist, select, dialog:not([open])"
)
_HIDDEN = (
    '[hidden]:not([hidden="until-found"]), [aria-hidden=true], '
    '[style*="display:none" i], [style*="display: none" i], '
    '[style*="visibility:hidden" i], [style*="visibility: hidden" i], '
    '[style*="opacity:0" i]:not([style*="opacity:0." i]), '
    '[style*="opacity: 0" i]:not([style*="opacity: 0." i]), '
    '[style*="font-size:0" i]:not([style*="font-size:0." i])'
)
_NAVIGATION = "nav, [role=navigation], [role=search], [role=contentinfo], body > footer"
_NO_SCRIPTS = "noscript"

_WEB = re.compile(r"https?://", re.IGNORECASE)
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\([^()\s]*\)")
_BLANKS = re.compile(r"\n{3,}")
FORWARD_SECONDS = 10


def convert(raw: Raw) -> Document:
    """The visible text of a page, as Markdown or plain.

    Scripts, hidden parts and navigation are left out. Where nothing is left, hidden
    parts and navigation come back rather than an empty document.
    """
    source, encoding = decode(raw)
    tree, hidden = _pruned(source, _HIDDEN, _NAVIGATION, _NO_SCRIPTS)
    notes = _notes(tree, raw)
    text = _rendered(tree, raw)
    if not text:
        tree, _ = _pruned(source, "", "", _NO_SCRIPTS)
        text = _rendered(tree, raw)
        if text:
            notes.append("Only hidden or navigation text was found.")
        else:
            notes.append("The page has no text without a browser that runs its scripts.")
    return Document(text, "html", _title(tree), encoding, notes, hidden)


def _pruned(source: str, hidden: str, *others: str) -> tuple[Tree, int]:
    """The tree without what is not shown, and how many hidden parts with text it had."""
    from turbohtml import parse

    tree = parse(source, positions=False)
    tree.remove(", ".join([_UNSEEN, *filter(None, others)]))
    count = 0
    if hidden:
        parts = tree.select(hidden)
        count = sum(1 for part in parts if next(iter(part.stripped_strings), ""))
        tree.remove(hidden)
    return tree, count


def _rendered(tree: Tree, raw: Raw) -> str:
    from turbohtml import Markdown, PlainText

    if raw.format == "text":
        text = tree.to_text(PlainText(bullet="- ", table_cell_separator=" | "))
        return _tidy(text).strip()
    tree.resolve_links(tree.base_url(raw.url))
    for link in tree.select("a[href]"):
        href = (link.attr("href") or "").strip()
        if _WEB.match(href):
            link.attrs["href"] = href
        else:
            del link.attrs["href"]
    text = tree.to_markdown(
        Markdown(
            images=Markdown.Images(mode="alt"),
            tables=Markdown.Tables(cell_blocks="text"),
            escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
        )
    )
    return _normal(_EMPTY_LINK.sub("", text))


def _normal(text: str) -> str:
    """No space at line ends and no more than one blank line, except inside code."""
    parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
    for index in range(0, len(parts), 2):
        parts[index] = _tidy(parts[index])
    return "".join(parts).strip()


def _tidy(text: str) -> str:
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n")))


def _title(tree: Tree) -> str:
    for selector in ("title", "h1"):
        found = tree.select_one(selector)
        title = " ".join(found.text.split()) if found else ""
        if title:
            return title[:300]
    return ""


def _notes(tree: Tree, raw: Raw) -> list[str]:
    forward = tree.meta_refresh(raw.url)
    if forward and forward[0] <= FORWARD_SECONDS and forward[1] != raw.url:
        return [f"The page forwards to {forward[1]}"]
    return []
