"""Tables, forms, lists and links of HTML as rows. Another process, a child, runs this module."""

from __future__ import annotations

from typing import Any

MAX_ROWS = 20_000
MAX_COLUMNS = 500
MAX_SPAN = 200
_FIELDS = ("input", "select", "textarea", "button")
_LABELLED = ("aria-label", "placeholder", "title")
_LISTS = ("ul", "ol", "dl")
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i"),
        *("ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span"),
        *("strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    )
)
"""Elements within a word: around all others there is a space."""


def prepare() -> None:
    """Load the parser, and use it once."""
    extract({"kinds": ["table", "form", "list", "link"]}, b"<table><tr><td>a</table>")


def extract(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What a page holds of each of the `kinds`; nothing of it is run or loaded."""
    from turbohtml import parse

    tree = parse(data.decode("utf-8", "replace"), positions=False)
    for name in ("script", "style", "template"):
        for element in tree.find_all(name):
            element.decompose()
    found: dict[str, Any] = {}
    if "table" in request["kinds"]:
        found["tables"] = [_table(element) for element in tree.find_all("table")]
    if "form" in request["kinds"]:
        elsewhere = _apart(tree)
        found["forms"] = [_form(element, tree, elsewhere) for element in tree.find_all("form")]
    if "list" in request["kinds"]:
        found["lists"] = [
            _list(element)
            for name in _LISTS
            for element in tree.find_all(name)
            if not _within(element, _LISTS)
        ]
    if "link" in request["kinds"]:
        found["links"] = [
            {"text": _text(element), "url": _attr(element, "href")}
            for element in tree.find_all("a")[:MAX_ROWS]
            if _attr(element, "href")
        ]
    return found, b""


def _text(element: Any, without: tuple[str, ...] = ()) -> str:
    """Its words as a reader sees them apart; what stands in elements `without` is left out."""
    parts: list[str] = []
    open_nodes = [element]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        name = getattr(node, "tag", None)
        if name is None:
            parts.append(getattr(node, "text", "") if type(node).__name__ == "Text" else "")
        elif node == element or name not in without:
            space = "" if name in _INLINE else " "
            open_nodes += [space, *reversed(list(node.children)), space]
    return " ".join("".join(parts).split())


def _attr(element: Any, name: str) -> str:
    value = element.attrs.get(name)
    return " ".join(value) if isinstance(value, list) else str(value or "")


def _within(element: Any, names: tuple[str, ...], end: Any = None) -> bool:
    """Whether it stands in one of these, below an end."""
    parent = element.parent
    while parent is not None and parent != end:
        if getattr(parent, "tag", "") in names:
            return True
        parent = parent.parent
    return False


def _own(element: Any, name: str, holder: str) -> list[Any]:
    """The elements of a name in it that belong to no inner one of its kind."""
    return [found for found in element.find_all(name) if found.closest(holder) == element]


def _table(element: Any) -> dict[str, Any]:
    """Its cells as a grid: what spans several stands in each of them."""
    grid: list[list[str]] = []
    reaching: dict[int, tuple[int, str]] = {}
    heads = 0
    for number, row in enumerate(_own(element, "tr", "table")[:MAX_ROWS]):
        line: list[str] = []
        cells = [c for c in row.children if getattr(c, "tag", "") in ("td", "th")]
        for cell in cells:
            _fill(line, reaching)
            text = _text(cell, ("table",))
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for _ in range(min(across, MAX_COLUMNS - len(line))):
                if down > 1:
                    reaching[len(line)] = (down - 1, text)
                line.append(text)
        _fill(line, reaching)
        grid.append(line)
        if number == heads and cells and all(cell.tag == "th" for cell in cells):
            heads += 1
    width = max(map(len, grid), default=0)
    grid = [line + [""] * (width - len(line)) for line in grid]
    caption = element.find("caption")
    return {
        "caption": _text(caption) if caption is not None else "",
        "columns": _column_names(grid[:heads]),
        "rows": grid[heads:],
    }


def _column_names(heads: list[list[str]]) -> list[str]:
    """The heads of each column from top to bottom as one name: `2023 Units`.

    A title above all columns is no part of their names.
    """
    named = [line for line in heads[:-1] if len(set(line)) > 1] + heads[-1:]
    return [" ".join(dict.fromkeys(filter(None, cells))) for cells in zip(*named, strict=True)]


def _fill(line: list[str], reaching: dict[int, tuple[int, str]]) -> None:
    """Add what cells of rows above reach down to."""
    while len(line) in reaching:
        place = len(line)
        left, text = reaching[place]
        line.append(text)
        if left > 1:
            reaching[place] = (left - 1, text)
        else:
            del reaching[place]


def _span(cell: Any, name: str) -> int:
    digits = _attr(cell, name).strip()
    return min(max(int(digits), 1), MAX_SPAN) if digits.isdecimal() and len(digits) < 6 else 1


def _apart(tree: Any) -> dict[str, list[Any]]:
    """The fields that stand outside of the form that they name."""
    found: dict[str, list[Any]] = {}
    for name in _FIELDS:
        for field in tree.find_all(name):
            if (form := _attr(field, "form")) and not _within(field, ("form",)):
                found.setdefault(form, []).append(field)
    return found


def _form(element: Any, tree: Any, elsewhere: dict[str, list[Any]]) -> dict[str, Any]:
    fields = [f for name in _FIELDS for f in element.find_all(name)]
    fields += elsewhere.get(_attr(element, "id"), ())
    return {
        "name": _attr(element, "name") or _attr(element, "id"),
        "action": _attr(element, "action"),
        "method": (_attr(element, "method") or "get").lower(),
        "fields": [_field(field, tree) for field in fields],
    }


def _field(field: Any, tree: Any) -> dict[str, Any]:
    kind = _attr(field, "type") or {"input": "text", "button": "submit"}.get(field.tag, field.tag)
    found: dict[str, Any] = {
        "name": _attr(field, "name") or _attr(field, "id"),
        "type": kind,
        "label": _label(field, tree),
        "required": "required" in field.attrs,
    }
    if field.tag == "select":
        options = field.find_all("option")
        found["options"] = [_text(option) for option in options]
        values = [option.attrs.get("value", _text(option)) or "" for option in options]
        if values != found["options"]:
            found["option_values"] = values
        chosen = [option for option in options if "selected" in option.attrs]
        chosen = chosen if "multiple" in field.attrs else chosen[:1]
        found["value"] = ", ".join(map(_text, chosen))
    elif field.tag in ("textarea", "button"):
        found["value"] = _text(field)
    elif kind != "password":
        found["value"] = _attr(field, "value")
    if kind in ("checkbox", "radio"):
        found["checked"] = "checked" in field.attrs
    return found


def _label(field: Any, tree: Any) -> str:
    wanted = _attr(field, "id")
    if wanted:
        for label in tree.find_all("label"):
            if _attr(label, "for") == wanted:
                return _text(label)
    around = field.closest("label")
    if around is not None:
        return _text(around)
    return next((_attr(field, name) for name in _LABELLED if _attr(field, name)), "")


def _list(element: Any) -> dict[str, Any]:
    rows: list[list[Any]] = []
    _items(element, 0, rows)
    return {"kind": element.tag, "items": rows}


def _items(element: Any, depth: int, rows: list[list[Any]]) -> None:
    """The items of a list and of those in it: how deep each is, and its own text."""
    for item in element.children:
        if getattr(item, "tag", "") not in ("li", "dt", "dd") or len(rows) >= MAX_ROWS:
            continue
        inner = [one for one in item.find_all(list(_LISTS)) if not _within(one, _LISTS, item)]
        rows.append([depth, _text(item, _LISTS)])
        if depth < 20:
            for one in inner:
                _items(one, depth + 1, rows)
