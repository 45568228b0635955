"""The columns of a table by what a caller calls them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from toolcrib.core.errors import BadInput
from toolcrib.data.tables import Table
from toolcrib.text.values import Cell, NumberFormat

_COMMA = re.compile(r",(?![^(]*\))")


def as_number(cell: Cell, form: NumberFormat) -> int | float | None:
    """The number that a cell holds, if any."""
    if isinstance(cell, str):
        return form.parse(cell) if cell else None
    return cell if isinstance(cell, int | float) else None


class TableColumns:
    """The columns of a table by what a caller calls them.

    Attributes:
        names: as they stand in the table.
        formats: what each holds.
        doubtful_dates: what is said of how the dates of a column are read, by its name.
    """

    def __init__(self, table: Table) -> None:
        self.names = table.columns
        self.formats = table.formats
        self.doubtful_dates = table.doubtful_dates
        self._places = {name.casefold(): n for n, name in reversed(list(enumerate(self.names)))}
        self._places |= {name: n for n, name in enumerate(self.names)}

    def find(self, name: str) -> int | None:
        """The column of a name that stands without quotes, in any case; None where it is none."""
        bare = name.strip()
        if len(bare) > 1 and bare[0] + bare[-1] in ("``", "[]"):
            bare = bare[1:-1]
        found = self._places.get(bare)
        return self._places.get(bare.casefold()) if found is None else found

    def place(self, name: str) -> int:
        """Raises BadInput where there is no such column."""
        bare = name.strip()
        if len(bare) > 1 and bare[0] in "\"'`[" and bare[-1] in "\"'`]":
            bare = bare[1:-1]
        for spelling in (bare, bare.casefold()):
            if spelling in self._places:
                return self._places[spelling]
        near = self.near(bare)
        guess = f" Did you mean {near}?" if near else ""
        by_sql = " query_database groups by expressions, by SQL." if "(" in bare else ""
        listed_names = ", ".join(self.names[:60]) + (" …" if len(self.names) > 60 else "")
        raise BadInput(
            f"There is no column {bare[:80]}.{guess}",
            hint=f"The columns are: {listed_names}{'.' if by_sql else ''}{by_sql}",
            unknown_columns=[bare[:80]],
        )

    def near(self, name: str) -> str:
        """The column with nearly this name; "" where there is none."""
        return next(iter(get_close_matches(name, self.names, 1, 0.6)), "")

    def places(self, names: Sequence[str]) -> list[int]:
        """The columns of a list, of which one text may name several: `city, amount`.

        Raises:
            BadInput: there is no such column.
        """
        found = []
        for name in names:
            parts = [name] if self._is_one(name) else name.split(",")
            found += [self.place(part) for part in parts if part.strip()]
        return found

    def aggregates(self, text: str) -> list[str]:
        """Those that one text names, unless what it names is a column with a comma."""
        name = text.strip().removesuffix(")").partition("(" if "(" in text else " ")[2]
        return [text] if name.strip().casefold() in self._places else _COMMA.split(text)

    def _is_one(self, name: str) -> bool:
        bare = name.strip()
        return "," not in bare or bare[0] in "\"'`[" or bare.casefold() in self._places
