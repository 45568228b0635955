"""What a reader of a page would see, all of it, as Markdown or plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolcrib.documents.markup.addresses import one_word

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

Format: TypeAlias = Literal["markdown", "text", "raw"]
UNSEEN = (
    "script, style, template, svg, iframe, object, embed, canvas, audio, video, "
    "datalist, select, dialog:not([open]), noscript"
)
_HIDDEN = (
    '[hidden]:not([hidden="until-found"]), [aria-hidden=true], '
    '[style*="display:none" i], [style*="display: none" i], '
    '[style*="visibility:hidden" i], [style*="visibility: hidden" i], '
    '[style*="opacity:0" i]:not([style*="opacity:0." i]), '
    '[style*="opacity: 0" i]:not([style*="opacity: 0." i]), '
    '[style*="font-size:0" i]:not([style*="font-size:0." i])'
)
_WEB = re.compile(r"https?://", re.IGNORECASE)
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\([^()\s]*\)")
_BLANKS = re.compile(r"\n{3,}")


def tree_of(source: str) -> Tree:
    """The parsed page."""
    from turbohtml import parse

    return parse(source, positions=False)


def fragment(markup: str, base: str, form: Format) -> str:
    """A piece of HTML as Markdown or plain text, its headings below those around it."""
    tree = tree_of(markup)
    make_visible(tree)
    resolve(tree, base)
    for heading in tree.select("h1, h2, h3"):
        heading.tag = "h4"
    return rendered(tree, form)


def page(markup: str) -> str:
    """What a reader would see of a whole page, as Markdown."""
    tree = tree_of(markup)
    make_visible(tree)
    resolve(tree, "")
    return rendered(tree, "markdown")


def make_visible(tree: Tree) -> int:
    """Remove what is not shown, and count the hidden parts that have text."""
    tree.remove(UNSEEN)
    count = sum(1 for part in tree.select(_HIDDEN) if next(iter(part.stripped_strings), ""))
    tree.remove(_HIDDEN)
    return count


def resolve(part: Tree | Element, base: str) -> None:
    """Make links absolute; only those that lead to the web stay links."""
    part.resolve_links(base)
    for link in part.select("a[href]"):
        href = (link.attr("href") or "").strip()
        if _WEB.match(href):
            link.attrs["href"] = one_word(href)
        else:
            del link.attrs["href"]


def rendered(part: Tree | Element, form: Format) -> str:
    """A tree as it is shown; pictures are their words."""
    from turbohtml import Markdown, PlainText

    if form == "text":
        text = part.to_text(PlainText(bullet="- ", table_cell_separator=" | "))
        return tidy(text).strip()
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
        parts[index] = tidy(parts[index])
    return "".join(parts).strip()


def tidy(text: str) -> str:
    """Text without space at the ends of lines, and with one empty line at most."""
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n")))
