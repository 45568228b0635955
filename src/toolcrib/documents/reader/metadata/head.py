"""The meta elements of a page, read once: by name, and by the names that reader modes know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Document as Tree

MAX_METAS = 2_000
_MAX_NAME = 200
_SUBJECTS = "author|creator|description|title|site_name"
# A property may hold more than the name: "og:title twitter:title", "og:title:en".
_PROPERTY = re.compile(rf"(article|dc|dcterm|og|twitter)\s*:\s*({_SUBJECTS}|published_time)")
_NAME = re.compile(
    r"(?:(dc|dcterm|og|twitter|parsely|weibo:article|weibo:webpage)\s*([-.:])\s*)?"
    rf"({_SUBJECTS}|pub-date)"
)


@dataclass(frozen=True, slots=True)
class Metas:
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

    def told(self, *names: str) -> str:
        """The last content of the first of these known names that has one."""
        return next((self.known[name] for name in names if name in self.known), "")


def read_metas(tree: Tree) -> Metas:
    """The meta elements of a page, the first few thousand of them."""
    metas = Metas()
    for element in tree.find_all("meta")[:MAX_METAS]:
        content = (element.attr("content") or "").strip()
        if not content:
            continue
        told = (element.attr("property") or "")[:_MAX_NAME]
        name = (element.attr("name") or "")[:_MAX_NAME]
        known = (_known_property(told) if told else "") or (_known_name(name) if name else "")
        if known:
            metas.known[known] = content
        for given in (told, name, element.attr("http-equiv"), element.attr("itemprop")):
            if given:
                metas.first.setdefault(given[:_MAX_NAME].strip().lower(), content)
    return metas


@lru_cache(4096)
def _known_property(told: str) -> str:
    found = _PROPERTY.search(told.lower())
    return ":".join(found.groups()) if found else ""


@lru_cache(4096)
def _known_name(name: str) -> str:
    found = _NAME.fullmatch(name.strip().lower())
    if not found:
        return ""
    vendor, sign, subject = found.groups()
    # A dot is as good as a colon; a dash is not.
    return f"{vendor}{'-' if sign == '-' else ':'}{subject}" if vendor else str(subject)
