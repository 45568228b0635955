"""Tables: those of data get even rows and cells of one line, those of layout dissolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Element

MAX_SPAN = 64
"""Columns or rows that one cell may take."""
MAX_CELLS = 20_000
"""Cells up to which rows are made even."""
MAX_LONG = 1500
"""Characters of a cell without heading that speak for a layout."""
_BLOCKS = (
    "p, div, ul, ol, dl, pre, blockquote, table, h1, h2, h3, h4, h5, h6, hr, section, article,"
    " header, footer, figure, aside, details, address, form"
)
_HEAVY = "h1, h2, h3, h4, h5, h6, table, hr, form, article, section"
_LINES = frozenset(_BLOCKS.replace(",", " ").split()) | {
    "li", "dt", "dd", "tr", "figcaption", "summary", "main", "nav", "fieldset", "center", "caption",
}  # fmt: skip


def write_tables(tables: list[Element]) -> None:
    """Prepare all tables, which are in document order: outer ones come first."""
    inner: set[Element] = set()
    for table in tables:
        if table in inner or table.parent is None or table.tag != "table":
            continue
        rows = _rows(table)
        if not rows:
            table.tag = "div"
        elif _is_layout(table, rows):
            _dissolve(table, rows)
        else:
            inner.update(table.find_all("table"))
            _make_even(table, rows)


def _rows(table: Any) -> list[list[Any]]:
    """The cells of each row that belong to this table."""
    from turbohtml import Element

    rows = []
    for part in table:
        if type(part) is not Element:
            continue
        if part.tag == "tr":
            rows.append(_cells(part))
        elif part.tag in ("thead", "tbody", "tfoot"):
            rows.extend(_cells(row) for row in part if type(row) is Element and row.tag == "tr")
    return [row for row in rows if row]


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row if getattr(cell, "tag", "") in ("td", "th")]


def _is_layout(table: Element, rows: list[list[Any]]) -> bool:
    """Whether a table only arranges things on the page."""
    if table.attr("role") in ("presentation", "none"):
        return True
    if any(len(row) > 1 for row in rows):
        if any(cell.tag == "th" for row in rows for cell in row):
            return False
        if table.select_one(_HEAVY) is not None:
            return True
        few = len(rows) == 1 or max(map(len, rows)) == 1
        return few and any(len(cell.text) > MAX_LONG for row in rows for cell in row)
    cells = [row[0] for row in rows]
    if len(cells) == 1:
        return True
    if any(cell.tag == "th" for cell in cells):
        return False
    return table.select_one(_BLOCKS) is not None


def _dissolve(table: Element, rows: list[list[Any]]) -> None:
    for row in rows:
        for cell in row:
            cell.tag = "div"
        holder = row[0].parent
        if holder is not None:
            holder.tag = "div"
            if getattr(holder.parent, "tag", "") in ("thead", "tbody", "tfoot"):
                holder.parent.tag = "div"
    for part in table:
        if getattr(part, "tag", "") == "caption":
            setattr(part, "tag", "p")  # noqa: B010 - typed as a node
    table.tag = "div"


def _make_even(table: Element, rows: list[list[Any]]) -> None:
    """Give all rows the same number of cells, each one line of text."""
    for row in rows:
        for cell in row:
            if cell.select_one(_BLOCKS) is not None:
                _flatten(cell)
    spans = [(_span(cell, "colspan"), _span(cell, "rowspan")) for row in rows for cell in row]
    uneven = len({len(row) for row in rows}) > 1
    if uneven or any(span != (1, 1) for span in spans):
        _spread(rows)
    caption = table.find("caption")
    if caption is not None and caption.parent is table:
        caption.tag = "p"
        table.insert_before(caption.extract())


def _span(cell: Any, name: str) -> int:
    value = cell.attr(name)
    if value is None:
        return 1
    value = value.strip()[:9]
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() else 1


def _spread(rows: list[list[Any]]) -> None:
    """Put an empty cell wherever a wide or high cell reaches, and where a row ends early."""
    from turbohtml import Element

    grid = _grid(rows)
    width = max(at + 1 for line in grid for at, cell in enumerate(line) if cell is not None)
    if width * len(grid) > MAX_CELLS:
        width = 0
    for line, row in zip(grid, rows, strict=True):
        holder, tag = row[0].parent, row[0].tag
        holder.clear()
        for cell in [*line, *[None] * (width - len(line))][: width or None]:
            if cell is not None:
                for name in ("colspan", "rowspan"):
                    if cell.attr(name) is not None:
                        del cell.attrs[name]
                holder.append(cell)
            elif width:
                holder.append(Element(tag))


def _grid(rows: list[list[Any]]) -> list[list[Any | None]]:
    """The cells by row and column, with nothing where a wide or high cell reaches."""
    grid: list[list[Any | None]] = []
    high_ones: dict[int, int] = {}
    for row in rows:
        line: list[Any | None] = []
        for cell in row:
            _skip(line, high_ones)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            if high > 1:
                high_ones.update({len(line) + place: high for place in range(wide)})
            line += [cell, *[None] * (wide - 1)]
        _skip(line, high_ones)
        high_ones = {place: left - 1 for place, left in high_ones.items() if left > 1}
        grid.append(line)
    return grid


def _skip(line: list[Any | None], high_ones: dict[int, int]) -> None:
    while high_ones.get(len(line), 0) > 0 and len(line) < MAX_SPAN * 4:
        line.append(None)


def _flatten(cell: Any) -> None:
    """The blocks of a cell as lines with a `br` between them."""
    from turbohtml import Element

    flat = _Flat()
    flat.read(cell)
    cell.clear()
    lines = flat.lines()
    for number, line in enumerate(lines):
        if number:
            cell.append(Element("br"))
        for node in line:
            cell.append(node)


class _Flat:
    """The inline nodes of a cell, a list for each line."""

    def __init__(self) -> None:
        self._lines: list[list[Any]] = [[]]
        self._marked = False

    def lines(self) -> list[list[Any]]:
        """Those with something in them."""
        return [line for line in self._lines if any(map(_has_content, line))]

    def read(self, cell: Any) -> None:
        """Sort the nodes, without recursion."""
        from turbohtml import Element, Text

        stack = [(iter(list(cell)), False)]
        while stack:
            for node in stack[-1][0]:
                kind = type(node)
                if kind is Text or (kind is Element and not self._opens(node)):
                    self._take(node)
                elif kind is Element:
                    line = node.tag in _LINES
                    if line:
                        self._start(node)
                    elif node.tag in ("td", "th") and any(one.text.strip() for one in self._last):
                        self._last.append(Text(", "))
                    stack.append((iter(list(node)), line))
                    break
            else:
                if stack.pop()[1] and self._last:
                    self._lines.append([])

    @property
    def _last(self) -> list[Any]:
        return self._lines[-1]

    @staticmethod
    def _opens(node: Any) -> bool:
        """Whether an element is more than a part of a line."""
        if node.tag in ("br", "pre"):
            return False
        return (
            node.tag in _LINES
            or node.tag in ("td", "th", "thead", "tbody", "tfoot")
            or node.select_one(_BLOCKS) is not None
        )

    def _take(self, node: Any) -> None:
        tag = getattr(node, "tag", "")
        if tag == "br":
            self._lines.append([])
        elif tag == "pre":
            self._code(node)
        else:
            self._last.append(node)
            if self._marked and node.text.strip():
                self._marked = False

    def _start(self, node: Any) -> None:
        from turbohtml import Text

        if self._last and not self._marked:
            self._lines.append([])
        if node.tag == "li":
            self._last.append(Text(f"{_bullet(node)} "))
        self._marked = node.tag == "li"

    def _code(self, node: Any) -> None:
        from turbohtml import Element, Text

        if self._last:
            self._lines.append([])
        for line in node.text.split("\n"):
            if line.strip():
                self._lines.append([Element("code", {}, [Text(line)])])
        self._lines.append([])


def _bullet(item: Any) -> str:
    parent = item.parent
    if parent is None or parent.tag != "ol":
        return "-"
    before = sum(1 for node in item.previous_siblings if getattr(node, "tag", "") == "li")
    start = parent.attr("start") or "1"
    return f"{(int(start) if start.isdigit() and len(start) < 9 else 1) + before}."


def _has_content(node: Any) -> bool:
    tag = getattr(node, "tag", "")
    return bool(node.text.strip()) or tag == "img" or bool(tag and node.find("img") is not None)
