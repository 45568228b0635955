"""HTML as Markdown or plain text, all that is visible of it, and the addresses of its links."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element


MAX_URL_CHARS = 4_096
"""Characters; longer ones are left out."""
MAX_BASE_CHARS = 500
"""Characters of a base, which stands in front of each relative address of a page."""
_WEB_ADDRESS = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_LINE_SIGNS = re.compile(r"[\t\r\n]")
# What no URL has as it stands, and what could end one where it is listed.
_ODD = re.compile(r'[\s"<>`\x00-\x1f\x7f-\x9f]')

# What parsing would leave as it is: most references, and a page may have thousands.
_PLAIN = re.compile(
    r"/(?:[\w~-][\w.~-]*(?:/[\w~-][\w.~-]*)*/?)?(?:\?[\w.~/=&-]+)?(?:#[\w.~/-]+)?", re.ASCII
)


def web_url(url: str) -> str:
    """An absolute http(s) URL as browsers read it; empty for anything else."""
    url = escape_url(url)
    return url if _WEB_ADDRESS.match(url) and len(url) <= MAX_URL_CHARS else ""


def escape_url(url: str) -> str:
    """A URL without characters that could end it inside a text."""
    return _ODD.sub(lambda odd: quote(odd[0]), _LINE_SIGNS.sub("", url.strip()))


def absolute_url(url: str, base: str) -> str:
    """The http(s) URL that a reference means on a page; empty for anything else.

    Without a `base` only whole addresses mean anything.
    """
    url = url.strip()
    if _PLAIN.fullmatch(url) and (origin := _origin(base)):
        whole = f"{origin}{url}"
        return whole if len(whole) <= MAX_URL_CHARS else ""
    from ada_url import URL

    url = _LINE_SIGNS.sub("", url)
    if not url or len(url) > MAX_URL_CHARS:
        return ""
    try:
        return web_url(URL(url, base or None).href)
    except (ValueError, UnicodeEncodeError):
        return ""


def base_of(tree: Tree, url: str) -> str:
    """What a page's addresses are relative to: its `base`, else where it came from.

    Args:
        tree: the page.
        url: its address, or empty.

    Returns:
        Empty, which leaves addresses as they stand, where the base is so long that the page
        would grow many times by it.
    """
    base = tree.base_url(url)
    return base if len(base.partition("?")[0]) <= MAX_BASE_CHARS else ""


@lru_cache(maxsize=16)
def _origin(base: str) -> str:
    """Scheme, host and port of an address of the web; else empty."""
    from ada_url import URL

    try:
        found = URL(base)
    except (ValueError, UnicodeEncodeError):
        return ""
    return f"{found.protocol}//{found.host}" if found.protocol in ("http:", "https:") else ""


Format: TypeAlias = Literal["markdown", "text", "raw"]
INVISIBLE_TAGS = (
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


def fragment_text(markup: str, base: str, form: Format) -> str:
    """A piece of HTML as Markdown or plain text, its headings below those around it."""
    tree = tree_of(markup)
    make_visible(tree)
    resolve_links(tree, base)
    for heading in tree.select("h1, h2, h3"):
        heading.tag = "h4"
    return rendered(tree, form)


def page_markdown(markup: str) -> str:
    """What a reader would see of a whole page, as Markdown."""
    tree = tree_of(markup)
    make_visible(tree)
    resolve_links(tree, "")
    return rendered(tree, "markdown")


def make_visible(tree: Tree) -> int:
    """Remove what is not visible, and count the hidden parts that have text."""
    tree.remove(INVISIBLE_TAGS)
    count = sum(1 for part in tree.select(_HIDDEN) if next(iter(part.stripped_strings), ""))
    tree.remove(_HIDDEN)
    return count


def resolve_links(part: Tree | Element, base: str) -> None:
    """Make links absolute; only those that lead to the web stay links."""
    part.resolve_links(base)
    for link in part.select("a[href]"):
        href = (link.attr("href") or "").strip()
        if _WEB.match(href):
            link.attrs["href"] = escape_url(href)
        else:
            del link.attrs["href"]


def rendered(part: Tree | Element, form: Format) -> str:
    """A tree as Markdown or plain text; pictures are their alternative texts."""
    from turbohtml import Markdown, PlainText

    if form == "text":
        text = part.to_text(PlainText(bullet="- ", table_cell_separator=" | "))
        return tidy_lines(text).strip()
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
        parts[index] = tidy_lines(parts[index])
    return "".join(parts).strip()


def tidy_lines(text: str) -> str:
    """Text without space at the ends of lines, and with one empty line at most."""
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n")))
