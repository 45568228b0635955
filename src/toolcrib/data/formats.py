"""One format into another: CSV, JSON, YAML, TOML, XML, Markdown tables, base64, gzip."""

from __future__ import annotations

import base64
import binascii
import csv
import datetime as dt
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from toolcrib.core.errors import BadInput, TooLarge, UnsupportedContent
from toolcrib.core.result import json_numbers
from toolcrib.data.json_lines import json_lines, json_or_lines
from toolcrib.data.tables import Table, by_quotes_or_lines, from_records, read_table
from toolcrib.files.content.kinds import charset_of
from toolcrib.text.display import counted
from toolcrib.text.toml_values import inline_toml, toml_key, toml_value
from toolcrib.text.values import Cell, as_json_cell, displayed

FORMATS = ("csv", "tsv", "json", "jsonl", "yaml", "toml", "xml", "markdown", "base64", "gzip")
ENDINGS = {
    **{name: name for name in (*FORMATS, "xlsx")},
    "yml": "yaml",
    "md": "markdown",
    "ndjson": "jsonl",
    "gz": "gzip",
    "b64": "base64",
    "tab": "tsv",
    "xlsm": "xlsx",
}
TABLES = frozenset(("csv", "tsv", "markdown"))
MAX_BYTES = 40_000_000
"""Bytes of what is unpacked or written."""
MAX_PARTS = 2_000_000
"""Values in what is read from YAML, each reference counted anew."""
MAX_DEPTH = 100
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_YAML_TEXT = re.compile(r"[-+]?(?:\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|0[\d_]+)$", re.ASCII)
_YAML_SWITCHES = frozenset("yYnNoO")
"""What the booleans of YAML 1.1 begin with that are none of 1.2: yes, no, on, off."""
_YAML_BOOLEAN = "tag:yaml.org,2002:bool"
_YAML_WORD = re.compile(
    r"^(?:.*?[:\-\[,]\s+|\s*)((?i:yes|no|on|off))\s*(?:[,\]}:#]|$)", re.MULTILINE
)
MAX_START_BYTES = 4096
_COMMENTS = re.compile(r"\ufeff?(?:\s*#[^\n]*\n)*\s*")
_TOML_LINE = re.compile(r"\[{1,2}[A-Za-z][\w.\"-]*\]{1,2}\s*(?:#|$)|[\w.\"-]+\s*=", re.MULTILINE)
_YAML_LINE = re.compile(r"---\s|- |[^\s,;|<{\[][^,;|\t\n]*:(?:\s|$)", re.MULTILINE)
_CUT = "\u2026"
_RULES = {"left": ":---", "center": ":---:", "right": "---:", "": "---"}


def prepare() -> None:
    """Load what is loaded late."""
    from toolcrib.files.content.kinds import load_codecs

    load_codecs()
    for form in ("csv", "json", "yaml", "toml", "xml", "markdown"):
        convert({"from": "csv", "to": form}, "a,b\n1,\u00e9\n".encode("cp1252"))


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Bytes in one format as those of another.

    Args:
        request: `from` and `to`, of `FORMATS`; `from` may also be xlsx, or nothing for bytes.
        data: what is converted.

    Raises:
        UnsupportedContent: it is not in that format.
        TooLarge: what comes out of it is.
        BadInput: the format cannot hold it.
    """
    source, target = request["from"], request["to"]
    notes: list[str] = []
    if source == "gzip":
        data, source = _unpacked(data), ""
    elif source == "base64":
        data, source = _decoded(data), ""
    if target == "gzip":
        return {"notes": notes}, gzip.compress(data, mtime=0)
    if target == "base64":
        return {"notes": notes}, base64.b64encode(data) + b"\n"
    if target in ("", source) or (not source and target not in FORMATS):
        return {"notes": notes}, data
    value = _read(source or _guessed(data, notes), data, notes)
    written = _write(target, value, notes)
    if len(written) > MAX_BYTES:
        raise TooLarge(f"It would have {len(written):,} bytes.", hint="Convert a part of it.")
    return {"notes": notes}, written


def _unpacked(data: bytes) -> bytes:
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    try:
        found = unpack.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise UnsupportedContent(f"It is not gzip, or damaged: {error}.") from None
    if len(found) > MAX_BYTES:
        raise TooLarge(f"It unpacks to more than {MAX_BYTES:,} bytes.")
    if not unpack.eof:
        raise UnsupportedContent("The gzip data is cut off.", hint="Use a whole copy of it.")
    return found


def _decoded(data: bytes) -> bytes:
    text = b"".join(data.split())
    if text.startswith(b"data:"):
        text = text.partition(b",")[2]
    text = text.replace(b"-", b"+").replace(b"_", b"/")
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise UnsupportedContent(f"It is not base64: {error}.") from None


def _guessed(data: bytes, notes: list[str]) -> str:
    """The format of a text, by its first line; settings are taken for such if they are valid."""
    start = data[:MAX_START_BYTES]
    text = charset_of(start).decode(start)
    first = _COMMENTS.sub("", text, count=1)
    form = "toml" if _TOML_LINE.match(first) else "yaml" if _YAML_LINE.match(first) else ""
    if form:
        with suppress(UnsupportedContent):
            if isinstance(_read(form, data, []), Mapping | list):
                notes.append(f"Read as {form.upper()}: from_format names another.")
                return form
    head = text.lstrip("\ufeff \t\r\n")[:1]
    return {"{": "json", "[": "json", "<": "xml", "|": "markdown"}.get(head, "csv")


def _read(form: str, data: bytes, notes: list[str]) -> Any:
    """The value that bytes stand for; a table is a list of objects."""
    if form in ("csv", "tsv", "xlsx"):
        return _table_records(data, f"table.{form}", notes)
    text = charset_of(data).decode(data)
    try:
        if form == "json":
            return json_or_lines(text)
        if form == "jsonl":
            return json_lines(text)
        if form == "toml":
            return toml_value(text.replace("\r\n", "\n"))
        if form == "yaml":
            return _yaml(text, notes)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UnsupportedContent(f"It is not valid {form.upper()}: {reason}.") from None
    if form == "xml":
        return _xml_value(text, notes)
    if form == "markdown":
        return _markdown_records(text)
    raise BadInput(f"Nothing is read from {form}.", hint=f"Formats: {', '.join(FORMATS)}.")


def _yaml(text: str, notes: list[str]) -> Any:
    import yaml  # type: ignore[import-untyped]

    try:
        value = yaml.load(text, Loader=_yaml_loader())  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError(error) from None
    _need_size(value)
    if found := _YAML_WORD.search(text):
        notes.append(f"{found[1]} is a text, as of YAML 1.2; write true or false for a boolean.")
    return value


@cache
def _yaml_loader() -> Any:
    """A loader for which `22:22`, `0123` and `NO` are texts: of YAML 1.1 they are other things."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tag = "tag:yaml.org,2002:str"
    resolvers = {
        sign: [(tag, _YAML_TEXT), *known]
        if sign and sign in "-+0123456789"
        else [each for each in known if sign not in _YAML_SWITCHES or each[0] != _YAML_BOOLEAN]
        for sign, known in base.yaml_implicit_resolvers.items()
    }
    return type("Loader", (base,), {"yaml_implicit_resolvers": resolvers})


def _need_size(value: Any) -> None:
    """Refuse what grows without end when it is written out: references to references.

    Raises:
        TooLarge: it has too many parts.
    """
    for count, _ in enumerate(_parts(value)):
        if count >= MAX_PARTS:
            raise TooLarge(f"It has more than {MAX_PARTS:,} parts.", hint="Convert a part of it.")


def _parts(value: Any) -> Iterator[Any]:
    """A value and all that is in it."""
    parts = [value]
    while parts:
        part = parts.pop()
        yield part
        if isinstance(part, Mapping):
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)


def _table_records(data: bytes, name: str, notes: list[str]) -> list[dict[str, Any]]:
    def whole(by_line: bool) -> tuple[Table, list[Sequence[Cell]]]:
        table = read_table(io.BytesIO(data), name, by_line=by_line)
        return table, list(table.rows)

    table, rows = by_quotes_or_lines(whole)
    notes += [*table.notes, *table.guesses.values(), *table.altered]
    if not rows:
        notes.append("There is a head and no row.")
    return [
        {
            column: as_json_cell(cell, form)
            for column, cell, form in zip(table.columns, row, table.formats, strict=True)
        }
        for row in rows
    ]


def _markdown_records(text: str) -> list[dict[str, Any]]:
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.strip().startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif rows:
            break
    if len(rows) < 2:
        raise UnsupportedContent("There is no Markdown table in it.")
    head, *body = rows
    body = [row for row in body if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    return [dict(zip(head, row, strict=False)) for row in body]


def _xml_value(text: str, notes: list[str]) -> Any:
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise UnsupportedContent("XML with a DTD is not read.", hint="Take the DTD out of it.")
    try:
        root = ET.fromstring(text)  # noqa: S314 - without a DTD there are no entities
    except (ET.ParseError, ValueError) as error:
        raise UnsupportedContent(f"It is not valid XML: {error}.") from None
    if any((part.tail or "").strip() for part in root.iter()):
        notes.append("Texts between elements are joined under '#text'; their places are lost.")
    return {root.tag: _element_value(root, 0)}


def _element_value(element: ET.Element, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnsupportedContent("The XML is nested too deep.")
    value: dict[str, Any] = {f"@{name}": text for name, text in element.attrib.items()}
    for child in element:
        found = _element_value(child, depth + 1)
        if child.tag not in value:
            value[child.tag] = found
        elif isinstance(value[child.tag], list):
            value[child.tag].append(found)
        else:
            value[child.tag] = [value[child.tag], found]
    texts = [element.text, *(child.tail for child in element)]
    text = " ".join(filter(None, ((part or "").strip() for part in texts)))
    if not value:
        return text
    if text:
        value["#text"] = text
    return value


# Writing.


def _write(form: str, value: Any, notes: list[str]) -> bytes:
    if form in TABLES:
        records = _records(value)
        table = from_records(records)
        rows = [list(row) for row in table.rows]
        if form != "markdown" and any(
            isinstance(cell, str) and cell[:1] in ("=", "+", "@") for row in rows for cell in row
        ):
            notes.append("Some cells begin like formulas, which a spreadsheet would run.")
        return written_table(table.columns, rows, form)
    if form in ("json", "jsonl"):
        return _json_content(form, value, notes)
    if form == "yaml":
        return _yaml_text(value).encode()
    if form == "toml":
        return _toml_content(value, notes)
    if form == "xml":
        return _xml_content(value, notes)
    raise BadInput(f"Nothing is written as {form}.", hint=f"Formats: {', '.join(FORMATS)}.")


def _toml_content(value: Any, notes: list[str]) -> bytes:
    if not isinstance(value, Mapping):
        value = {"rows": value}
        notes.append("TOML has no lists at its top: they are under 'rows'.")
    if nulls := sum(part is None for part in _parts(value)):
        notes.append(f"{counted(nulls, 'null')} left out: TOML has none.")
    return "\n".join(_toml_lines(value, (), 0)).strip().encode() + b"\n"


def _xml_content(value: Any, notes: list[str]) -> bytes:
    root, inner = ("root", value)
    if isinstance(value, Mapping) and len(value) == 1:
        ((root, inner),) = value.items()
        root, inner = (root, inner) if not isinstance(inner, list) else ("root", value)
    if any(part is None or part in ([], {}) for part in _parts(value)):
        notes.append("null, [] and {} are all an empty element in XML.")
    return ("\n".join(_xml_lines(str(root), inner, 0)) + "\n").encode()


def _json_content(form: str, value: Any, notes: list[str]) -> bytes:
    finite = json_numbers(value)
    if finite != value:
        notes.append("NaN and infinities are null: JSON has no such numbers.")
    return _json(finite, indent=2) + b"\n" if form == "json" else _json_lines(_records(finite))


def _json_lines(values: Iterable[Any]) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _json(value: Any, indent: int | None = None) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
        return text.encode(errors="replace")
    except (ValueError, RecursionError, TypeError) as error:
        raise BadInput(f"JSON cannot hold it: {error}.") from None


def _plain(value: Any) -> Any:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return sorted(map(str, value)) if isinstance(value, set) else str(value)


def _records(value: Any) -> list[dict[str, Any]]:
    """A value as rows: a list of objects, an object of which one part is a list, or one row."""
    plain = json.loads(_json(value))
    while isinstance(plain, dict) and len(plain) == 1:
        (inner,) = plain.values()
        if not isinstance(inner, dict | list):
            break
        plain = inner
    if not isinstance(plain, list):
        plain = [plain]
    return [item if isinstance(item, dict) else {"value": item} for item in plain]


def written_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: str) -> bytes:
    """A table as a file: csv, tsv, json, jsonl or markdown; or its head and rows in JSON.

    Raises:
        BadInput: it is another format.
    """
    if form in ("csv", "tsv"):
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_stored(cell) for cell in row] for row in rows)
        return buffer.getvalue().encode(errors="replace")
    if form in ("json", "jsonl"):
        records = [json_numbers(dict(zip(columns, row, strict=True))) for row in rows]
        return _json(records, 1) + b"\n" if form == "json" else _json_lines(records)
    if form == "rows":
        return _json(json_numbers([columns, *rows]))
    if form == "markdown":
        return (markdown(columns, rows) + "\n").encode(errors="replace")
    raise BadInput(
        f"A table is not saved as {form or 'that'}.",
        hint="End the name in .csv, .tsv, .json, .jsonl or .md.",
    )


def _stored(cell: Any) -> str:
    """A cell as a file keeps it: with all its digits, where `displayed` has what is read."""
    return repr(cell) if isinstance(cell, float) and not cell.is_integer() else displayed(cell)


def markdown(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    align: Sequence[str] = (),
    max_chars: int = 0,
) -> str:
    """A table of Markdown.

    Args:
        columns: its head.
        rows: its cells.
        align: left, center or right for each column, or one for all.
        max_chars: of a cell, the rest is cut; 0 for all of it.
    """

    def cell(value: Any) -> str:
        text = " ".join(displayed(value).split())
        if max_chars and len(text) > max_chars:
            text = text[: max(max_chars - 1, 1)] + _CUT
        return text.replace("\\", "\\\\").replace("|", "\\|")

    aligned = list(align) * len(columns) if len(align) == 1 else list(align)
    rules = [_RULES.get(aligned[n] if n < len(aligned) else "", "---") for n in range(len(columns))]
    lines = [f"| {' | '.join(map(cell, columns))} |", f"| {' | '.join(rules)} |"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join(lines)


def _yaml_text(value: Any) -> str:
    import yaml

    plain = json.loads(_json(value))
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(plain, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100)
    return text


def _toml_lines(value: Mapping[str, Any], path: tuple[str, ...], depth: int) -> Iterable[str]:
    if depth > MAX_DEPTH:
        raise BadInput("It is nested too deep for TOML.")
    tables = {}
    for name, item in value.items():
        if isinstance(item, Mapping) or (
            isinstance(item, list) and item and all(isinstance(i, Mapping) for i in item)
        ):
            tables[str(name)] = item
        elif item is not None:  # TOML has no null
            yield f"{toml_key(str(name))} = {inline_toml(item)}"
    for name, item in tables.items():
        inner = (*path, name)
        head = ".".join(map(toml_key, inner))
        for one in item if isinstance(item, list) else (item,):
            yield ""
            yield f"[[{head}]]" if isinstance(item, list) else f"[{head}]"
            yield from _toml_lines(one, inner, depth + 1)


def _xml_lines(name: str, value: Any, depth: int) -> Iterable[str]:
    if depth > MAX_DEPTH:
        raise BadInput("It is nested too deep for XML.")
    tag = name if _NAME.fullmatch(name) else "item"
    named = "" if tag == name else f" name={quoteattr(_xml_text(name))}"
    space = "  " * depth
    if isinstance(value, list):
        yield f"{space}<{tag}{named}>"
        for item in value:
            yield from _xml_lines("item", item, depth + 1)
        yield f"{space}</{tag}>"
        return
    if not isinstance(value, Mapping):
        text = _xml_text(displayed(value if not isinstance(value, set) else sorted(value)))
        yield f"{space}<{tag}{named}>{escape(text)}</{tag}>"
        return
    attributes = "".join(
        f" {k[1:]}={quoteattr(_xml_text(displayed(v)))}"
        for k, v in value.items()
        if isinstance(k, str) and k.startswith("@") and _NAME.fullmatch(k[1:])
    )
    yield f"{space}<{tag}{named}{attributes}>{escape(_xml_text(str(value.get('#text', ''))))}"
    for key, item in value.items():
        if key == "#text" or (str(key).startswith("@") and _NAME.fullmatch(str(key)[1:])):
            continue
        for one in item if isinstance(item, list) and item else (item,):
            yield from _xml_lines(str(key), one, depth + 1)
    yield f"{space}</{tag}>"


def _xml_text(text: str) -> str:
    """A text without what XML cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
