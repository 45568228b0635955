"""The metadata of a page, by the rules that the reader modes of browsers follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolcrib.core.package_data import package_table
from toolcrib.documents.reader.metadata_sources import (
    ElementPlaces,
    LinkedData,
    MetaElements,
    clean_value,
    is_hidden,
    read_linked,
    read_metas,
    shortened,
    text_of,
)
from toolcrib.documents.reader.page_dates import Dates
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element


# A title element holds several titles in a row, "Article | Section | Site" or "Site: Article".
# Which part is the article's is decided by separators and numbers of words; where that leaves
# too little, the whole stands.

MAX_TITLE = 500
_MAX_HEADINGS = 200
_SEPARATORS = re.escape("|-\u2013\u2014\\/>\u00bb")
_SEPARATOR = re.compile(rf"\s[{_SEPARATORS}]\s")
_FIRST_PART = re.compile(rf"^[^{_SEPARATORS}]*[{_SEPARATORS}]")
# A path of sections rather than a title with its site.
_PATH = re.compile(r"\s[\\/>»]\s")
_SPACE = re.compile(r"\s+")
_FEW_WORDS = 4
_LONG_TITLE, _SHORT_TITLE = 150, 15
"""Characters of titles that are taken for a list of keywords, or for too little."""


def whole_title(tree: Tree) -> str:
    """The text of the page's title element, on one line."""
    from turbohtml import Namespace

    for element in tree.find_all("title")[:20]:
        if element.namespace is Namespace.HTML:
            return one_line(element.text, MAX_TITLE)
    return ""


def document_title(tree: Tree, whole: str) -> str:
    """The part of `whole`, the text of the title element, that names this page."""
    separators = list(_SEPARATOR.finditer(whole))
    title, path = whole, False
    if separators:
        path = bool(_PATH.search(whole))
        title = whole[: separators[-1].start()]
        if _words(title) < 3:
            title = _FIRST_PART.sub("", whole)
    elif ": " in whole:
        if not _has_heading(tree, whole):
            title = _after_colon(whole)
    elif not _SHORT_TITLE <= len(whole) <= _LONG_TITLE:
        title = _only_heading(tree) or whole
    title = title.strip()
    count = _words(title)
    if count <= _FEW_WORDS:
        joined = _words(_SEPARATOR.sub("", whole))
        if not path or count != joined - 1:
            return whole
    return title


def _words(text: str) -> int:
    """Pieces between white space; a space at the start counts as a word before it.

    The limits on words are those of reader modes, which count so.
    """
    return len(_SPACE.split(text))


def _after_colon(whole: str) -> str:
    """What follows a colon; the whole where much stands before it."""
    before, _, after = whole.partition(":")
    last = whole.rpartition(":")[2]
    if _words(last) < 3:
        return after
    return whole if _words(before) > 5 else last


def _has_heading(tree: Tree, title: str) -> bool:
    """Whether a main heading says just this, colon and all."""
    for tag in ("h1", "h2"):
        for heading in tree.find_all(tag)[:_MAX_HEADINGS]:
            # White space inside it counts: reader modes compare the texts as they stand.
            if text_of(heading, 2 * MAX_TITLE).strip() == title:
                return True
    return False


def _only_heading(tree: Tree) -> str:
    """The main heading of a page that has one."""
    headings = tree.find_all("h1")[:2]
    return one_line(text_of(headings[0], 2 * MAX_TITLE), MAX_TITLE) if len(headings) == 1 else ""


# The byline as the page shows it: the first short text that is marked as the author's.

MAX_BYLINE = 300
_MAX_TEXT = 99
"""Characters of a visible byline, white space inside it included."""
_MAX_READ = 1_200
"""Characters of a marked element that are read: much of them may be white space."""
_MAX_CANDIDATES = 150
_WORDS = ("byline", "author", "dateline", "writtenby")
"""In a class or an id ("p-author" too) they mark a byline."""
_MARKED = ",".join((
    "[rel~=author]", "[itemprop*=author]",
    *(f"[{name}*={word} i]" for name in ("class", "id") for word in _WORDS),
))  # fmt: skip
_ADDRESS = re.compile(r"\s*(?:https?:)?//|\s*www\.|\s*mailto:", re.IGNORECASE)
_LABEL = re.compile(
    r"\W*(?:(?:written |posted )?by|(?:about |follow )?(?:the |topic |our )?authors?|full bio"
    r"|author bio|original poster|(?:about|contributors?|editors?))?\W*",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"undefined|null|none|admin|administrator|@?handle|\d+|\{\{.*|%.*%", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_USER = ".username,.bigusername,.PostUser-name"
"""Forums name their writers so."""


def author_name(text: str) -> str:
    """The text as a name, or nothing if it is an address or what a template left."""
    name = clean_value(text, MAX_BYLINE).strip(" ,;")
    if _ADDRESS.match(name) or _NOBODY.fullmatch(name) or _LABEL.fullmatch(name):
        return ""
    return name


def byline_candidates(tree: Tree) -> list[Element]:
    """The elements that are marked as a byline, in the order of the page."""
    return tree.select(_MARKED)[:_MAX_CANDIDATES]


def visible_byline(marked: list[Element], places: ElementPlaces) -> str:
    """The byline that reader modes show: the first one outside of what they drop."""
    for element in marked:
        if not _is_marked(element):
            continue
        text = text_of(element, _MAX_READ).strip()
        if 0 < len(text) <= _MAX_TEXT and places.is_visible(element):
            name = one_line(_inner_name(element) or text, MAX_BYLINE)
            if not _LABEL.fullmatch(name):
                return name
    return ""


def likely_byline(marked: list[Element], places: ElementPlaces) -> str:
    """A byline in a page's header and the like, where reader modes do not look."""
    for element in marked:
        text = one_line(text_of(element, _MAX_READ) or element.attr("content") or "", MAX_BYLINE)
        if 0 < len(text) <= _MAX_TEXT and not _YEAR.search(text) and places.is_own(element):
            name = author_name(_inner_name(element) or text)
            if name:
                return name
    return ""


def user_byline(tree: Tree, places: ElementPlaces) -> str:
    """The name of the first visible user, as forums mark them."""
    users = (user for user in tree.select(_USER)[:_MAX_CANDIDATES] if places.is_own(user))
    return next(filter(None, (author_name(text_of(user, _MAX_TEXT)) for user in users)), "")


def _is_marked(element: Element) -> bool:
    """Whether reader modes know the mark: `rel` must be the one word."""
    if element.attr("rel") == "author" or "author" in (element.attr("itemprop") or ""):
        return True
    name = f"{element.attr('class') or ''} {element.attr('id') or ''}".lower()
    return any(word in name for word in _WORDS)


def _inner_name(element: Element) -> str:
    """The name inside a byline, if microdata mark that part."""
    for part in islice(element.select("[itemprop*=name]"), 1):
        return text_of(part, MAX_BYLINE) or part.attr("content") or ""
    return ""


_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")
_MIN_CHARS = 120
"""Characters of text under which its language is not guessed."""
_ENOUGH = 2_000
_SURE = 0.5
_PARAGRAPHS = 30
_TWO_LETTERS: dict[str, str] = package_table("documents/reader/languages.toml")
"""ISO 639-1 for 639-3."""


def language_of(tree: Tree, metas: MetaElements) -> str:
    """A language tag such as "de-CH", or empty where neither the page nor its text shows it."""
    root = tree.root
    declared = [metas.get("content-language", "og:locale", "dc.language", "language")]
    if root is not None:
        declared[:0] = [root.attr("lang") or "", root.attr("xml:lang") or ""]
    for text in declared:
        tag = text[:60].strip().replace("_", "-")
        if _TAG.fullmatch(tag):
            return tag
    return _guessed(tree)


def _guessed(tree: Tree) -> str:
    parts: list[str] = []
    size = 0
    for element in tree.find_all("p")[:_PARAGRAPHS]:
        parts.append(text_of(element, _ENOUGH))
        size += len(parts[-1])
        if size > _ENOUGH:
            break
    body = tree.find("body")
    text = " ".join(parts) if size >= _MIN_CHARS or body is None else text_of(body, _ENOUGH)
    text = " ".join(text.split())
    if len(text) < _MIN_CHARS:
        return ""
    from turbohtml.detect import LanguageDetection, detect_language

    code = detect_language(text[:_ENOUGH], LanguageDetection(threshold=_SURE)).language or ""
    return _TWO_LETTERS.get(code, code)


MAX_LEAD = 2_000
_MAX_PARAGRAPHS = 1_500
_MAX_COUNTED = 1_000
"""Characters of a paragraph that are weighed."""
_MAX_CHARS = 200_000
"""Characters of paragraphs after which no more of them are weighed."""
_MIN_WEIGHED_CHARS, _SENTENCE = 25, 80
_MIN_PAGE_CHARS = 500
_LEVELS = 4
_MAX_NAME = 1_000
_MAIN_SHARE = 0.6
_TAG_WEIGHTS = {"div": 5.0, "blockquote": 3.0, "td": 3.0, "form": -3.0, "li": -3.0}
_GOOD = re.compile(r"article|body|content|entry|hentry|h-entry|main|page|post|text|blog|story")
_BAD = re.compile(
    r"-ad-|hidden|banner|combx|comment|com-|contact|foot|gdpr|masthead|media|meta|outbrain|promo"
    r"|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget"
)
_COMMAS = ",\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c"
_COMMA = re.compile(f"[{_COMMAS}]")


def lead_of(tree: Tree, places: ElementPlaces) -> str:
    """The first paragraph of the part of the page that has the most and longest of them."""
    paragraphs = _paragraphs(tree, places.is_visible)
    if sum(paragraph.size for paragraph in paragraphs) < _MIN_PAGE_CHARS:
        # Then the words in the names of its parts mislead, as in "layout-with-sidebar".
        paragraphs = _paragraphs(tree, lambda element: not is_hidden(element)) or paragraphs
    nearest = _nearest(paragraphs)
    if nearest is None:
        return _text(paragraphs[0]) if paragraphs else ""
    whole = _main_part(paragraphs, nearest)
    for paragraph in paragraphs:
        chain = paragraph.chain
        # Outside of the nearest part stand small prints too.
        if nearest in chain or (whole in chain and paragraph.size > _SENTENCE):
            text = _text(paragraph)
            if text:
                return text
    return ""


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A visible paragraph: its weight, and the elements around it, inner first."""

    element: Element
    size: int
    weight: int
    chain: list[Any]


def _paragraphs(tree: Tree, is_seen: Callable[[Element], bool]) -> list[_Paragraph]:
    found: list[_Paragraph] = []
    left = _MAX_CHARS
    for element in tree.find_all("p")[:_MAX_PARAGRAPHS]:
        text = element.text
        left -= len(text)
        size = len(text.strip())
        if size and is_seen(element):
            commas = len(_COMMA.findall(text[:_MAX_COUNTED])) if size >= _MIN_WEIGHED_CHARS else 0
            weight = 2 + commas + min(size // 100, 3) if size >= _MIN_WEIGHED_CHARS else 0
            found.append(_Paragraph(element, size, weight, _chain(element)))
        if left < 0:
            break
    return found


def _chain(element: Element) -> list[Any]:
    above: Any = element.parent
    chain = []
    while getattr(above, "tag", "html") != "html":
        chain.append(above)
        above = above.parent
    return chain


def _nearest(paragraphs: list[_Paragraph]) -> Any:
    """The element whose paragraphs weigh most; the nearer it is to them, the more they count."""
    weights: dict[Any, float] = {}
    for paragraph in paragraphs:
        if not paragraph.weight:
            continue
        for level, above in enumerate(paragraph.chain[:_LEVELS]):
            if above not in weights:
                weights[above] = _start(above)
            weights[above] += paragraph.weight / (1, 2, 6, 9)[level]
    return max(weights, key=weights.__getitem__, default=None)


def _main_part(paragraphs: list[_Paragraph], nearest: Any) -> Any:
    """The first element around `nearest` that holds most of the page's weight.

    The paragraphs of long texts are in several sections.
    """
    total = sum(paragraph.weight for paragraph in paragraphs)
    above = nearest
    while getattr(above, "tag", "body") != "body":
        weight = sum(paragraph.weight for paragraph in paragraphs if above in paragraph.chain)
        if weight >= _MAIN_SHARE * total:
            return above
        above = above.parent
    return above


def _start(element: Element) -> float:
    """What an element weighs by its tag and its names."""
    start = _TAG_WEIGHTS.get(element.tag, 0.0)
    for name in (element.attr("class"), element.attr("id")):
        if name:
            low = name[:_MAX_NAME].lower()
            start += 25 * (bool(_GOOD.search(low)) - bool(_BAD.search(low)))
    return start


def _text(paragraph: _Paragraph) -> str:
    return one_line(text_of(paragraph.element, 2 * MAX_LEAD), MAX_LEAD)


MAX_DESCRIPTION = 500
_VENDORS = ("dc:", "dcterm:", "og:", "weibo:article:", "weibo:webpage:", "", "twitter:")
"""Before the names of metas, in the order in which reader modes believe them."""
MAX_SITE_NAME = 120
_ALIKE = 0.75
_WORD = re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The metadata of a page; empty where there is none, each on one line.

    Attributes:
        title: of this page, without the site's name where that can be told apart.
        byline: who wrote it, as reader modes show it: a name, names, or "By ...".
        site_name: the name of the site or of the publisher.
        excerpt: the page's summary, or its first paragraph.
        published, modified: dates in ISO 8601, or as the page writes them where that cannot be
            read.
        language: a tag such as "de-CH".
        type: the Open Graph type ("article").
        description: the summary for machines, at most 500 characters; never taken from the text.
    """

    title: str = ""
    byline: str = ""
    site_name: str = ""
    excerpt: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    type: str = ""
    description: str = ""


def read_meta(tree: Tree, *, url: str = "", excerpt: bool = True) -> PageMetadata:
    """The metadata of a parsed page, with its scripts and its head still in the tree.

    Nothing is changed in the tree, and hostile pages cost no more than some milliseconds
    for each megabyte.

    Args:
        tree: turbohtml's document.
        url: the page's address, which may hold its date.
        excerpt: look for one; without a summary that means to weigh all paragraphs.
    """
    metas, linked, places = read_metas(tree), read_linked(tree), ElementPlaces()
    language = language_of(tree, metas)
    dates = Dates(tree, metas, linked, places, url, language)
    return PageMetadata(
        title=_title(tree, metas, linked),
        byline=_byline(tree, metas, linked, places),
        site_name=_site_name(metas, linked),
        excerpt=_excerpt(tree, metas, linked, places) if excerpt else "",
        published=dates.published(),
        modified=dates.modified(),
        language=language,
        type=clean_value(metas.get("og:type"), 60),
        description=_description(metas, linked),
    )


def _title(tree: Tree, metas: MetaElements, linked: LinkedData) -> str:
    """The article's name to machines, else a title in a meta, else the title element's part."""
    whole = whole_title(tree)
    given = _headline(tree, whole, linked) or metas.last(
        *(f"{vendor}title" for vendor in _VENDORS), "parsely-title"
    )
    return clean_value(given, MAX_TITLE) or document_title(tree, whole)


def _headline(tree: Tree, whole: str, linked: LinkedData) -> str:
    """The name of the article, or its headline where only that is like the page's title.

    Some sites put their own name there, some a tagline into the headline.
    """
    name, headline = linked.article.get("name"), linked.article.get("headline")
    if isinstance(name, str) and isinstance(headline, str) and name != headline:
        title = document_title(tree, whole)
        if _likeness(headline, title) > _ALIKE >= _likeness(name, title):
            return headline.strip()
        return name.strip()
    return next((text.strip() for text in (name, headline) if isinstance(text, str)), "")


def _likeness(text: str, title: str) -> float:
    """The share of the title, in characters, that is made of words of the text."""
    known = set(_WORD.findall(text[:MAX_TITLE].lower()))
    words = _WORD.findall(title.lower())
    if not known or not words:
        return 0.0
    other = " ".join(word for word in words if word not in known)
    return 1 - len(other) / len(" ".join(words))


def _byline(tree: Tree, metas: MetaElements, linked: LinkedData, places: ElementPlaces) -> str:
    named = [
        _authors(linked),
        metas.last("dc:creator"),
        metas.last("dcterm:creator"),
        metas.last("author"),
        metas.last("parsely-author"),
        metas.last("article:author"),
    ]
    name = next(filter(None, map(author_name, named)), "")
    if name:
        return name
    marked = byline_candidates(tree)
    if byline := visible_byline(marked, places):
        return byline
    return (
        author_name(linked.names("author"))
        or author_name(metas.get("author", "citation_author", "sailthru.author"))
        or likely_byline(marked, places)
        or user_byline(tree, places)
    )


def _authors(linked: LinkedData) -> str:
    """The authors of the article whose names stand right there."""
    author = linked.article.get("author")
    if isinstance(author, dict):
        author = [author]
    # Of a list whose first entry has no name they take none.
    if not (isinstance(author, list) and author and isinstance(author[0], dict)):
        return ""
    if not isinstance(author[0].get("name"), str):
        return ""
    named = (one.get("name") for one in author[:20] if isinstance(one, dict))
    return ", ".join(name.strip() for name in named if isinstance(name, str))


def _site_name(metas: MetaElements, linked: LinkedData) -> str:
    publisher = linked.article.get("publisher")
    named = publisher.get("name") if isinstance(publisher, dict) else ""
    places = (
        named if isinstance(named, str) else "",
        metas.last("og:site_name"),
        metas.get("application-name"),
        linked.names("publisher"),
    )
    return next(filter(None, (clean_value(text, MAX_SITE_NAME) for text in places)), "")


def _excerpt(tree: Tree, metas: MetaElements, linked: LinkedData, places: ElementPlaces) -> str:
    described = linked.article.get("description")
    given = (described.strip() if isinstance(described, str) else "") or metas.last(
        *(f"{vendor}description" for vendor in _VENDORS)
    )
    return clean_value(given, MAX_LEAD) or lead_of(tree, places)


def _description(metas: MetaElements, linked: LinkedData) -> str:
    return shortened(
        metas.get("og:description", "description")
        or linked.text("description")
        or metas.get("twitter:description"),
        MAX_DESCRIPTION,
    )
