"""Reports of changes: one line a file, a short difference, what no longer parses."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.content.difference import DifferenceBlock, differences, unified
from toolcrib.files.content.outline import ending_of, is_prose
from toolcrib.text.line_breaks import note_on_escaped
from toolcrib.text.toml_values import toml_value
from toolcrib.text.yaml_events import yaml_events

# Whether a file still parses after a change, where that is cheap to tell.

MAX_PARSED_CHARS = 300_000
"""Characters up to which a text is parsed."""


def broken_by(name: str, before: str, after: str) -> str:
    """What a change broke, as a sentence; "" where nothing is known to be broken.

    Args:
        name: the file name; its ending tells the language.
        before: the text before, which must have parsed; "" for a new file.
        after: the text after.
    """
    parse = _PARSERS.get(name.rpartition(".")[2].lower()) if "." in name else None
    if parse is None or max(len(before), len(after)) > MAX_PARSED_CHARS:
        return ""
    found = parse(after) if after.strip() else ""
    if not before:
        return found.replace("no longer", "not")
    return found if found and not parse(before) else ""


def _python(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return f"it is no longer valid Python: {error.msg} (line {error.lineno})"
    except (ValueError, RecursionError, MemoryError):
        return ""
    return ""


def _json(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"it is no longer valid JSON: {error.msg} (line {error.lineno})"
    except (ValueError, RecursionError):
        return ""
    return ""


def _toml(text: str) -> str:
    try:
        toml_value(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        line = where[1] if where else str(text.count("\n") + 1)
        return f"it is no longer valid TOML: {str(error).partition(' (at')[0]} (line {line})"
    except ValueError:
        return ""
    return ""


def _yaml(text: str) -> str:
    import yaml  # type: ignore[import-untyped]

    try:
        for _ in yaml_events(text):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        return f"it is no longer valid YAML: {error.problem or error.context} (line {line})"
    except (yaml.YAMLError, ValueError):
        return ""
    return ""


def _xml(text: str) -> str:
    parser = expat.ParserCreate()
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        return f"it is no longer valid XML: {expat.ErrorString(error.code)} (line {error.lineno})"
    except (ValueError, LookupError):
        return ""
    return ""


_PARSERS: dict[str, Callable[[str], str]] = {
    "py": _python,
    "pyi": _python,
    "json": _json,
    "ipynb": _json,
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
    "xml": _xml,
    "svg": _xml,
    "xhtml": _xml,
}


# A short unified diff of what a change does, with line numbers.

CONTEXT = 2
UNENDED = "\\ No newline at end of file"
MAX_PREVIEW_LINES = 60
MAX_PREVIEW_CHARS = 200


def preview(before: str, after: str, max_lines: int = MAX_PREVIEW_LINES) -> str:
    """The difference of two texts.

    Args:
        before: line ends are line feeds.
        after: the same.
        max_lines: lines of the answer; a last line tells how many more there are.
    """
    old, new = _split(before), _split(after)
    blocks = differences(old, new)
    for block in blocks:
        _cut_apart(old, new, block)
    lines = list(unified(old, new, blocks, CONTEXT))
    lines_out = list(_around_cut(lines[:max_lines]))
    if len(lines) > len(lines_out):
        lines_out.append(f"[{len(lines) - len(lines_out):,} more lines of the difference]")
    return "\n".join(lines_out)


def _split(text: str) -> list[str]:
    """The lines; one without a line end says so."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n{UNENDED}"] if last else lines


def _cut_apart(old: list[str], new: list[str], block: DifferenceBlock) -> None:
    """Cut the lines of a change, each where it differs from what stands beside it."""
    removed, added = old[block.a1 : block.a2], new[block.b1 : block.b2]
    old[block.a1 : block.a2] = _cut_beside(removed, added)
    new[block.b1 : block.b2] = _cut_beside(added, removed)


def _cut_beside(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield _cut(line, others[index] if index < len(others) else line)


def _around_cut(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f" {_cut(line[1:], line[1:])}" if line.startswith(" ") else line


def _cut(line: str, other: str) -> str:
    """The part of a line where it differs from another, in bounded length."""
    if not line.isascii():
        line = line.encode("utf-8", "replace").decode()
    if len(line) <= MAX_PREVIEW_CHARS:
        return line
    differs = next((i for i, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), 0)
    start = max(0, min(differs - MAX_PREVIEW_CHARS // 3, len(line) - MAX_PREVIEW_CHARS))
    part = line[start : start + MAX_PREVIEW_CHARS]
    head = "…" if start else ""
    return f"{head}{part}… ({len(line):,} characters)"


MAX_DIFF_LINES = 60
"""Lines of differences in an answer, over all its files."""


@dataclass(slots=True)
class ChangeReport:
    """What happens to one file: the line that says so, and its text before and after.

    All of the text was sent where it is `whole`: what is wrong with it is news. Escapes are
    `decoded` where the tool reads them: one that is left was meant.
    """

    path: str
    line: str
    before: str = ""
    after: str = ""
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    decoded: bool = False

    def to_json(self) -> dict[str, Any]:
        """What programs are told."""
        return {"path": self.path, **self.data}

    def warnings(self) -> list[str]:
        """The notes, and what the change broke."""
        broken = broken_by(self.path, self.before, self.after)
        if self.whole and not broken:
            broken = broken_by(self.path, "", self.after)
        if broken or self.decoded:
            return [*self.notes, *([f"Warning: {broken}."] if broken else [])]
        prose = is_prose(self.path) or ending_of(self.path) in ("csv", "tsv", "html", "htm")
        escaped = note_on_escaped(self.before, self.after, prose=prose)
        return [*self.notes, *([escaped] if escaped else [])]


def render_reports(files: Iterable[ChangeReport], lines: int = MAX_DIFF_LINES) -> str:
    """The text of an answer."""
    parts: list[str] = []
    left = lines
    for report in files:
        parts.append(report.line)
        parts += report.warnings()
        if report.before and report.before != report.after:
            difference = preview(report.before, report.after, max(left, 0))
            left -= difference.count("\n") + 1
            parts.append(difference)
    return "\n".join(part for part in parts if part)


async def carry_out(step: Step, files: list[ChangeReport], text: str, ctx: Ctx) -> Result:
    """Make the changes, and answer with the text that tells of them."""
    applied = await ctx.use(Changes).apply(step, ctx)
    data = {
        "step": applied.step,
        "files": [report.to_json() for report in files],
    }
    return Result(text=text + applied.note_line, data=data, private=True)
