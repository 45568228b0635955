"""When a page was published and last changed, in ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from toolcrib.core.package_data import package_table
from toolcrib.documents.reader.metadata_sources import (
    UNSHOWN_TAGS,
    ElementPlaces,
    LinkedData,
    MetaElements,
    name_of,
    text_of,
)
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_DATE_CHARS = 64
_MAX_ITEMS = 20
_MAX_TIMES = 100
_MAX_MARKED = 60
"""Elements named after dates that are looked at."""
_MAX_LINE_CHARS = 120
"""Characters of an element that shows a date, with what stands beside it."""
_MAX_HEADINGS = 3
_MAX_LINES = 60
"""Lines of text after the main heading in which a date may stand by itself."""
_NAMES = package_table("documents/reader/page_dates.toml")
# In classes, ids and labels; in the languages of the months below.
_CHANGED = re.compile(
    r"updat|modifi|revis|edited|reviewed|aktualisiert|geändert|actualizad|atualizad|aggiornat"
    r"|mis à jour|bijgewerkt|更新|수정",
    re.IGNORECASE,
)
_DATE_NAMES = ("date", "publish", "posted", "timestamp", "pubtime", "byline", "entry-meta")
_MARKED = ",".join(f"[{key}*={name} i]" for key in ("class", "id") for name in _DATE_NAMES)
_OTHER_DAYS = re.compile(r"review|rating|arriv|deliver|ship|event|expir|countdown|release|stock")
_FEW_DAYS = 3
_IN_ADDRESS = re.compile(
    r"[/._-]((?:19|20)\d\d)([/-])(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?=[/._+-]|$)"
)
_IN_SCRIPT = re.compile(
    r"\\?\"?\b(?:datePublished|publishedAt|published_at|publishDate|publish_date|publishedDate"
    r"|firstPublishedAt|first_published_at|datePosted)\\?\"?\s*:\s*\\?\"([^\"\\]{8,40})"
)
_MAX_SCRIPTS = 60
_MAX_SCRIPT_CHARS = 2_000_000


class Dates:
    """The dates of one page; costly searches are made only where needed."""

    def __init__(
        self,
        tree: Tree,
        metas: MetaElements,
        linked: LinkedData,
        places: ElementPlaces,
        address: str = "",
        language: str = "",
    ) -> None:
        self._tree = tree
        self._metas = metas
        self._linked = linked
        self._places = places
        self._address = address
        self._month_first = language.lower() in _MONTH_FIRST
        self._items: list[Element] | None = None

    def published(self) -> str:
        """From what is written for machines, else the address, else what the page shows."""
        return (
            self._find("published", "datepublished", "datecreated")
            or self._time(updated=False)
            or self._in_address()
            or self._marked(updated=False)
            or self._by_the_heading(updated=False)
            or self._in_scripts()
        )

    def modified(self) -> str:
        """From what is written for machines, else what the page shows and says of a change."""
        return (
            self._find("modified", "datemodified")
            or self._time(updated=True)
            or self._marked(updated=True)
            or self._by_the_heading(updated=True)
        )

    def _find(self, kind: str, *items: str) -> str:
        """From the Open Graph, microdata, JSON-LD, or the other metas of this kind."""
        return (
            self._given(self._metas.get(f"article:{kind}_time"))
            or self._item(items)
            or self._linked_date(f"date{kind.capitalize()}")
            or next(filter(None, (self._given(self._metas.get(name)) for name in _NAMES[kind])), "")
        )

    def _given(self, text: str) -> str:
        """A date written for machines: in ISO 8601 if it can be read, else as it stands."""
        whole = one_line(text, MAX_DATE_CHARS)
        known = iso_date(whole, month_first=self._month_first)
        return known or (whole if any(character.isdigit() for character in whole) else "")

    def _visible(self, text: str) -> str:
        """A date that a person is shown, perhaps among other words."""
        return iso_date(text, month_first=self._month_first)

    def _linked_date(self, name: str) -> str:
        article = self._linked.article.get(name)
        given = article if isinstance(article, str) else ""
        return self._given(given) or self._given(self._linked.text(name))

    def _item(self, names: Sequence[str]) -> str:
        """The first value of one of these `itemprop`: its machine form, else its text."""
        if self._items is None:
            self._items = self._tree.select("[itemprop*=date i]")[:_MAX_ITEMS]
        for element in self._items:
            if any(name in names for name in (element.attr("itemprop") or "").lower().split()):
                given = element.attr("content") or element.attr("datetime")
                found = self._given(given or text_of(element, MAX_DATE_CHARS))
                if found:
                    return found
        return ""

    def _time(self, *, updated: bool) -> str:
        """The first `time` of the page's own text that stands for a change, or for none.

        What is written for machines comes before what is only shown.
        """
        text_date = ""
        for element in self._tree.find_all("time")[:_MAX_TIMES]:
            text = one_line(text_of(element, MAX_DATE_CHARS), MAX_DATE_CHARS)
            if bool(_CHANGED.search(f"{name_of(element)} {text}")) is not updated:
                continue
            found = self._visible(element.attr("datetime") or "")
            if (found or not text_date) and self._places.is_own(element):
                if found:
                    return found
                text_date = self._visible(text)
        return text_date

    def _in_address(self) -> str:
        found = _IN_ADDRESS.search(self._address[:2_000])
        return _checked(found[1], found[3], found[4]) if found else ""

    def _marked(self, *, updated: bool) -> str:
        """The first short text in an element named after dates, where only few days are."""
        days = list[str]()
        for element in self._tree.select(_MARKED)[:_MAX_MARKED]:
            text = one_line(text_of(element, 2 * _MAX_LINE_CHARS), 2 * _MAX_LINE_CHARS)
            name = name_of(element)
            if not 6 <= len(text) <= _MAX_LINE_CHARS or _OTHER_DAYS.search(name):
                continue
            found = self._of_kind(text, name, updated=updated)
            if found and self._places.is_own(element) and found not in days:
                days.append(found)
        # Many days are those of a list: news, reviews, matches.
        return days[0] if 0 < len(days) <= _FEW_DAYS else ""

    def _of_kind(self, text: str, name: str, *, updated: bool) -> str:
        """The date in a text that may tell both when it was published and when changed."""
        change = _CHANGED.search(text)
        if change is None:
            return self._visible(text) if bool(_CHANGED.search(name)) is updated else ""
        before, after = text[: change.start()], text[change.start() :]
        return self._visible(after if updated else before)

    def _by_the_heading(self, *, updated: bool) -> str:
        """A line that is little more than a date, in the lines around the main heading."""
        headings = self._tree.find_all("h1")[:_MAX_HEADINGS]
        around = chain(
            chain.from_iterable(_lines(heading.following, _MAX_LINES) for heading in headings),
            chain.from_iterable(_lines(heading.preceding, _MAX_LINES // 4) for heading in headings),
        )
        for line in around:
            # Words beside it make it a sentence about some other day.
            if len(line) <= _MAX_LINE_CHARS:
                found = self._of_kind(line, "", updated=updated)
                if found and len(_WORD.findall(_DATES_ALONE.sub(" ", line))) <= 12:
                    return found
        return ""

    def _in_scripts(self) -> str:
        """What the data of the page's scripts say, where they all say the same day."""
        left, found = _MAX_SCRIPT_CHARS, set[str]()
        for script in self._tree.find_all("script")[:_MAX_SCRIPTS]:
            source = script.text[:left]
            left -= len(source)
            found.update(
                iso_date(match[1], month_first=False) for match in _IN_SCRIPT.finditer(source)
            )
            if left <= 0:
                break
        found.discard("")
        days = {text[:10] for text in found}
        return min(found) if len(days) == 1 else ""


_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "cite", "em", "font", "i", "label", "mark", "small", "span", "strong",
    "sub", "sup", "time", "u",
})  # fmt: skip
_MAX_NODES = 2_000


def _lines(nodes: Iterable[Any], limit: int) -> Iterator[str]:
    """The texts among nodes: of each block the words that stand in it itself."""
    from turbohtml import Text

    count, block, parts = 0, None, list[str]()
    for node in islice(nodes, _MAX_NODES):
        if type(node) is not Text:
            continue
        holder: Any = node.parent
        if getattr(holder, "tag", "") in UNSHOWN_TAGS:
            continue
        while getattr(holder, "tag", "") in _INLINE:
            holder = holder.parent
        if holder is not block:
            yield " ".join(parts)
            block, parts, count = holder, [], count + 1
            if count > limit:
                return
        parts.append(" ".join(node.data[: 2 * _MAX_LINE_CHARS].split()))
    yield " ".join(parts)


_MONTH = {name: month for month, names in _NAMES["months"].items() for name in names.split()}
_MONTH_NAMES = "|".join(sorted(map(re.escape, _MONTH), key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_CLOCK = (
    r"(?:[T ]\s?(?P<clock>[0-2]\d:[0-5]\d(?::[0-5]\d)?)(?:[.,]\d+)?"
    r"\s?(?P<zone>Z\b|UTC\b|GMT\b|[+-][01]\d:?[0-5]\d)?)?"
)
_ISO = re.compile(rf"(?<!\d)(?P<y>\d{{4}})([-/.])(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})(?!\d){_CLOCK}")
_COMPACT = re.compile(rf"(?<!\d)(?P<y>{_YEAR})(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_EAST_ASIAN = re.compile(
    r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日일]"
)
_DAY_FIRST = re.compile(
    rf"(?<![\w:])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|º|ª|\.)?[\s-]\s*(?:of\s+|de\s+)?(?P<m>{_MONTH_NAMES})"
    rf"(?!\w)[.,]*[\s-]*(?:de[l]?\s+)?(?P<y>{_YEAR})(?!\d)",
    re.IGNORECASE,
)
_NAME_FIRST = re.compile(
    rf"(?<!\w)(?P<m>{_MONTH_NAMES})(?!\w)\.?[\s-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*[,.]?[\s-]*(?P<y>{_YEAR})(?!\d)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(rf"(?<![\d./-])(\d{{1,2}})([./-])(\d{{1,2}})\2({_YEAR})(?![\d/-])")
_WORD = re.compile(r"\w+")
_NEVER = 2100
_DATES_ALONE = re.compile(r"[\d:.,/|·•-]+")
_MONTH_FIRST = frozenset({"en", "en-us", "en-ph", "en-ca", ""})
"""Languages in which 03/04 is taken for the fourth of March."""


def iso_date(text: str, *, month_first: bool) -> str:
    """The first date in a text, in ISO 8601: "2026-03-04", with the time where it has one.

    Args:
        text: of which the first 400 characters are looked at.
        month_first: 03/04/2026 is the fourth of March; with points it is the third of April.

    Returns:
        Empty where there is no whole date; a year or a month alone is none.
    """
    text = text[:400]
    if not any(character.isdigit() for character in text):
        return ""
    found = [_read(kind.search(text)) for kind in (_ISO, _EAST_ASIAN, _DAY_FIRST, _NAME_FIRST)]
    found += [_numbers(text, month_first=month_first)]
    dates = [(place, value) for place, value in found if value]
    if dates:
        return min(dates)[1]
    return _read(_COMPACT.fullmatch(text.strip()))[1] or _of_mail(text)


def _read(found: re.Match[str] | None) -> tuple[int, str]:
    if found is None:
        return 0, ""
    parts = found.groupdict()
    name = parts["m"]
    month = name if name.isdigit() else _MONTH[name.lower()]
    day = _checked(parts["y"], month, parts["d"])
    clock, zone = parts.get("clock"), (parts.get("zone") or "")
    if not day or not clock:
        return found.start(), day
    if zone in ("UTC", "GMT"):
        zone = "Z"
    elif zone not in ("", "Z") and ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:]}"
    return found.start(), f"{day}T{clock}{zone}"


def _numbers(text: str, *, month_first: bool) -> tuple[int, str]:
    found = _NUMBERS.search(text)
    if found is None:
        return 0, ""
    first, mark, second, year = found.groups()
    if mark == "." or int(first) > 12 or (int(second) <= 12 and not month_first):
        first, second = second, first
    return found.start(), _checked(year, first, second)


def _of_mail(text: str) -> str:
    """A date as in mails and HTTP."""
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return datetime.isoformat(parsedate_to_datetime(text.strip()))
    return ""


def _checked(year: str, month: str, day: str) -> str:
    with suppress(ValueError):
        if int(year) < _NEVER:  # 9999 and the like stand for "for ever"
            return date(int(year), int(month), int(day)).isoformat()
    return ""
