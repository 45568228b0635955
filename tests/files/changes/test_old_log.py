"""An undo log that an older version wrote: it is read, taken back, and mended.

`log_of_08377f3.json` holds what the code of commit 08377f3 left: the rows of its store,
the contents beside it, and how the workspace looked. Its last step was cut off by a kill.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.files.changes.conftest import Bench
from toolcrib.system.threads import content_id

Entries = dict[str, list[Any]]


def entries(root: Path) -> Entries:
    found: Entries = {}
    for path in sorted(root.rglob("*")):
        name, bits = str(path.relative_to(root)), path.lstat().st_mode & 0o7777
        if path.is_symlink():
            found[name] = ["link", os.readlink(path)]
        elif path.is_dir():
            found[name] = ["folder", bits]
        else:
            found[name] = ["file", bits, path.read_text()]
    return found


def make(root: Path, tree: Entries) -> None:
    for name, (kind, *rest) in tree.items():
        path = root / name
        if kind == "link":
            path.symlink_to(rest[0])
        elif kind == "folder":
            path.mkdir(mode=rest[0])
        else:
            path.write_text(rest[1])
            path.chmod(rest[0])


@pytest.fixture
def old(root: Path, tmp_path: Path) -> dict[str, Any]:
    """The store, the contents and the workspace, as if that version had worked here."""
    text = (Path(__file__).parent / "log_of_08377f3.json").read_text()
    found: dict[str, Any] = json.loads(text)
    assert content_id(found["store"]) == found["folder"]
    found = json.loads(text.replace(found["root"], str(root)))
    store = tmp_path / "state" / "toolcrib.db"
    for name, content in found["blobs"].items():
        path = store.parent / "undo" / content_id(str(store)) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
    connection = sqlite3.connect(store)
    connection.execute(f"PRAGMA application_id = {found['application_id']}")
    for statement in found["schema"]:
        connection.execute(statement)
    connection.executemany("INSERT INTO area VALUES (?, ?)", found["areas"])
    for step in found["steps"]:
        step["record"] = zlib.compress(json.dumps(step["record"]).encode())
        step |= {key: json.dumps(step[key]) for key in ("undoes", "paths")}
        marks = ", ".join("?" * len(step))
        connection.execute(f"INSERT INTO step VALUES ({marks})", tuple(step.values()))
    connection.commit()
    connection.close()
    make(root, found["cut"])
    return found


async def test_an_older_log_is_read(old: dict[str, Any], bench: Bench, root: Path) -> None:
    steps = await bench.changes.steps(limit=50)
    assert entries(root) == old["done"]  # the one that was cut off is taken back
    assert [step.tool for step in reversed(steps)] == [step["tool"] for step in old["steps"][:-1]]
    await bench.undo(len(steps))
    assert entries(root) == old["before"]
    await bench.undo()
    assert entries(root) == old["done"]


async def test_new_rows_are_like_old_ones(old: dict[str, Any], bench: Bench) -> None:
    """What an older version reads: the same keys, kinds and shapes."""
    await bench.changes.steps()
    await bench.write("notes.txt", b"third\n")
    (step, *_) = await bench.changes.steps()
    (change,) = json.loads(zlib.decompress(step.record))
    (known,) = json.loads(zlib.decompress(old["steps"][1]["record"]))
    assert change.keys() == known.keys()
    assert (change["do"], change["path"]) == (known["do"], known["path"]) == ("put", ["notes.txt"])
    for state in ("before", "after"):
        assert list(map(type, change[state])) == list(map(type, known[state]))
