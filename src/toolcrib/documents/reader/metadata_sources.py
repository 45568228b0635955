"""Sources of a page's metadata: JSON-LD, meta elements, and where on the page an element is.

Reader modes believe the first script that holds an article of schema.org; `article` is that.
`things` are the objects of all scripts, mended where they are broken, for what nothing else
on the page tells.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element, Node


UNSHOWN_TAGS = frozenset({"script", "style", "noscript", "template", "textarea", "select"})
"""Elements whose text is not on the page."""
_MAX_NODES = 5_000
"""Nodes of an element that are looked at for its text."""
# Only with its semicolon: "AT&T" and "?a=1&copy=2" are no entities.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->", re.DOTALL)


def unescaped(text: str) -> str:
    """The text with its character references resolved, once."""
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda found: html.unescape(found.group()), text)


def clean_value(text: str, limit: int) -> str:
    """A value that a page gives, as a line of text: pages escape some of them twice."""
    return one_line(unescaped(text[: 8 * limit]), limit)


def shortened(text: str, limit: int) -> str:
    """The text on one line without tags, cut between words; an ellipsis says so."""
    text = unescaped(text[: 8 * limit])
    if "<" in text:
        text = _TAG.sub("", text)
    text = one_line(unescaped(text), 2 * limit)
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return f"{head.rpartition(' ')[0] or head}…"


def text_of(node: Node, limit: int) -> str:
    """The text of an element as it stands, without its scripts.

    Hardly more than `limit` characters are gathered, so that a large element costs no more
    than a small one.
    """
    parts: list[str] = []
    size = 0
    for text in _texts(node):
        parts.append(text)
        size += len(text)
        if size > limit:
            break
    return "".join(parts)[: 4 * limit]


def _texts(node: Node) -> Iterator[str]:
    from turbohtml import Element, Text

    for part in islice(node.descendants, _MAX_NODES):
        if type(part) is Text:
            holder = part.parent
            if type(holder) is Element and holder.tag not in UNSHOWN_TAGS:
                yield part.data


_MAX_CLIMB = 600
_MAX_NAME_CHARS = 1_000
_DROPPED_NAMES = re.compile(
    r"-ad-|ad-break|agegate|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus"
    r"|extra|footer|gdpr|header|legends|menu|pager|pagination|popup|related|remark|replies|rss"
    r"|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|yom-remote"
)
_WANTED_NAMES = re.compile(r"and|article|body|column|content|main|mathjax|shadow")
_FOREIGN = re.compile(
    r"comment|disqus|repl(?:y|ies)|related|sidebar|footer|recommend|trending|popular|read-?(?:more|next)"
    r"|widget|breadcrumb|teaser|promo|newsletter|cookie|modal|-card|card-"
)
_DROPPED_ROLES = frozenset({
    "alert", "alertdialog", "complementary", "dialog", "menu", "menubar", "navigation",
})  # fmt: skip
_OWN_TAGS = frozenset({"main", "article", "head"})
_FOREIGN_TAGS = frozenset({"aside", "footer", "nav", "dialog", "form"})
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "svg"})
_MAX_NAMES = 150
"""A longer class attribute is a list of styles, whose words do not name the place."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def name_of(node: Element) -> str:
    """The class and the id of an element, in lower case: patterns without case are faster."""
    classes, own_id = node.attr("class") or "", node.attr("id") or ""
    return f"{classes[:_MAX_NAME_CHARS]} {own_id[:_MAX_NAME_CHARS]}".lower()


def is_hidden(node: Element) -> bool:
    """Whether the element itself is marked as invisible."""
    if node.attr("hidden") is not None:
        return True
    style = node.attr("style")
    if style and _INVISIBLE.search(style[:_MAX_NAME_CHARS].lower()):
        return True
    return node.attr("aria-hidden") == "true" and "fallback-image" not in name_of(node)


class ElementPlaces:
    """Whether elements are in parts that reader modes drop, or foreign to the page; cached."""

    def __init__(self) -> None:
        self._dropped: dict[Any, bool] = {}
        self._foreign: dict[Any, bool] = {}

    def is_visible(self, node: Element) -> bool:
        """Whether reader modes get to see it: neither hidden nor in what they drop at once."""
        return not is_hidden(node) and not self._climb(node, self._dropped, _is_dropped)

    def is_own(self, node: Element) -> bool:
        """Whether it belongs to the page's own text rather than to comments or other pages."""
        return not is_hidden(node) and not self._climb(node, self._foreign, _is_foreign)

    @staticmethod
    def _climb(node: Element, known: dict[Any, bool], test: Any) -> bool:
        """Whether something above the element passes the test."""
        passed: list[Any] = []
        verdict = False
        above: Any = node.parent
        for _ in range(_MAX_CLIMB):
            tag = getattr(above, "tag", "")
            if not tag or tag in ("body", "html"):
                verdict = not tag and _is_fragment(above)
                break
            if above in known:
                verdict = known[above]
                break
            passed.append(above)
            if test(above):
                verdict = True
                break
            above = above.parent
        known.update(dict.fromkeys(passed, verdict))
        return verdict


def _is_fragment(node: Any) -> bool:
    """Whether it is what a template holds."""
    from turbohtml import DocumentFragment

    return isinstance(node, DocumentFragment)


def _is_dropped(node: Element) -> bool:
    if node.tag in _SILENT or is_hidden(node) or node.attr("role") in _DROPPED_ROLES:
        return True
    name = name_of(node)
    if node.tag == "a" or not _DROPPED_NAMES.search(name) or _WANTED_NAMES.search(name):
        return False
    return not _in_table(node)


def _in_table(node: Element) -> bool:
    """Whether it stands in a table or in code, four steps up at most."""
    around = islice(node.ancestors, 4)
    return any(getattr(above, "tag", "") in ("table", "code") for above in around)


def _is_foreign(node: Element) -> bool:
    if node.tag in _FOREIGN_TAGS or is_hidden(node) or node.attr("role") in _DROPPED_ROLES:
        return True
    name = name_of(node)
    return node.tag not in _OWN_TAGS and len(name) <= _MAX_NAMES and bool(_FOREIGN.search(name))


# The meta elements of a page, read once: by name, and by the names that reader modes know.

MAX_METAS = 2_000
_MAX_META_NAME_CHARS = 200
_SUBJECTS = "author|creator|description|title|site_name"
# A property may hold more than the name: "og:title twitter:title", "og:title:en".
_PROPERTY = re.compile(rf"(article|dc|dcterm|og|twitter)\s*:\s*({_SUBJECTS}|published_time)")
_NAME = re.compile(
    r"(?:(dc|dcterm|og|twitter|parsely|weibo:article|weibo:webpage)\s*([-.:])\s*)?"
    rf"({_SUBJECTS}|pub-date)"
)


@dataclass(frozen=True, slots=True)
class MetaElements:
    """The meta elements that have a content.

    Attributes:
        first: the first content by property, name, http-equiv or itemprop, in lower case.
        known: the last content by a name that reader modes know, as "vendor:subject",
            "vendor-subject" or "subject"; reader modes let later elements replace earlier ones.
    """

    first: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def get(self, *names: str) -> str:
        """The first content of the first of these names that has one."""
        return next((self.first[name] for name in names if name in self.first), "")

    def last(self, *names: str) -> str:
        """The last content of the first of these known names that has one."""
        return next((self.known[name] for name in names if name in self.known), "")


def read_metas(tree: Tree) -> MetaElements:
    """The meta elements of a page, the first few thousand of them."""
    metas = MetaElements()
    for element in tree.find_all("meta")[:MAX_METAS]:
        content = (element.attr("content") or "").strip()
        if not content:
            continue
        property_name = (element.attr("property") or "")[:_MAX_META_NAME_CHARS]
        name = (element.attr("name") or "")[:_MAX_META_NAME_CHARS]
        known = (_known_property(property_name) if property_name else "") or (
            _known_name(name) if name else ""
        )
        if known:
            metas.known[known] = content
        for given in (property_name, name, element.attr("http-equiv"), element.attr("itemprop")):
            if given:
                metas.first.setdefault(given[:_MAX_META_NAME_CHARS].strip().lower(), content)
    return metas


@lru_cache(4096)
def _known_property(name: str) -> str:
    found = _PROPERTY.search(name.lower())
    return ":".join(found.groups()) if found else ""


@lru_cache(4096)
def _known_name(name: str) -> str:
    found = _NAME.fullmatch(name.strip().lower())
    if not found:
        return ""
    vendor, sign, subject = found.groups()
    # A dot is as good as a colon; a dash is not.
    return f"{vendor}{'-' if sign == '-' else ':'}{subject}" if vendor else str(subject)


Thing = dict[str, Any]

MAX_SCRIPTS = 30
MAX_JSON_CHARS = 500_000
"""Characters of JSON-LD that are read, all scripts together."""
MAX_THINGS = 2_000
"""Objects that are looked at."""
_VOCABULARY = re.compile(r"https?://schema\.org/?")
_CDATA = re.compile(r"^\s*<!\[CDATA\[|\]\]>\s*$")
_ARTICLE = re.compile(
    r"^Article|NewsArticle|AdvertiserContentArticle|SatiricalArticle|ScholarlyArticle|TechArticle"
    r"|Report|SocialMediaPosting|BlogPosting|DiscussionForumPosting|APIReference$"
)
_MAIN = re.compile(r"article|posting|page|report|recipe|product|event|movie|book|howto")
_NESTED = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item")
# What older pages put around a script, against browsers and parsers older still.
_OPENED = re.compile(r"\ufeff?\s*(?:<!--|(?:/[/*])?\s*<!\[CDATA\[(?:\s*\*/)?)?")
_CLOSED = re.compile(r"(?:-->|(?:/[/*])?\s*\]\]>(?:\s*\*/)?)?[;\s]*$")
_MAX_CLOSED = 100
_TRAILING = re.compile(r",(?=\s*[}\]])")
_FLAT = re.compile(
    r"\"(dateModified|datePublished|description|headline)\"\s*:\s*"
    r"\"((?:[^\"\\\n]|\\[^\n]){1,600})\""
)


@dataclass(frozen=True, slots=True)
class LinkedData:
    """Objects of the JSON-LD; `article` is empty where no script holds a plain article."""

    article: Thing = field(default_factory=dict)
    things: list[Thing] = field(default_factory=list)

    def first(self, *names: str) -> Thing:
        """The object that has one of these properties: the page's rather than a part's."""
        having = [thing for thing in self.things if any(thing.get(name) for name in names)]
        main = (thing for thing in having if _MAIN.search(type_of(thing).lower()))
        return next(main, having[0] if having else {})

    def text(self, name: str) -> str:
        """A property of the object that has it."""
        return text_in(self.first(name).get(name))

    def names(self, name: str) -> str:
        """The names of the persons or organisations in a property of the page."""
        return self.name_in(self.first(name).get(name))

    def name_in(self, value: Any) -> str:
        """The name of one or several, also of what is described elsewhere in the scripts."""
        if isinstance(value, list):
            named = [self.name_in(part) for part in value[:10] if not isinstance(part, list)]
            return ", ".join(dict.fromkeys(filter(None, named)))
        if isinstance(value, dict) and "name" not in value and isinstance(value.get("@id"), str):
            described = (thing for thing in self.things if thing.get("@id") == value["@id"])
            value = next((thing for thing in described if "name" in thing), value)
        return text_in(value.get("name") if isinstance(value, dict) else value)


def read_linked(tree: Tree) -> LinkedData:
    """The JSON-LD of a page; must be called before its scripts are removed from the tree."""
    article: Thing = {}
    things: list[Thing] = []
    left = MAX_JSON_CHARS
    scripts = tree.select('script[type="application/ld+json" i]')
    for script in scripts[:MAX_SCRIPTS]:
        source = script.text
        left -= len(source)
        if left < 0:
            break
        try:
            value = json.loads(_CDATA.sub("", source))
        except (ValueError, RecursionError):
            value = _mended(source)
        else:
            article = article or _article(value)
        things += islice(_things(value), MAX_THINGS - len(things))
    return LinkedData(article, things)


def type_of(thing: Thing) -> str:
    """The type, or types, of an object."""
    return str(thing.get("@type", ""))[:200]


def text_in(value: Any) -> str:
    """A plain text, or the first of several, or one with a language."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    return value.strip() if isinstance(value, str) else ""


def _article(value: Any) -> Thing:
    """The article of a script if it is one of schema.org, by the narrow rules of reader modes."""
    if isinstance(value, list):
        value = _first_article(value)
    if not isinstance(value, dict):
        return {}
    context = value.get("@context")
    if isinstance(context, dict):
        context = context.get("@vocab")
    if not (isinstance(context, str) and _VOCABULARY.fullmatch(context)):
        return {}
    graph = value.get("@graph")
    if not value.get("@type") and isinstance(graph, list):
        return _first_article(graph)
    kind = value.get("@type")
    return value if isinstance(kind, str) and _ARTICLE.search(kind) else {}


def _first_article(values: list[Any]) -> Thing:
    """The first article of a list; an object with several types before it ends the search."""
    for value in values[:MAX_THINGS]:
        kind = value.get("@type") if isinstance(value, dict) else None
        if kind and not isinstance(kind, str):
            return {}
        if kind and _ARTICLE.search(kind):
            return dict(value)
    return {}


def _mended(source: str) -> Any:
    """The value of a broken script, mended where that is simple; else what is flat in it."""
    source = source.strip()
    # Only the end is searched: a search in all of it may take the square of its length.
    source = source[:-_MAX_CLOSED] + _CLOSED.sub("", source[-_MAX_CLOSED:], count=1)
    opened = _OPENED.match(source)
    source = source[opened.end() :] if opened else source
    for attempt in (source, _TRAILING.sub("", source)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    flat: dict[str, str] = {}
    for name, value in _FLAT.findall(source):
        flat.setdefault(name, value.replace('\\"', '"').replace("\\/", "/"))
    return flat


def _things(value: Any) -> Iterator[Thing]:
    waiting = deque([value])
    for _ in range(MAX_THINGS):
        if not waiting:
            return
        part = waiting.popleft()
        if isinstance(part, dict):
            yield part
            waiting.extend(part[name] for name in _NESTED if name in part)
        elif isinstance(part, list):
            waiting.extend(part[:MAX_THINGS])
