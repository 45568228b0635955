"""Whether a file still parses after a change, where that is cheap to tell."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable
from xml.parsers import expat

LARGEST = 300_000
"""Characters up to which a text is parsed."""


def broken_by(name: str, before: str, after: str) -> str:
    """What a change broke, as a sentence; "" where nothing is known to be broken.

    Args:
        name: the file name; its ending tells the language.
        before: the text before, which must have parsed; "" for a new file.
        after: the text after.
    """
    parse = _PARSERS.get(name.rpartition(".")[2].lower()) if "." in name else None
    if parse is None or max(len(before), len(after)) > LARGEST:
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
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        line = where[1] if where else str(text.count("\n") + 1)
        return f"it is no longer valid TOML: {str(error).partition(' (at')[0]} (line {line})"
    except RecursionError:
        return ""
    return ""


def _yaml(text: str) -> str:
    import yaml  # type: ignore[import-untyped]

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(text, Loader=loader):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        return f"it is no longer valid YAML: {error.problem or error.context} (line {line})"
    except (yaml.YAMLError, RecursionError):
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
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
    "xml": _xml,
    "svg": _xml,
    "xhtml": _xml,
}
