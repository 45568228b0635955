"""Calls of small models that say a thing in another way than the tools take it."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from toolcrib.toolbox import Toolbox


@pytest.mark.parametrize("name", ["rename", "move_path"])
async def test_a_new_name_alone_stays_in_its_folder(box: Toolbox, ws: Path, name: str) -> None:
    (ws / "a").mkdir()
    (ws / "a/y.txt").write_text("y\n")
    done = await box.call(name, {"path": "a/y.txt", "new_name": "z.txt"})
    assert done.text == "Moved a/y.txt to a/z.txt"
    assert (ws / "a/z.txt").is_file()


@pytest.mark.parametrize(
    ("tool", "source", "destination", "place"),
    [
        ("move_path", "x.txt", "new/", "new/x.txt"),
        ("move_path", "x.txt", "old/", "old/x.txt"),
        ("move_path", "./old", "new\\", "new/old/y.txt"),
        ("move_path", "old/", "new/", "new/y.txt"),
        ("copy_path", "old", "new/old/", "new/old/y.txt"),
        ("copy_path", "old/y.txt", "./", "y.txt"),
        ("copy_path", "x.txt", "new", "new"),
    ],
)
async def test_a_slash_says_that_a_folder_takes_it(
    box: Toolbox, ws: Path, tool: str, source: str, destination: str, place: str
) -> None:
    (ws / "old").mkdir()
    for name in ("x.txt", "old/y.txt"):
        (ws / name).write_text("text\n")
    done = await box.call(tool, {"from": source, "to": destination})
    assert done.error is None, done.text
    assert (ws / place).read_text() == "text\n"


async def test_no_file_is_written_in_the_place_of_a_folder(box: Toolbox, ws: Path) -> None:
    refused = await box.call("write_file", {"file": "notes/", "content": "text\n"})
    assert refused.error is not None
    assert "notes/ is a folder" in refused.error.message
    assert list(ws.iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("write_file", {"path": "r.xlsx", "content": "a,b\n"}),
        ("append_file", {"path": "d/r.PDF", "content": "text"}),
        ("edit_file", {"path": "r.docx", "old": "", "new": "text"}),
    ],
)
async def test_no_text_gets_the_name_of_a_document(
    box: Toolbox, ws: Path, tool: str, sent: dict[str, Any]
) -> None:
    refused = await box.call(tool, sent)
    assert refused.error is not None
    assert "create_document" in refused.error.hint
    assert list(ws.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "noted"),
    [
        ("a.md", r"# A\n\nText", True),
        ("a.csv", r"a,b\n1,2", True),
        ("a.sh", r"#!/bin/sh\necho a", True),
        ("b.sh", '#!/bin/sh\nprintf "a\\nb\\n"\n', False),
        ("b.md", "`\\n` ends a line.\n", False),
        ("b.txt", "a\nb\n", False),
    ],
)
async def test_escaped_line_breaks_are_told(
    box: Toolbox, ws: Path, name: str, content: str, noted: bool
) -> None:
    done = await box.call("write_file", {"path": name, "content": content})
    assert ("in two characters" in done.text) == noted
    assert (ws / name).read_text() == content


async def test_escaped_line_breaks_of_an_edit_are_told(box: Toolbox, ws: Path) -> None:
    (ws / "a.md").write_text("old \\n here\nend\n")
    done = await box.call("edit_file", {"path": "a.md", "old": "end", "new": r"x\ny"})
    assert "a line break is written as" in done.text
    again = await box.call("edit_file", {"path": "a.md", "old": r"x\ny", "new": "z"})
    assert "in two characters" not in again.text


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_a_name_is_found_in_its_other_form(box: Toolbox, ws: Path, form: Any) -> None:
    there = unicodedata.normalize(form, "Bücher.txt")
    sent = unicodedata.normalize("NFD" if form == "NFC" else "NFC", there)
    (ws / there).write_text("one\n")
    assert (await box.call("read_file", {"path": sent})).text.startswith("one")
    await box.call("write_file", {"path": sent, "content": "two\n"})
    assert [path.name for path in ws.iterdir()] == [there]
    assert (await box.call("write_file", {"path": "Größe.txt", "content": "new\n"})).error is None
    assert (ws / "Größe.txt").is_file()


async def test_a_glob_as_a_path_is_told(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").touch()
    for tool in ("read_file", "search_files"):
        refused = await box.call(
            tool, {"path": "*.txt", "pattern": "x"} if "s" in tool[:1] else {"path": "*.txt"}
        )
        assert refused.error is not None
        assert "no glob" in refused.error.hint


@pytest.mark.parametrize(
    "pattern", [r"version = \\d", "TODO OR version", "/VERSION = /i", '"version ="', "'version'"]
)
async def test_a_pattern_in_the_words_of_others_finds(box: Toolbox, ws: Path, pattern: str) -> None:
    (ws / "a.txt").write_text("version = 1\n")
    found = await box.call("search_files", {"pattern": pattern})
    assert found.text.startswith("1 line in 1 file"), found.text


async def test_what_is_ignored_comes_before_what_is_alike(box: Toolbox, ws: Path) -> None:
    (ws / ".gitignore").write_text("many/\n")
    (ws / "many").mkdir()
    (ws / "many/a.txt").write_text("version\n")
    (ws / "manny.txt").touch()
    (ws / "m_a_n_y.txt").touch()
    found = await box.call("find_files", {"query": "many"})
    assert "many/" in found.text.split()
    none = await box.call("search_files", {"pattern": "version", "glob": "many/*.txt"})
    assert "left out unless path leads there: what .gitignore names" in none.text


async def test_lists_are_taken_as_python_writes_them(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("one\n")
    edits = "[{'old': 'one', 'new': \"it's\"}]"
    done = await box.call("edit_file", {"path": "a.txt", "edits": edits})
    assert done.error is None
    assert (ws / "a.txt").read_text() == "it's\n"


async def test_a_patch_without_its_spaces_is_told(box: Toolbox, ws: Path) -> None:
    (ws / "r.py").write_text("def a():\n    return 1\n")
    patch = "--- r.py\n+++ r.py\n@@ -1,2 +1,3 @@\ndef a():\n+    # new\n    return 1\n"
    refused = await box.call("apply_patch", {"patch": patch})
    assert refused.error is not None
    assert "begins with a space, - or +" in refused.error.message


async def test_a_pattern_that_is_none_is_given_as_plain_text(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("total_price(\n")
    sent = {"path": "a.txt", "pattern": "total_price(", "replacement": "x"}
    refused = await box.call("transform_text", sent)
    assert refused.error is not None
    assert refused.error.hint.endswith(r"As plain text: total_price\(")


async def test_a_tool_outside_of_the_profile_has_another_way(ws: Path) -> None:
    async with Toolbox(workspace=ws, profile="default") as box:
        refused = await box.call("delete_path", {"path": "a"})
    assert refused.error is not None
    assert refused.error.hint.startswith("run_command can do it")


async def test_other_words_for_where_and_for_sure(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("old\n")
    await box.call("archive_files", {"paths": ["a.txt"], "archive": "x.zip"})
    done = await box.call("archive_files", {"archive": "x.zip", "to": "out"})
    assert done.error is None, done.text
    assert (ws / "out/a.txt").read_text() == "old\n"
    change = {"pattern": "old", "replacement": "new", "path": "out"}
    await box.call("replace_in_files", {**change, "apply": False})
    assert (ws / "out/a.txt").read_text() == "old\n"
    await box.call("replace_in_files", {**change, "apply": True})
    assert (ws / "out/a.txt").read_text() == "new\n"
