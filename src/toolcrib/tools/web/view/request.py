"""What is wanted of a page, and how much of it the page has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.errors import NotFound
from toolcrib.tools.web.view.find import Term, find
from toolcrib.tools.web.view.outline import LIST, headings_of, section_named
from toolcrib.web.pages.pages import PageText


@dataclass(frozen=True, slots=True)
class Want:
    """What is wanted of each page. `same` are the arguments that the next call repeats."""

    terms: tuple[Term, ...] = ()
    section: str = ""
    offset: int = 0
    navigation: bool = False
    whole: bool = False
    same: Mapping[str, Any] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """What `met_of` gives of a page that has everything."""
        return bool(self.section) + 2 * len(self.terms)


def met_of(page: PageText, want: Want, check: Callable[[], None]) -> int:
    """How much of what is looked for a page has: 1 for its section, 2 for a term, 1 for a part."""
    start, end = 0, len(page.text)
    if want.section:
        headings = headings_of(page)
        if want.section == LIST:
            return int(bool(headings))
        try:
            section = section_named(want.section, headings, end)
        except NotFound:
            return 0
        start, end = section.start, section.end
    finding = find(page.text, start, end, want.terms, check) if want.terms else None
    counts = finding.counts if finding is not None else []
    each = 1 if finding is not None and finding.partly else 2
    return bool(want.section) + each * sum(1 for count in counts if count)
