"""JSON-LD: the article that a page describes to machines, and all else it says there.

Reader modes believe the first script that holds an article of schema.org; `article` is that.
`things` are the objects of all scripts, mended where they are broken, for what nothing else
on the page tells.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Document as Tree

Thing = dict[str, Any]

MAX_SCRIPTS = 30
MAX_JSON = 500_000
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
class Linked:
    """What the scripts say; `article` is empty where none of them holds a plain article."""

    article: Thing = field(default_factory=dict)
    things: list[Thing] = field(default_factory=list)

    def first(self, *names: str) -> Thing:
        """The thing that has one of these properties: the page's rather than a part's."""
        having = [thing for thing in self.things if any(thing.get(name) for name in names)]
        main = (thing for thing in having if _MAIN.search(kind_of(thing).lower()))
        return next(main, having[0] if having else {})

    def text(self, name: str) -> str:
        """A property of the thing that has it."""
        return text_in(self.first(name).get(name))

    def names(self, name: str) -> str:
        """The names of the persons or organisations that a property of the page tells."""
        return self.name_in(self.first(name).get(name))

    def name_in(self, value: Any) -> str:
        """The name of one or several, also of what is described elsewhere in the scripts."""
        if isinstance(value, list):
            named = [self.name_in(part) for part in value[:10] if not isinstance(part, list)]
            return ", ".join(dict.fromkeys(filter(None, named)))
        if isinstance(value, dict) and "name" not in value and isinstance(value.get("@id"), str):
            told = (thing for thing in self.things if thing.get("@id") == value["@id"])
            value = next((thing for thing in told if "name" in thing), value)
        return text_in(value.get("name") if isinstance(value, dict) else value)


def read_linked(tree: Tree) -> Linked:
    """The JSON-LD of a page; must be called before its scripts are removed from the tree."""
    article: Thing = {}
    things: list[Thing] = []
    left = MAX_JSON
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
    return Linked(article, things)


def kind_of(thing: Thing) -> str:
    """The type, or types, of a thing."""
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
    """The first article of a list; one thing with several types before it ends the search."""
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
