"""HTML to Markdown: what a reader of the page would see, with absolute links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.tools.web.anchors import anchors_of, one_word, pictures_of
from toolcrib.tools.web.document import Document, Facts, Format, Raw, decode
from toolcrib.tools.web.navigation import menus_of, navigation_of

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

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
    """The visible text of a page, as Markdown or plain, and what else it holds.

    Scripts, hidden parts and navigation are left out of the text. Where nothing is left,
    hidden parts and navigation come back rather than an empty document.
    """
    source, encoding = decode(raw)
    tree = _tree(source)
    facts = _facts(tree, raw.url)
    notes = _notes(tree, raw)
    hidden = _make_visible(tree, _HIDDEN)
    base = tree.base_url(raw.url)
    pictures = pictures_of(tree, base)
    anchors = _resolved(tree, base)
    menus = menus_of(tree)
    navigation = navigation_of(menus, lambda menu: _rendered(menu, raw.format))
    for menu in menus:
        menu.extract()
    tree.remove(_NAVIGATION)
    links = anchors_of(anchors, set(tree.select("a[href]")), raw.url)
    text = _rendered(tree, raw.format)
    if not text:
        tree = _tree(source)
        _make_visible(tree, "")
        _resolved(tree, base)
        text = _rendered(tree, raw.format)
        if text:
            notes.append("Only hidden or navigation text was found.")
        else:
            notes.append("The page has no text without a browser that runs its scripts.")
    return Document(
        text,
        "html",
        _title(tree),
        encoding,
        notes,
        hidden,
        links=links,
        pictures=pictures,
        facts=facts,
        navigation=navigation,
    )


def _facts(tree: Tree, url: str) -> Facts:
    """What the page says of itself; scripts and head must still be in the tree."""
    from toolcrib.kit.reader.meta import read_meta

    meta = read_meta(tree, url)
    return Facts(
        published=meta.published,
        modified=meta.modified,
        type=meta.type,
        description=meta.description,
        site=meta.site_name,
        author=meta.byline,
        language=meta.language,
    )


def fragment(markup: str, base: str, form: Format) -> str:
    """A piece of HTML as Markdown or plain text, its headings below those around it."""
    tree = _tree(markup)
    _make_visible(tree, _HIDDEN)
    _resolved(tree, base)
    for heading in tree.select("h1, h2, h3"):
        heading.tag = "h4"
    return _rendered(tree, form)


def _tree(source: str) -> Tree:
    from turbohtml import parse

    return parse(source, positions=False)


def _make_visible(tree: Tree, hidden: str) -> int:
    """Remove what is not shown, and count the hidden parts that have text."""
    tree.remove(f"{_UNSEEN}, {_NO_SCRIPTS}")
    if not hidden:
        return 0
    count = sum(1 for part in tree.select(hidden) if next(iter(part.stripped_strings), ""))
    tree.remove(hidden)
    return count


def _resolved(tree: Tree, base: str) -> list[Element]:
    """Make links absolute; the anchors that lead to the web keep theirs and are given."""
    tree.resolve_links(base)
    anchors = []
    for link in tree.select("a[href]"):
        href = (link.attr("href") or "").strip()
        if _WEB.match(href):
            link.attrs["href"] = one_word(href)
            anchors.append(link)
        else:
            del link.attrs["href"]
    return anchors


def _rendered(part: Tree | Element, form: Format) -> str:
    from turbohtml import Markdown, PlainText

    if form == "text":
        text = part.to_text(PlainText(bullet="- ", table_cell_separator=" | "))
        return _tidy(text).strip()
    text = part.to_markdown(
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
