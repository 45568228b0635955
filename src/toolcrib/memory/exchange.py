"""Memories as files: Markdown and JSONL of ours, and the JSON files of other systems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.memory.memory_records import MAX_FACT_CHARS, Memory, MemoryDraft
from toolcrib.state.secret_finder import secret_kind
from toolcrib.text.cleaner import clean, one_line

MAX_ITEMS = 100_000
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,6}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_FACTS = re.compile(r"\s*<!--\s*(\{.*\})\s*-->\s*$")
_TITLES = {"memories", "memory", "facts", "notes", "user", "project", "session"}
"""Headings that say nothing of what stands below them."""
TEXTS = ("fact", "memory", "content", "text", "value", "note", "data")
"""Where other systems keep what a memory says, the likeliest first."""
TIMES = ("created", "created_at", "createdAt", "timestamp", "time", "date", "updated_at")
LISTS = ("memories", "facts", "entries", "items", "results", "data", "notes")


@dataclass(frozen=True, slots=True)
class ParsedMemory:
    """A memory in a file: where it stands (line, or number in a list), and what it is.

    `scope` is user, project or session as the file says, or empty; `project` is the folder and
    the name of the project, None where the file does not say it, `session` the conversation.
    """

    place: int
    draft: MemoryDraft
    scope: str = ""
    project: tuple[str, str] | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a file holds, and what of it is left out: places with the reason."""

    memories: tuple[ParsedMemory, ...]
    left_out: tuple[tuple[int, str], ...] = ()


def text_of(content: bytes) -> str:
    """The text of a file.

    Raises:
        BadInput: it is no text; the message names the line.
    """
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _broken(content[: error.start].count(b"\n") + 1, "it is no text in UTF-8") from None
    place = text.find("\0")
    if place >= 0:
        raise _broken(text.count("\n", 0, place) + 1, "it is no text")
    return text


def parse_file(name: str, text: str) -> ParsedFile:
    """The memories of a file, by the ending of its name; secrets are left out.

    Raises:
        BadInput: it is broken; the message names the line.
    """
    text = text.removeprefix("\ufeff")
    if name.lower().endswith((".jsonl", ".ndjson")):
        found = _json_lines(text)
    elif name.lower().endswith(".json"):
        found = _json(text)
    else:
        found = _markdown(text)
    return _sifted(found)


Projects = Mapping[str, tuple[str, str]]
"""The folder and the name of projects, by their scope."""


def to_markdown(memories: Iterable[Memory], projects: Projects) -> str:
    """Memories as Markdown that a person can read and edit, and that can be imported.

    Args:
        memories: in the order in which they are written.
        projects: those that they may belong to.
    """
    names = {"user": "User"}
    names |= {scope: f"Project: {path or name}" for scope, (path, name) in projects.items()}
    lines = ["# Memories"]
    before = ""
    for memory in memories:
        if memory.scope != before:
            before = memory.scope
            lines += ["", f"## {names.get(memory.scope, memory.scope)}", ""]
        facts = json.dumps(_facts(memory, projects), ensure_ascii=False).replace("--", "-\\u002d")
        odd = "\n" in memory.fact or "<!--" in memory.fact or memory.fact.startswith(('"', "["))
        quoted = json.dumps(memory.fact, ensure_ascii=False).replace("<!--", "<\\u0021--")
        text = quoted if odd else memory.fact
        lines.append(f"- {text} <!-- {facts} -->")
    return "\n".join(lines) + "\n"


def to_json_lines(memories: Iterable[Memory], projects: Projects) -> str:
    """Memories as JSONL, one a line; `projects` as in `to_markdown`."""
    return "".join(
        json.dumps({"fact": memory.fact, **_facts(memory, projects)}, ensure_ascii=False) + "\n"
        for memory in memories
    )


def _facts(memory: Memory, projects: Projects) -> dict[str, Any]:
    """What is written of a memory beside what it says, without what is empty."""
    values = {name: v for name, v in memory.to_json().items() if name not in ("fact", "id")}
    facts = {name: value for name, value in values.items() if value not in (None, "", [], False)}
    if not memory.private:
        facts["private"] = False
    kind, _, name = memory.scope.partition(":")
    if kind == "session":
        facts["session"] = name
    elif memory.scope in projects:
        facts["project"], facts["project_name"] = projects[memory.scope]
    return facts


def _markdown(text: str) -> Iterator[ParsedMemory]:
    """Items of lists and paragraphs; the heading above is a tag."""
    tag, paragraph, start = "", [], 0  # type: ignore[var-annotated]
    for number, line in enumerate([*text.split("\n"), ""], 1):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if paragraph and (heading or item or not line.strip()):
            yield _plain(start, " ".join(paragraph), tag)
            paragraph = []
        if heading:
            name = one_line(heading[1], 60)
            tag = "" if name.casefold().split(":")[0] in _TITLES else name
        elif item:
            paragraph, start = [item[1].strip()], number
        elif line.strip():
            start = start if paragraph else number
            paragraph.append(line.strip())


def _plain(number: int, text: str, tag: str) -> ParsedMemory:
    facts = _FACTS.search(text)
    if facts is None:
        return ParsedMemory(number, MemoryDraft(text, tags=(tag,) if tag else ()))
    try:
        values = json.loads(facts[1])
        fact = text[: facts.start()]
        fact = json.loads(fact) if fact.startswith('"') else fact
    except ValueError as error:
        raise _broken(number, str(error)) from None
    return _of_mapping(number, {**values, "fact": fact})


def _json_lines(text: str) -> Iterator[ParsedMemory]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _broken(number, str(error)) from None
            yield from _of_value(number, value)


def _json(text: str) -> Iterator[ParsedMemory]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise _broken(error.lineno, error.msg) from None
    except RecursionError:
        raise _broken(1, "it is nested too deeply") from None
    for name in LISTS:
        if isinstance(value, dict) and isinstance(value.get(name), list | dict):
            value = value[name]
    items = value.values() if _is_map(value) else value if isinstance(value, list) else [value]
    for number, item in enumerate(items, 1):
        yield from _of_value(number, item)


def _is_map(value: Any) -> bool:
    """Whether an object holds memories by their ids, and is none itself."""
    return (
        isinstance(value, dict)
        and all(isinstance(item, dict | str) for item in value.values())
        and not any(isinstance(value.get(name), str) for name in TEXTS)
    )


def _of_value(number: int, value: Any) -> Iterator[ParsedMemory]:
    """One item: a text, a record, or an entity of a knowledge graph with its observations."""
    if isinstance(value, str):
        yield ParsedMemory(number, MemoryDraft(value))
    elif isinstance(value, dict) and isinstance(value.get("observations"), list):
        name = str(value.get("name", ""))
        for text in value["observations"]:
            if isinstance(text, str):
                yield ParsedMemory(number, MemoryDraft(f"{name}: {text}" if name else text))
    elif isinstance(value, dict) and value.get("type") == "relation":
        words = (value.get("from"), value.get("relationType"), value.get("to"))
        yield ParsedMemory(number, MemoryDraft(" ".join(str(w) for w in words if w)))
    elif isinstance(value, dict):
        yield _of_mapping(number, value)
    else:
        raise _broken(number, "it is neither a text nor an object")


def _of_mapping(number: int, value: Mapping[str, Any]) -> ParsedMemory:
    text = next((v for name in TEXTS if isinstance(v := value.get(name), str) and v.strip()), "")
    path = value.get("path", "")
    path = path if isinstance(path, str) and path.startswith("/memories/") else ""
    if not text and not path:
        raise _broken(number, f"it has no {', '.join(TEXTS[:4])}")
    tags = value.get("tags", ())
    tags = tags.split(",") if isinstance(tags, str) else tags
    listed = tuple(str(tag).strip() for tag in tags) if isinstance(tags, list | tuple) else ()
    created = next((t for name in TIMES if (t := _time(value.get(name))) is not None), None)
    scope, source = value.get("scope", ""), value.get("source", "")
    changed, project = _time(value.get("changed")), value.get("project")
    draft = MemoryDraft(
        text,
        tags=listed,
        expires=_time(value.get("expires")),
        created=created,
        path=path,
        source=source if isinstance(source, str) else "",
        outside=bool(value.get("outside")),
        changed=changed,
        private=value.get("private") is not False,
        is_own=scope in ("user", "project", "session") and None not in (created, changed),
    )
    named = (project, str(value.get("project_name") or "")) if isinstance(project, str) else None
    return ParsedMemory(number, draft, str(scope), named, str(value.get("session") or ""))


def _time(value: Any) -> float | None:
    """A time as seconds, milliseconds or ISO text, in seconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) / 1000 if value > 1e11 else float(value)
    try:
        found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _sifted(found: Iterable[ParsedMemory]) -> ParsedFile:
    """What may be kept: nothing empty, too long, or with a secret in it."""
    memories, left_out = [], []
    for count, parsed in enumerate(found):
        if count >= MAX_ITEMS:
            raise BadInput(f"The file has more than {MAX_ITEMS:,} memories.")
        text = clean(parsed.draft.fact).text
        kind = secret_kind(text)
        if kind:
            left_out.append((parsed.place, f"a secret ({kind})"))
        elif len(text) > MAX_FACT_CHARS and not parsed.draft.path:
            left_out.append((parsed.place, f"more than {MAX_FACT_CHARS:,} characters"))
        elif text.strip() or parsed.draft.path:
            memories.append(parsed)
    return ParsedFile(tuple(memories), tuple(left_out))


def _broken(number: int, reason: str) -> BadInput:
    return BadInput(
        f"The file is broken at line or item {number}: {reason}.",
        hint="Nothing was taken over. Mend it there, and try again.",
        line=number,
    )
