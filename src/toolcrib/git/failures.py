"""What git says when it fails, as errors with what to do next."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolcrib.core import errors
from toolcrib.core.errors import BadInput, Denied, ToolError
from toolcrib.core.package_data import package_table
from toolcrib.text.cleaner import one_line

NOTHING_TO_COMMIT = "There is nothing to commit."
MAX_CHARS = 600
_URL_SECRET = re.compile(r"(://)[^/@\s]+@")

_LINE_OF_FILE = re.compile(
    r"((?:bad shallow line|bad graft data|(?:unexpected|unterminated) line in [^:\n]*"
    r"|unable to normalize alternate object path|unrecognized (?:negative )?pattern):)[^\n]*"
    r"|(object directory )[^\n]*(?= does not exist)|[^\n]*(?=: ignoring alternate object stores)"
)
"""Where git quotes a file that it reads: a link in its place may lead to any other file."""

_CASES: list[tuple[re.Pattern[str], type[ToolError], str, str]] = [
    (
        re.compile("|".join(row["says"]), re.MULTILINE),
        getattr(errors, row["error"]),
        row["message"],
        row.get("hint", ""),
    )
    for row in package_table("git/failures.toml")["failure"]
]


def without_quotes(stderr: str) -> str:
    """Messages of git without the lines of files that it could not read."""
    return _LINE_OF_FILE.sub(lambda found: f"{found[1] or found[2] or ''} (left out)", stderr)


def failure(command: str, code: int, stderr: str, stdout: str = "") -> ToolError:
    """The error for a git command that ended with an exit code."""
    stderr = without_quotes(stderr)
    text = _URL_SECRET.sub(r"\1", f"{stderr}\n{stdout}" if stderr.strip() else stdout)
    for pattern, kind, message, hint in _CASES:
        found = pattern.search(text)
        if found:
            return _of(kind, found, message, hint, text)
    summary = _summary(text)
    if command == "commit" and not summary:
        return Denied(
            f"git commit ended with code {code} and printed nothing, as where a hook refuses it.",
            hint="The user looks at the hooks pre-commit and commit-msg of the repository.",
        )
    return BadInput(f"git {command}: {summary or f'it ended with code {code}'}")


def _of(
    kind: Callable[..., ToolError], found: re.Match[str], message: str, hint: str, text: str
) -> ToolError:
    parts = [part or "" for part in found.groups()]
    lines = [line.strip() for line in text[found.end() :].splitlines() if line.startswith("\t")]
    first = one_line(parts[0], 200) if parts else ""
    words = message.replace("{1}", first.strip(" '")).replace("{text}", _summary(text))
    lines_of_remote = [
        line.removeprefix("remote:").strip() for line in text.splitlines() if line[:7] == "remote:"
    ]
    remote = one_line(" ".join(filter(None, lines_of_remote)), MAX_CHARS)
    words = words.replace("{remote}", f". It says: {remote}" if remote else "")
    words = words.replace("{lines}", one_line(", ".join(lines[:5]), MAX_CHARS) or "some files")
    return kind(words if words.endswith((".", "!")) else f"{words}.", hint=hint)


def _summary(text: str) -> str:
    lines = [re.sub(r"^(?:fatal|error|warning): ", "", line) for line in text.splitlines()]
    wanted = [line for line in lines if line.strip() and not line.startswith(("hint:", "From "))]
    return one_line(" ".join(wanted[:4]), MAX_CHARS)
