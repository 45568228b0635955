"""What a page says of itself: title, author, dates, language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_SEPARATED = re.compile("\\s+[|\\-\u2013\u2014\u00bb/\u00b7]\\s+")
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Metadata:
    """Empty strings stand for what is not known; dates are as the page writes them."""

    title: str = ""
    byline: str = ""
    site_name: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    excerpt: str = ""


def read_metadata(document: Any, metas: dict[str, str], linked: Any) -> Metadata:
    """The metadata of a page.

    Args:
        document: turbohtml's tree.
        metas: its meta elements by lower-cased name or property.
        linked: its JSON-LD.
    """
    site = _first(metas, "og:site_name", "application-name")
    things = list(_things(linked))
    root = document.root
    return Metadata(
        title=_title(document, metas, site),
        byline=_first(metas, "author", "article:author", "parsely-author", "dc.creator")
        or _author(things),
        site_name=site,
        published=_first(metas, "article:published_time", "datepublished", "date", "dc.date")
        or _text(things, "datePublished"),
        modified=_first(metas, "article:modified_time", "og:updated_time", "datemodified")
        or _text(things, "dateModified"),
        language=((root.attr("lang") if root is not None else "") or metas.get("og:locale", "")),
        excerpt=_first(metas, "description", "og:description", "twitter:description"),
    )


def title_of(document: Any) -> str:
    """The text of the title element, on one line."""
    node = document.find("title")
    return _BLANK.sub(" ", node.text).strip()[:500] if node is not None else ""


def _title(document: Any, metas: dict[str, str], site: str) -> str:
    whole = title_of(document)
    given = _first(metas, "og:title", "twitter:title") or whole
    parts = _SEPARATED.split(given)
    if len(parts) > 1 and site and parts[-1].lower() == site.lower():
        return given[: given.rindex(parts[-1])].rstrip(" |-\u2013\u2014\u00bb/\u00b7\u00a0\n\t")
    return given


def _first(metas: dict[str, str], *names: str) -> str:
    for name in names:
        value = metas.get(name, "").strip()
        if value and not value.startswith(("http://", "https://")):
            return _BLANK.sub(" ", value)
    return ""


def _things(linked: Any) -> Iterator[dict[str, Any]]:
    waiting = [linked]
    for _ in range(2000):
        if not waiting:
            return
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            yield value
            waiting.append(value.get("@graph"))
            waiting.append(value.get("mainEntity"))


def _text(things: list[dict[str, Any]], name: str) -> str:
    found = (thing.get(name) for thing in things)
    return next((value for value in found if isinstance(value, str)), "")


def _author(things: list[dict[str, Any]]) -> str:
    for thing in things:
        given = thing.get("author")
        authors = given if isinstance(given, list) else [given]
        names = [author.get("name") if isinstance(author, dict) else author for author in authors]
        said = [name for name in names if isinstance(name, str) and name]
        if said:
            return ", ".join(said)
    return ""
