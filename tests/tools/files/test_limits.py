"""Closed folders, large trees, anchors, new files: what the tools say and leave alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.files.changes.conftest import Bench, picture
from toolcrib.core.errors import Conflict
from toolcrib.files.changes import undo_log
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.edits import Edit, resolve_edits
from toolcrib.toolbox import Toolbox


async def ok(box: Toolbox, name: str, /, **arguments: object) -> str:
    result = await box.call(name, arguments)
    assert result.error is None, (name, result.error)
    return result.text


@pytest.mark.parametrize("tool", ["edit_file", "edit_lines"])
async def test_anchors_are_shown_and_taken(box: Toolbox, ws: Path, tool: str) -> None:
    (ws / "f.py").write_text("a = 1\nb = 2\nc = 3\n")
    displayed = await ok(box, "read_file", path="f.py", anchors=True)
    found = re.search(r"^(2:[0-9a-f]{4})\|b = 2$", displayed, re.MULTILINE)
    assert found
    if tool == "edit_file":
        await ok(box, tool, path="f.py", old=found[1], new="b = 5")
    else:
        await ok(box, tool, path="f.py", operation="replace", expect=found[1], content="b = 5")
    assert (ws / "f.py").read_text() == "a = 1\nb = 5\nc = 3\n"


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", "{"), ("a.toml", "a ="), ("a.yaml", "a: [1")]
)
async def test_a_new_file_that_does_not_parse(
    box: Toolbox, ws: Path, name: str, content: str
) -> None:
    assert "Warning: it is not valid" in await ok(box, "write_file", path=name, content=content)
    assert (ws / name).read_text() == content


@pytest.mark.parametrize("name", [".husky/pre-commit", ".githooks/pre-push"])
async def test_hooks_of_other_places_are_not_written(box: Toolbox, name: str) -> None:
    result = await box.call("write_file", {"path": name, "content": "#!/bin/sh\n"})
    assert result.error is not None
    assert result.error.code == "path_denied"


async def test_a_dry_run_of_many_files_looks_closely_at_few(box: Toolbox, ws: Path) -> None:
    for number in range(300):
        (ws / f"f{number}").write_bytes(b"here\r\n" if number == 7 else b"there is none\n")
    text = await ok(box, "replace_in_files", pattern="^here$", replacement="now")
    assert "1 match in 1 file" in text


def test_many_edits_are_those_of_each_alone() -> None:
    text = "".join(f"    value_{n} = call({n})\n" for n in range(400))
    edits = [Edit(f"value_{n} = call({n})  ", f"value_{n} = done({n})") for n in range(0, 400, 3)]
    edits += [Edit(f"call({n})", f"called({n})") for n in range(1, 400, 3)]
    together = resolve_edits(text, edits).splices
    step = text
    for edit in edits:
        for splice in reversed(resolve_edits(step, [edit]).splices):
            step = step[: splice.start] + splice.new + step[splice.end :]
    for splice in reversed(together):
        text = text[: splice.start] + splice.new + text[splice.end :]
    assert text == step


async def test_an_undo_that_another_process_has_begun(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    one, two = Bench.on(tmp_path / "ws"), Bench.on(tmp_path / "ws")
    await one.write("f", b"one")
    seen = await two.changes._log.read(undo_log.last)
    await one.undo()
    step = Step("undo_changes", undoes=(1,), log_position=seen)
    step.write(two.path("g"), b"x")
    with pytest.raises(Conflict, match="at this moment"):
        await two.apply(step)
    assert picture(tmp_path / "ws") == {}
    await one.services.close()
    await two.services.close()


async def test_what_changes_between_a_dry_run_and_the_change(box: Toolbox, ws: Path) -> None:
    """The change is made of the file as it is now, or refused: never of what was shown before."""
    (ws / "f").write_text("one\ntwo\nthree\n")
    call = {"pattern": "two", "replacement": "2"}
    assert "1 match" in await ok(box, "replace_in_files", **call)
    (ws / "f").write_text("zero\ntwo\ntwo\n")
    await ok(box, "replace_in_files", **call, dry_run=False)
    assert (ws / "f").read_text() == "zero\n2\n2\n"
    (ws / "f").write_text("one\ntwo\nthree\n")
    patch = "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n three\n*** End Patch"
    await ok(box, "apply_patch", patch=patch, dry_run=True)
    (ws / "f").write_text("one\nother\nthree\n")
    result = await box.call("apply_patch", {"patch": patch})
    assert result.error is not None
    assert (ws / "f").read_text() == "one\nother\nthree\n"
    (ws / "f").write_text("one\ntwo\nthree\n")
    await ok(box, "apply_patch", patch=patch, dry_run=True)
    (ws / "f").unlink()
    result = await box.call("apply_patch", {"patch": patch})
    assert result.error is not None
    assert not (ws / "f").exists()


@pytest.mark.timeout(180)
async def test_large_folders_are_bounded(box: Toolbox, ws: Path) -> None:
    """50,000 files in one folder: each answer is short, says how many, and comes to an end."""
    (ws / "many").mkdir()
    for number in range(50_000):
        (ws / f"many/f{number:05}").touch()
    for name, arguments in (
        ("list_directory", {"path": "many"}),
        ("directory_tree", {"path": "."}),
        ("find_files", {"query": "f0"}),
        ("replace_in_files", {"pattern": "x", "replacement": "y", "path": "many"}),
    ):
        result = await box.call(name, arguments)
        code = result.error.code if result.error else ""
        assert code == ("no_results" if name == "replace_in_files" else ""), result.error
        assert len(result.render()) < 30_000, name
