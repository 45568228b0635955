"""A first parse of a source, which another interpreter runs and which can be killed.

A parser that meets a hostile text may need minutes, and in this process nothing else runs
meanwhile, since it does not give up the interpreter's lock. What the child parses soon is
parsed here too; the rest is refused.
"""

from __future__ import annotations

import ast
import re
import time
import warnings
from contextlib import suppress
from typing import Any

_BEYOND_TABLES = re.compile(r"((?:\{|\.\.)[0-9]*)[^\x00-\xff]")
TRIAL_FUNCTION = "toolcrib.code.trial_parse:trial_parse"
PYTHON_PARSER = "ast"
"""Python, by the interpreter's own parser."""


def syntax_tree(text: str, language: str) -> Any:
    """The root node of a text, by ast-grep; its positions count characters.

    In sources for bash a letter stands for some characters: in `{1..9}` the scanner of that grammar
    looks up what stands in the place of a digit, or behind it, in a table of 256 entries (`isdigit`
    of C), and reads beyond it, or has the process end.

    Raises:
        ImportError: ast-grep is not installed.
    """
    from ast_grep_py import SgRoot

    if language == "bash":
        text = _BEYOND_TABLES.sub("\\1\u00e9", text)
    return SgRoot(text, language).root()


def prepare() -> None:
    """Load what is loaded late."""
    trial_parse({"language": PYTHON_PARSER}, b"a = 1\n")
    with suppress(ImportError):
        trial_parse({"language": "python"}, b"a = 1\n")


def trial_parse(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Parse a text; tells the seconds of the processor that this took."""
    text, language = data.decode("utf-8", "replace"), request["language"]
    start = time.process_time()
    if language == PYTHON_PARSER:
        with suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    else:
        syntax_tree(text, language).find(kind="ERROR")
    return {"seconds": time.process_time() - start}, b""
