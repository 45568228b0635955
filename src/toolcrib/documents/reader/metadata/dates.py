"""When a page was published and changed, as it writes the dates itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolcrib.documents.reader.metadata.head import Metas
from toolcrib.documents.reader.metadata.linked import Linked
from toolcrib.documents.reader.metadata.phrases import line, text_of
from toolcrib.documents.reader.metadata.places import Places, name_of

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_DATE = 64
_MAX_ITEMS = 20
_MAX_TIMES = 100
_PUBLISHED = (
    "date", "dc.date", "dc.date.issued", "dcterms.date", "dcterms.created", "dcterms.issued",
    "parsely-pub-date", "pubdate", "publish-date", "publish_date", "publication_date",
    "sailthru.date", "datepublished", "og:published_time", "article.published", "created",
    "cxenseparse:recs:publishtime", "citation_publication_date", "article:published",
)  # fmt: skip
_MODIFIED = (
    "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
    "revised", "article.updated", "article:modified",
)  # fmt: skip
_DATED = re.compile(r"(?:1[89]|20|21)\d\d\D?[01]\d")
_UPDATED = re.compile(r"updated|modified")


class Dates:
    """The dates of one page; what is dear to find is looked for only when asked."""

    def __init__(self, tree: Tree, metas: Metas, linked: Linked, places: Places) -> None:
        self._tree = tree
        self._metas = metas
        self._linked = linked
        self._places = places
        self._items: list[Element] | None = None

    def published(self) -> str:
        """From the Open Graph, microdata, JSON-LD, other metas, or the first `time` shown."""
        return (
            _date(self._metas.get("article:published_time"))
            or self._item("datePublished")
            or self._told("datePublished")
            or _first(self._metas.get(name) for name in _PUBLISHED)
            or self._time(updated=False)
        )

    def modified(self) -> str:
        """From the Open Graph, microdata, JSON-LD, other metas, or a `time` that says so."""
        return (
            _date(self._metas.get("article:modified_time"))
            or self._item("dateModified")
            or self._told("dateModified")
            or _first(self._metas.get(name) for name in _MODIFIED)
            or self._time(updated=True)
        )

    def _told(self, name: str) -> str:
        article = self._linked.article.get(name)
        return _date(article if isinstance(article, str) else "") or _date(self._linked.text(name))

    def _item(self, name: str) -> str:
        """The first value of an `itemprop`: its machine form, else its text."""
        if self._items is None:
            self._items = self._tree.select("[itemprop*=date i]")[:_MAX_ITEMS]
        for element in self._items:
            if name.lower() in (element.attr("itemprop") or "").lower().split():
                told = element.attr("content") or element.attr("datetime")
                date = _date(told or text_of(element, MAX_DATE))
                if date:
                    return date
        return ""

    def _time(self, *, updated: bool) -> str:
        """The first `time` of the page's own text that stands for a change, or for none."""
        for element in self._tree.find_all("time")[:_MAX_TIMES]:
            value = element.attr("datetime") or ""
            says = bool(_UPDATED.search(name_of(element)))
            if says is updated and _DATED.search(value) and self._places.is_own(element):
                return line(value, MAX_DATE)
        return ""


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, map(_date, texts)), "")


def _date(text: str) -> str:
    """The text if it can be a date."""
    short = line(text, MAX_DATE)
    return short if any(character.isdigit() for character in short) else ""
