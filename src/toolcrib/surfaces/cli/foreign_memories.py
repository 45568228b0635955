"""What other systems remember, read from their files, which stay as they are."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput
from toolcrib.memory.exchange import LISTS, TEXTS, ParsedFile, parse_file, text_of
from toolcrib.memory.memory_records import Origin
from toolcrib.memory.plans import (
    MAX_GOAL_CHARS,
    MAX_NOTE_CHARS,
    MAX_STEP_CHARS,
    MAX_STEPS,
    STATES,
    Plans,
    StepDraft,
)
from toolcrib.memory.projects import Projects
from toolcrib.memory.takeover import FOREIGN

MAX_FILE_BYTES = 50_000_000
SQLITE = b"SQLite format 3\x00"
PLANS = ".ai_toolbox_plans.json"
STEP_TEXTS = ("text", "description", "title", "step", "content")


def beside(folder: Path) -> list[Path]:
    """Files of other systems in a folder."""
    return [folder / name for name in FOREIGN if (folder / name).is_file()]


def holds_memories(file: Path) -> bool:
    """Whether a file that was named is about memories or plans, and not about settings."""
    if file.name in FOREIGN or file.suffix.lower() in (".md", ".jsonl", ".ndjson"):
        return True
    with file.open("rb") as handle:
        if handle.read(len(SQLITE)) == SQLITE:
            return True
    return file.suffix.lower() == ".json" and _lists_memories(file)


def _lists_memories(file: Path) -> bool:
    """Whether JSON is a list of objects that say something, as exports of memories are."""
    if file.stat().st_size > MAX_FILE_BYTES:
        return False
    try:
        tree = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return False
    if isinstance(tree, dict):
        tree = next((tree[name] for name in LISTS if isinstance(tree.get(name), list)), None)
    texts = [*TEXTS[:4], "note"]  # settings have values and data too
    return isinstance(tree, list) and any(
        isinstance(item, dict) and any(isinstance(item.get(name), str) for name in texts)
        for item in tree
    )


def memories_of(file: Path) -> ParsedFile:
    """The memories of a file: Markdown, JSON, JSONL or a SQLite database.

    Raises:
        BadInput: it cannot be read, or is broken; the message names the line.
    """
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise BadInput(f"{file} has more than {MAX_FILE_BYTES:,} bytes.")
        content = file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
    if content.startswith(SQLITE):
        rows = "\n".join(json.dumps(row, ensure_ascii=False) for row in _rows(file))
        return parse_file("rows.jsonl", rows)
    return parse_file(file.name, text_of(content))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of all tables that have a column for what a memory says."""
    with tempfile.TemporaryDirectory() as folder:
        # A copy with its log: to open the file itself could change it.
        for suffix in ("", "-wal"):
            source = Path(f"{file}{suffix}")
            if source.is_file():
                shutil.copyfile(source, Path(folder) / f"copy.db{suffix}")
        try:
            with closing(sqlite3.connect(Path(folder) / "copy.db")) as connection:
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                connection.row_factory = sqlite3.Row
                tables = connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type = 'table'"
                    " AND sql NOT LIKE 'CREATE VIRTUAL%'"
                ).fetchall()
                for (table,) in tables:
                    yield from _of_table(connection, table)
        except sqlite3.Error as error:
            raise BadInput(f"{file} cannot be read: {error}.") from None


def _of_table(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    quoted = table.replace('"', '""')
    columns = [row["name"] for row in connection.execute(f'PRAGMA table_info("{quoted}")')]
    text = next((name for name in TEXTS if name in columns), "")
    if not text or ("name" in columns and text in ("data", "value")):
        return
    for row in connection.execute(f'SELECT * FROM "{quoted}"'):  # noqa: S608 - quoted
        values = {name: row[name] for name in row.keys() if not isinstance(row[name], bytes)}  # noqa: SIM118
        if isinstance(values.get(text), str) and values[text].strip():
            tags = values.get("tags")
            if isinstance(tags, str) and tags.startswith("["):
                with suppress(ValueError):  # else they are words with commas
                    values["tags"] = json.loads(tags)
            values.pop("scope", None)
            yield {**values, "fact": values[text]}


def plans_of(file: Path) -> list[tuple[str, list[StepDraft]]]:
    """The plans of a JSON file: goal, steps, and of each step its status and note.

    Raises:
        BadInput: it is broken, or holds no plan.
    """
    try:
        tree = json.loads(file.read_text("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadInput(f"{file} is broken at line {error.lineno}: {error.msg}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from None
    for name in ("plans", *LISTS):
        if isinstance(tree, dict) and isinstance(tree.get(name), list | dict):
            tree = tree[name]
    if isinstance(tree, dict) and "steps" not in tree:
        tree = list(tree.values())
    found = [_plan(item) for item in (tree if isinstance(tree, list) else [tree])]
    return [plan for plan in found if plan is not None]


def _plan(item: Any) -> tuple[str, list[StepDraft]] | None:
    if not isinstance(item, dict) or not isinstance(item.get("steps"), list):
        return None
    steps = []
    for step in item["steps"][:MAX_STEPS]:
        values = step if isinstance(step, dict) else {"text": str(step)}
        text = next((values[n] for n in STEP_TEXTS if isinstance(values.get(n), str)), "")
        if text.strip():
            status = next((state for state in STATES if state == values.get("status")), None)
            note = str(values.get("note") or "")[:MAX_NOTE_CHARS]
            steps.append(StepDraft(text.strip()[:MAX_STEP_CHARS], status, note))
    goal = str(item.get("goal") or item.get("title") or "").strip()[:MAX_GOAL_CHARS]
    return (goal or "Plan", steps) if steps else None


async def take_plans(services: Services, plans: list[tuple[str, list[StepDraft]]]) -> int:
    """Write plans for the project of the current folder, their steps as far as they were."""
    project = (await services.use(Projects).current()).id
    for goal, steps in plans:
        await services.use(Plans).create(goal, steps, project, Origin("cli:import", "cli"))
    return len(plans)
