"""The metadata of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from toolcrib.documents.reader.metadata.bylines import (
    author_name,
    candidates,
    likely_byline,
    shown_byline,
    user_byline,
)
from toolcrib.documents.reader.metadata.dates import Dates
from toolcrib.documents.reader.metadata.head import Metas, read_metas
from toolcrib.documents.reader.metadata.languages import language_of
from toolcrib.documents.reader.metadata.leads import MAX_LEAD, lead_of
from toolcrib.documents.reader.metadata.linked import Linked, read_linked, text_in
from toolcrib.documents.reader.metadata.phrases import line, phrase, shortened
from toolcrib.documents.reader.metadata.places import Places
from toolcrib.documents.reader.metadata.titles import MAX_TITLE, document_title, whole_title

if TYPE_CHECKING:
    from turbohtml import Document as Tree

MAX_DESCRIPTION = 500
MAX_SITE_NAME = 120
MAX_ADDRESS = 2_000
_ALIKE = 0.75
_MAX_LINKS = 500
_WEB = ("https://", "http://")
_WORD = re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Meta:
    """What a page says of itself; empty where it does not, each on one line.

    Attributes:
        title: of this page, without the site's name where that can be told apart.
        byline: who wrote it, as reader modes show it: a name, names, or "By ...".
        site_name: the name of the site or of the publisher.
        excerpt: the page's summary, or its first paragraph.
        published, modified: dates as the page writes them.
        language: a tag such as "de-CH".
        type: the Open Graph type ("article").
        description: the summary for machines, at most 500 characters; never taken from the text.
        image, canonical: absolute addresses.
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
    image: str = ""
    canonical: str = ""


def read_meta(tree: Tree, url: str = "", *, excerpt: bool = True) -> Meta:
    """The metadata of a parsed page, with its scripts and its head still in the tree.

    Nothing is changed in the tree, and hostile pages cost no more than some milliseconds
    for each megabyte.

    Args:
        tree: turbohtml's document.
        url: where the page came from, to make addresses absolute.
        excerpt: look for one; without a summary that means to weigh all paragraphs.
    """
    metas, linked, places = read_metas(tree), read_linked(tree), Places()
    dates = Dates(tree, metas, linked, places)
    return Meta(
        title=_title(tree, metas, linked),
        byline=_byline(tree, metas, linked, places),
        site_name=_site_name(metas, linked),
        excerpt=_excerpt(tree, metas, linked, places) if excerpt else "",
        published=dates.published(),
        modified=dates.modified(),
        language=language_of(tree, metas),
        type=phrase(metas.get("og:type"), 60),
        description=_description(metas, linked),
        image=_absolute(tree, url, _image(metas, linked)),
        canonical=_absolute(tree, url, _canonical(tree, metas)),
    )


def _title(tree: Tree, metas: Metas, linked: Linked) -> str:
    """The article's name to machines, else a title in a meta, else the title element's part."""
    whole = whole_title(tree)
    told = _headline(tree, whole, linked) or metas.told(
        "dc:title",
        "dcterm:title",
        "og:title",
        "weibo:article:title",
        "weibo:webpage:title",
        "title",
        "twitter:title",
        "parsely-title",
    )
    return phrase(told, MAX_TITLE) or document_title(tree, whole)


def _headline(tree: Tree, whole: str, linked: Linked) -> str:
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


def _byline(tree: Tree, metas: Metas, linked: Linked, places: Places) -> str:
    named = [
        _authors(linked),
        metas.told("dc:creator"),
        metas.told("dcterm:creator"),
        metas.told("author"),
        metas.told("parsely-author"),
        metas.told("article:author"),
    ]
    name = next(filter(None, map(author_name, named)), "")
    if name:
        return name
    marked = candidates(tree)
    if shown := shown_byline(marked, places):
        return shown
    return (
        author_name(linked.names("author"))
        or author_name(metas.get("author", "citation_author", "sailthru.author"))
        or likely_byline(marked, places)
        or user_byline(tree, places)
    )


def _authors(linked: Linked) -> str:
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


def _site_name(metas: Metas, linked: Linked) -> str:
    publisher = linked.article.get("publisher")
    named = publisher.get("name") if isinstance(publisher, dict) else ""
    places = (
        named if isinstance(named, str) else "",
        metas.told("og:site_name"),
        metas.get("application-name"),
        linked.names("publisher"),
    )
    return next(filter(None, (phrase(text, MAX_SITE_NAME) for text in places)), "")


def _excerpt(tree: Tree, metas: Metas, linked: Linked, places: Places) -> str:
    described = linked.article.get("description")
    told = (described.strip() if isinstance(described, str) else "") or metas.told(
        "dc:description",
        "dcterm:description",
        "og:description",
        "weibo:article:description",
        "weibo:webpage:description",
        "description",
        "twitter:description",
    )
    return phrase(told, MAX_LEAD) or lead_of(tree, places)


def _description(metas: Metas, linked: Linked) -> str:
    return shortened(
        metas.get("og:description", "description")
        or linked.text("description")
        or metas.get("twitter:description"),
        MAX_DESCRIPTION,
    )


def _image(metas: Metas, linked: Linked) -> str:
    told = metas.get("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
    told = told or metas.get("twitter:image:src")
    if told:
        return told
    image = linked.first("image").get("image")
    if isinstance(image, list):
        image = image[0] if image else ""
    if isinstance(image, dict):
        image = image.get("url")
    return text_in(image)


def _canonical(tree: Tree, metas: Metas) -> str:
    for element in tree.find_all("link")[:_MAX_LINKS]:
        if "canonical" in (element.attr("rel") or "").lower().split():
            return element.attr("href") or ""
    return metas.get("og:url")


def _absolute(tree: Tree, url: str, address: str) -> str:
    """An address of the web, absolute; empty if it is none, or much too long."""
    address = address.strip()
    if not address or len(address) > MAX_ADDRESS:
        return ""
    try:
        if not address.startswith(_WEB):
            address = urljoin(tree.base_url(url), address)
        urlsplit(address)
    except ValueError:
        return ""
    return line(address, MAX_ADDRESS) if address.startswith(_WEB) else ""
