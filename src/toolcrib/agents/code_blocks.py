"""Saving the code of an answer: blocks that say which file they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.core.context import Invoke

OPENING = re.compile(r" {0,3}(```+|~~~+)[ \t]*([\w+#.-]*)([^\n]*)$")
SHELL = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "cmd", "bat", "fish"}
)
NAME = r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,9}|(?:[\w.-]+/)*(?:Makefile|Dockerfile)"
BEFORE = re.compile(rf"[`*\"'(\s:]*(?P<name>{NAME})[`*\"')\s:.]*$")
COMMENT = re.compile(
    rf"^\s*(?:#|//|--|;|%|/\*|<!--|\"\"\")\s*(?:file(?:name)?\s*:\s*)?(?P<name>{NAME})"
    r"\s*(?:\*/|-->|\"\"\")?\s*$",
    re.IGNORECASE,
)
INFO = re.compile(rf"(?:file(?:name)?|title|path)?\s*[=:]?\s*[\"']?(?P<name>{NAME})[\"']?\s*$")
MAX_FILES = 50
MAX_ANSWER_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A file in an answer, and where it stands there."""

    path: str
    content: str
    start: int
    end: int


async def save_blocks(
    answer: str, task: str, invoke: Invoke, *, keep_code: bool
) -> tuple[str, str]:
    """Write the files of an answer with `write_file`; the answer then, and a note.

    Args:
        answer: what the model said.
        task: what it was asked; a file that it names is where a single unnamed block goes.
        invoke: sends calls as the child.
        keep_code: leave the code in the answer.
    """
    from toolcrib.agents.prompts import paths_in

    named = paths_in(task)
    blocks = list(blocks_of(answer, named[0] if len(named) == 1 else ""))[:MAX_FILES]
    failed: list[str] = []
    saved: dict[tuple[int, int], list[str]] = {}
    for block in blocks:
        given: dict[str, Any] = {"path": block.path, "content": block.content}
        result = await invoke("write_file", given)
        if result.error is not None:
            failed.append(f"{block.path}: {result.error.message}")
        else:
            lines = block.content.count("\n")
            saved.setdefault((block.start, block.end), []).append(f"{block.path}, {lines} lines")
    if not keep_code:
        for (start, end), files in sorted(saved.items(), reverse=True):
            answer = f"{answer[:start]}[saved: {'; '.join(files)}]{answer[end:]}"
    return answer, f"Not saved: {'; '.join(failed)}" if failed else ""


def blocks_of(answer: str, only: str = "") -> Iterator[CodeBlock]:
    """The files in an answer: blocks of code with a name, or a JSON list of files.

    A name stands in the text before a block, behind its language, or in its first comment.
    Blocks for a shell are commands and no files. `only` names a single block without a name.
    """
    found = list(_fenced(answer[:MAX_ANSWER_CHARS]))
    files = [fenced for fenced in found if fenced.kind not in SHELL]
    for fenced in files:
        batch = _batch(fenced.code) if fenced.kind in ("json", "") else []
        for path, content in batch:
            yield CodeBlock(path, content, fenced.start, fenced.end)
        name, code = _named(answer, fenced)
        if not name and len(files) == 1:
            name = only
        if name and code.strip() and not batch:
            yield CodeBlock(name, code, fenced.start, fenced.end)
    if not found:
        for path, content in _batch(answer):
            yield CodeBlock(path, content, 0, len(answer))


@dataclass(frozen=True, slots=True)
class _Fenced:
    kind: str
    info: str
    code: str
    start: int
    end: int


def _fenced(text: str) -> Iterator[_Fenced]:
    """The closed blocks of code in a text."""
    at = start = code = 0
    opened: re.Match[str] | None = None
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if opened is None:
            opened = OPENING.match(bare)
            start, code = at, at + len(line)
        elif bare.strip().startswith(opened[1]) and not bare.strip().strip(opened[1][0]):
            body = text[code:at]
            end = at + len(bare)
            yield _Fenced(opened[2].lower(), opened[3].strip(), body, start, end)
            opened = None
        at += len(line)


def _named(answer: str, fenced: _Fenced) -> tuple[str, str]:
    """The name that a block has, and its code without the comment that only names it."""
    inside = INFO.match(fenced.info) if fenced.info else None
    if inside:
        return inside["name"], fenced.code
    first, _, rest = fenced.code.partition("\n")
    comment = COMMENT.match(first)
    if comment:
        return comment["name"], rest
    before = answer[: fenced.start].rstrip("\n")[-400:].rpartition("\n")[2]
    heading = BEFORE.search(before)
    return (heading["name"], fenced.code) if heading else ("", fenced.code)


def _batch(text: str) -> list[tuple[str, str]]:
    """Files from a JSON list of `{path, content}`."""
    stripped = text.strip()
    if not stripped.startswith("["):
        return []
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return []
    files = []
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict):
            return []
        keys = ("path", "file_name", "filename", "file", "name")
        path = next((item[k] for k in keys if k in item), None)
        content = next((item[k] for k in ("content", "code", "text") if k in item), None)
        if not isinstance(path, str) or not isinstance(content, str):
            return []
        files.append((path, content))
    return files
