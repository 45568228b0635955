"""What docs/architecture.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_imports import FLOOR_OF
from tests.architecture.tree import SOURCE

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def test_every_file_that_is_named_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py)?)`", text))
    paths = {name for name in named if "/" in name or name.endswith(".py")}
    paths -= {"__init__.py", "tests/architecture", "src/toolcrib"}
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (SOURCE / path).exists()] == []


def test_every_room_is_on_its_floor() -> None:
    rows = re.findall(r"^\| (\d+) \| `([a-z]+)(?:\.py)?` \|", PAGE.read_text(), re.MULTILINE)
    drawn = {room: int(floor) - 1 for floor, room in rows}
    there = {p.stem for p in SOURCE.iterdir() if (p.is_dir() or p.suffix == ".py")}
    there = {name for name in there if name in FLOOR_OF and not name.startswith("__")}
    assert set(drawn) == there
    assert {room: FLOOR_OF[room] for room in drawn} == drawn
