"""A chosen part of a page as Markdown or plain text, with its headings, links and pictures.

The tree is first brought into a shape that turbohtml's converter writes well (formulas, code,
pictures, notes, tables), then converted, then freed of escapes that change nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.documents.reader.markdown.code_blocks import write_listings
from toolcrib.documents.reader.markdown.footnotes import write_notes
from toolcrib.documents.reader.markdown.formulas import HINTS, Slots, write_formulas, write_pictured
from toolcrib.documents.reader.markdown.images import link_frames, load_pictures
from toolcrib.documents.reader.markdown.inline import (
    clean_texts,
    make_absolute,
    thin_breaks,
    write_anchors,
    write_phrases,
)
from toolcrib.documents.reader.markdown.tables import write_tables

if TYPE_CHECKING:
    from turbohtml import Document, Element


MAX_LISTED = 2000
"""Headings, links and pictures that are listed."""

MAX_HEADING = 2000
"""Characters of a line that may be a heading."""
_HEADING = re.compile(r"(?:[ >]|[-*+] |\d{1,9}[.)] )*(#{1,6}) +(.*)")
_CODE_BLOCK = re.compile(r"^[ >]*(`{3,})[^`\n]*\n(?:.*\n)*?[ >]*\1[ ]*$", re.MULTILINE)
_TARGET = re.compile(
    r"(!?)\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?: \"[^\"]*\")?\)"
)
_MARKS = re.compile(r"(?<!\\)(?:\*+|`+|~~|</?\w+>)|\\(?=[^\w\s])")

_SIGNS = frozenset("*`~<\\")


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading: level 1 to 6, text, and the offset of its `#` in the Markdown."""

    level: int
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link or picture: its address, and its words or alternative text."""

    url: str
    text: str


def headings_of(markdown: str) -> tuple[MarkdownHeading, ...]:
    """The headings of Markdown outside its blocks of code."""
    if "#" not in markdown:
        return ()
    code = [match.span() for match in _CODE_BLOCK.finditer(markdown)] if "```" in markdown else []
    found = []
    at = 0
    place = markdown.find("# ")
    while place >= 0:
        start = markdown.rfind("\n", 0, place) + 1
        while at < len(code) and code[at][1] <= start:
            at += 1
        end = markdown.find("\n", place)
        end = end if end >= 0 else len(markdown)
        inside = at < len(code) and code[at][0] <= start
        match = (
            None
            if inside or end - start > MAX_HEADING
            else _HEADING.fullmatch(markdown, start, end)
        )
        if match and (text := _plain(match[2])):
            found.append(MarkdownHeading(len(match[1]), text, match.start(1)))
            if len(found) == MAX_LISTED:
                break
        place = markdown.find("# ", end)
    return tuple(found)


def links_of(root: Element) -> tuple[PageLink, ...]:
    """The links below an element, each address once."""
    return _listed(root, "a", "href")


def images_of(root: Element) -> tuple[PageLink, ...]:
    """The pictures below an element, each address once."""
    return _listed(root, "img", "src")


def _listed(root: Element, tag: str, attribute: str) -> tuple[PageLink, ...]:
    found: dict[str, PageLink] = {}
    for node in root.find_all(tag, limit=2 * MAX_LISTED):
        url = (node.attr(attribute) or "").strip()
        if url and url not in found and not url.startswith(("#", "javascript:", "data:")):
            text = (node.attr("alt") or "") if tag == "img" else node.text
            found[url] = PageLink(url, " ".join(text.split())[:500])
    return tuple(found.values())[:MAX_LISTED]


def _plain(markup: str) -> str:
    """The words of a line of Markdown."""
    text = markup
    if "](" in text:
        text = _TARGET.sub(lambda match: "" if match[1] else match[2], text)
        text = _TARGET.sub(lambda match: "" if match[1] else match[2], text)
    if not _SIGNS.isdisjoint(text):
        text = _MARKS.sub("", text)
    return " ".join(text.split())


# The last pass over Markdown: fewer escapes, no empty lines in a row, no spaces at line ends.

MAX_BLOCK = 100_000
"""Characters between two empty lines up to which escapes are looked at."""

# Each branch starts with a plain sign, which lets the search skip to the next of them.
_ESCAPES = re.compile(
    r"`(?P<code>`*)(?!`).+?(?<!`)`(?P=code)(?!`)"
    r"|\\(?:(?P<pair>\[(?P<inner>(?:[^\[\]\\`\n]|\\[_*~.#-])*)\\\](?![(\[:]))"
    r"|(?P<run>_(?:\\_)*|\*(?:\\\*)*|~(?:\\~)*)|(?P<slash>\\)|.)",
    re.DOTALL,
)
_EMPTY_LINK = re.compile(r"^([ >]*)\[\]\([^()\s]*\)$|(?<![!\\])\[\]\((?:<[^<>\n]*>|[^()\s<>]*)\)")
_BREAKS = re.compile(r"(?:\\\n([ >]*))(?:(?:&#160;)?\\\n[ >]*)+")
_LONE = re.compile(
    r"^([ >]*)([-*+]|\d{1,9}[.)])[ ]*\n(?:[ >]*\n)+(?:([ >]+)(?=[^ >\n])|\Z)", re.MULTILINE
)
_LONE_LINE = re.compile(r"\n[ >]*(?:[-*+]|\d{1,9}[.)])[ ]*\n")
"""A line of a sign alone; it starts with a plain sign, which makes the search fast."""
# With letters at both ends the signs open and close, whatever stands around them.
_TAGGED = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![*\\])<(?P<tag>strong|em)>(?P<said>[^\W_](?:(?:[^<>*`\\\n]|<br>){0,600}[^\W_])?)</(?P=tag)>(?!\*)"
    # With other signs at an end they do where no letter stands beside it.
    r"|(?<![\w*\\])<(?P<mark>strong|em)>(?P<words>[^\s<>*`\\](?:(?:[^<>*`\\\n]|<br>){0,600}[^\s<>*`\\])?)"
    r"</(?P=mark)>(?![\w*])"
)
_TICK = frozenset({"", " ", "x", "X"})


def clean_markdown(markdown: str) -> str:
    """Markdown as it is given out: see the module. Blocks of code stay as they are."""
    if "```" not in markdown:
        return _prose(markdown).strip("\n")
    parts: list[str] = []
    end = 0
    for match in _CODE_BLOCK.finditer(markdown):
        parts += [_prose(markdown[end : match.start()]), _bare(match[0])]
        end = match.end()
    parts.append(_prose(markdown[end:]))
    return "".join(parts).strip("\n")


def _bare(code: str) -> str:
    """Code without the white space that only indents its empty lines."""
    if " \n" not in code:
        return code
    return "\n".join("" if line.isspace() else line for line in code.split("\n"))


def _prose(text: str) -> str:
    if _LONE_LINE.search(f"\n{text}"):
        text = _LONE.sub(_begun, text)
    if "\\\n" in text:
        text = _BREAKS.sub(r"\n\1\n\1", text)
    if "\\" in text:
        text = "\n\n".join(
            _relaxed(block) if "\\" in block and len(block) < MAX_BLOCK else block
            for block in text.split("\n\n")
        )
    if "<strong>" in text or "<em>" in text:
        text = _TAGGED.sub(_signed, text)
    if "[](" not in text:
        text = "\n".join([line.rstrip() for line in text.split("\n")])
        if "\n\n\n" not in text and ">\n" not in text:
            return text
    return "\n".join(_lines(text.split("\n")))


def _signed(match: re.Match[str]) -> str:
    """Emphasis by tags as emphasis by signs."""
    sign = {"strong": "**", "em": "*"}.get(match["tag"] or match["mark"], "")
    return f"{sign}{match['said'] or match['words']}{sign}" if sign else match[0]


def _begun(match: re.Match[str]) -> str:
    """The sign of an entry with its first line, which an empty line would cut off from it."""
    outer, sign, inner = match.groups()
    if inner is None:
        return f"{outer}{sign}\n"
    return f"{outer}{sign} " if len(inner) > len(outer) else match[0]


def _lines(lines: list[str]) -> Iterator[str]:
    """Lines without space at their ends, and never two empty ones in a row."""
    empty = False
    last = len(lines) - 1
    for number, line in enumerate(lines):
        if "[](" in line:
            line = _EMPTY_LINK.sub(r"\1", line)  # noqa: PLW2901 - the same line, cleaned
        line = line.rstrip()  # noqa: PLW2901 - the same line, cleaned
        # The first and the last are what is left of the lines of code around.
        nothing = 0 < number < last and (not line or (line[0] in " >" and not line.strip(" >")))
        if nothing and empty:
            continue
        empty = nothing
        yield line


def _relaxed(block: str) -> str:
    """A block without the escapes that change nothing."""
    stars = block.count("*")

    def replaced(match: re.Match[str]) -> str:
        kind, text = match.lastgroup, match[0]
        before = block[match.start() - 1] if match.start() else "\n"
        after = block[match.end()] if match.end() < len(block) else "\n"
        if kind == "pair":
            inner = match["inner"]
            if inner in _TICK:
                return text
            return f"[{_relaxed(inner) if chr(92) in inner else inner}]"
        if kind == "run":
            earlier = block[match.start() - 2] if match.start() > 1 else ""
            idle = _is_idle(text, f"{earlier}{before}", after, stars)
            return text.replace("\\", "") if idle else text
        if kind == "slash" and (after.isalnum() or after == " "):
            return "\\"
        return text

    return _ESCAPES.sub(replaced, block)


def _is_idle(text: str, before: str, after: str, stars: int) -> bool:
    """Whether a run of signs between what is around it can neither open nor close anything."""
    sign, single = text[1], len(text) == 2
    opens = not after.isspace()
    if before[-1].isspace() and not opens:
        return single and before[0].isalnum() and before[-1] == " "
    if sign == "_":
        return before[-1].isalnum() and after.isalnum()
    if sign == "*":
        return single and stars == 1 and (opens or before[-1].isalnum())
    return single and before[-1].isspace() and (after.isalnum() or after in "/$€£.")


# Elements that are not visible, and trees that are too deep or too large.

MAX_DEPTH = 300
"""Elements inside each other; deeper trees lose the elements that nest."""
MAX_ELEMENTS = 60_000
"""Larger trees are written without being prepared."""

_UNSEEN = (
    "script", "style", "template", "noscript", "head", "title", "meta", "link", "base", "svg",
    "canvas", "iframe", "object", "embed", "applet", "audio", "video", "select", "datalist",
    "textarea", "map", "progress", "meter", "input", "noembed", "noframes", "dialog", "rp", "rt",
    "colgroup", "math",
)  # fmt: skip
_NARROWED_SELECTORS = {"dialog": "dialog:not([open])"}
"""What of a tag is not seen, where that is not all."""
_HIDDEN = (
    '[hidden]:not([hidden="until-found"]), [aria-hidden=true], [style*="display:none" i],'
    ' [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]'
)
_MAX_HIDDEN_SHARE = 0.67
"""Share of the text above which marks of hiding are not believed."""
_SMALL_HIDDEN_CHARS = 400
"""Characters up to which they always are."""
_STEP = 200
_SLICE, _OVERLAP = 1 << 20, 16
_NESTING = (
    "b, i, em, strong, font, span, u, small, big, a, s, ins, del, sup, sub, code, label, center, q",
    "blockquote, ul, ol, dl, dd, dt, table, tbody, thead, tr, td, th, form, fieldset, details",
    "div, section, article, main, aside, header, footer, nav, li, p, figure, svg, g",
)


def drop_hidden(root: Element) -> int:
    """Remove what is marked as hidden, unless that is most of the text; gives its words."""
    hidden = root.select(_HIDDEN)
    if not hidden:
        return 0
    texts = [node.text for node in hidden[:1000]]
    if sum(map(len, texts)) > max(_SMALL_HIDDEN_CHARS, _MAX_HIDDEN_SHARE * len(root.text)):
        return 0
    root.remove(_HIDDEN)
    return sum(len(text.split()) for text in texts)


def may_hide(source: str) -> bool:
    """Whether a page has anything that `drop_hidden` could find: quicker than looking there."""
    for start in range(0, len(source), _SLICE):
        part = source[start : start + _SLICE + _OVERLAP].lower()
        if "hidden" in part or "display" in part or "&" in part:
            return True
    return False


def drop_scripts(root: Element, tags: Container[str]) -> None:
    """Remove what is never text, before texts are looked at; `tags` are those of the tree."""
    _drop(root, [tag for tag in ("script", "style", "template") if tag in tags])


def drop_unseen(root: Element, tags: Container[str]) -> None:
    """Remove scripts, forms' fields, frames and the like; `tags` are those of the tree."""
    _drop(root, [_NARROWED_SELECTORS.get(tag, tag) for tag in _UNSEEN if tag in tags])


def unseen_tags(document: Document) -> frozenset[str]:
    """Those tags of a whole document that are not seen; takes hardly any time.

    The document has a list for each tag, which is not looked at where there is a limit.
    """
    return frozenset(tag for tag in _UNSEEN if document.find_all(tag))


def _drop(root: Element, selectors: list[str]) -> None:
    if selectors:
        root.remove(f":is({', '.join(selectors)})")


def flattened(root: Element) -> list[Element]:
    """The elements of a tree, without those that nest where it is too deep; no text is lost."""
    elements = root.select("*")
    for tags in _NESTING:
        if not is_deep(elements):
            break
        root.strip_tags(tags)
        elements = root.select("*")
    return elements


def is_deep(elements: list[Element]) -> bool:
    """Whether of all elements of a tree one stands more than `MAX_DEPTH` levels down."""
    # In document order an element is at most one level deeper than the one before it: where
    # every so many elements none is deep, no element is deeper by more than that.
    if len(elements) <= MAX_DEPTH:
        return False
    for place in range(_STEP, len(elements), _STEP):
        if any(depth > MAX_DEPTH for depth, _ in enumerate(elements[place].ancestors)):
            return True
    return False


MAX_RESOLVED = 150_000
"""Elements of a tree whose addresses are all made absolute."""

_CONTENT = "img[src], input[type=checkbox], math, hr"
"""What an entry without text may show."""
_CODE = frozenset({"pre", "code", "xmp", "listing", "plaintext", "td"})


@dataclass(frozen=True, slots=True)
class PageMarkdown:
    """Markdown, its headings, and the links and pictures of the tree it was made from."""

    markdown: str
    outline: tuple[MarkdownHeading, ...]
    links: tuple[PageLink, ...]
    images: tuple[PageLink, ...]


def write(
    subtree: Element | Sequence[Element],
    base_url: str = "",
    *,
    keep_hidden: bool = False,
    pictures: bool = True,
) -> PageMarkdown:
    """A part of a page as Markdown, with what it holds.

    The tree is changed: prepare a copy where it is needed again.

    Args:
        subtree: an element of turbohtml's tree, or elements in document order.
        base_url: what relative addresses are relative to; empty leaves them.
        keep_hidden: whether what is marked as hidden stays, for a caller that chose already.
        pictures: whether they are shown by their addresses, or by their words alone.
    """
    slots = Slots()
    root = _prepared(subtree, base_url, slots, keep_hidden=keep_hidden)
    markdown = slots.fill(clean_markdown(root.to_markdown(_markdown_options(pictures=pictures))))
    return PageMarkdown(markdown, headings_of(markdown), links_of(root), images_of(root))


def _markdown_options(*, pictures: bool = True) -> Any:
    from turbohtml import Markdown

    return Markdown(
        images=Markdown.Images(mode="markdown" if pictures else "alt"),
        links=Markdown.Links(autolink=False),
        document=Markdown.Document(line_break="backslash"),
    )


def _prepared(
    subtree: Element | Sequence[Element], base_url: str, slots: Slots, *, keep_hidden: bool
) -> Element:
    """One element that holds everything, in the shape that the converter writes best."""
    root = _single_root(subtree)
    elements = flattened(root)
    if len(elements) <= MAX_ELEMENTS:
        _prepare(root, _by_tag(elements), slots, keep_hidden=keep_hidden)
    else:
        drop_unseen(root, {node.tag for node in elements})
        thin_breaks(root.find_all("br"))
    if base_url and len(elements) <= MAX_RESOLVED:
        make_absolute(root, base_url)
    return root


def _prepare(
    root: Element, tags: dict[str, list[Element]], slots: Slots, *, keep_hidden: bool
) -> None:
    if not HINTS.isdisjoint(tags):
        write_formulas(root, slots)
    drop_scripts(root, tags)
    clean_texts(root, slots)
    if "img" in tags or "noscript" in tags:
        if "img" in tags:
            write_pictured(root, slots)
        load_pictures(tags)
    link_frames(tags)
    if not keep_hidden:
        drop_hidden(root)
    write_notes(tags.get("a", []), root, slots)
    write_phrases(root, tags, slots)
    drop_unseen(root, tags)
    if not _CODE.isdisjoint(tags):
        write_listings(root, tags)
    write_anchors(root, tags)
    drop_empty_entries(tags.get("li", []))
    if "table" in tags:
        write_tables(root.find_all("table"))


def drop_empty_entries(entries: list[Element]) -> None:
    """Remove entries of lists that show nothing: their marks would stand alone."""
    for entry in entries:
        if next(iter(entry.stripped_strings), None) is None and not entry.select_one(_CONTENT):
            entry.extract()


def _by_tag(elements: list[Element]) -> dict[str, list[Element]]:
    tags: defaultdict[str, list[Element]] = defaultdict(list)
    for node in elements:
        tags[node.tag].append(node)
    return dict(tags)


def _single_root(subtree: Element | Sequence[Element]) -> Element:
    """One element around all; entries of lists and rows get the list or table they need."""
    from turbohtml import Element

    nodes = [subtree] if isinstance(subtree, Element) else list(subtree)
    if len(nodes) == 1 and nodes[0].tag in ("body", "div", "article", "main", "section", "html"):
        return nodes[0]
    outer = Element("div")
    holder, last = outer, ""
    for node in nodes:
        needed = {"li": "ul", "tr": "table", "dt": "dl", "dd": "dl"}.get(node.tag, "")
        if needed == "ul" and getattr(node.parent, "tag", "") == "ol":
            needed = "ol"
        if needed != last:
            holder = Element(needed) if needed else outer
            if needed:
                outer.append(holder)
            last = needed
        holder.append(node.extract())
    return outer
