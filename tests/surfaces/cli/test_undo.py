"""A person takes back, from anywhere, what a model changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.program import Program
from toolcrib import Toolbox

pytestmark = pytest.mark.timeout(180)


def test_the_last_change_is_taken_back_from_anywhere(program: Program) -> None:
    assert program("undo").code == 1
    write = ("call", "write_file", "path=a.txt")
    program(*write, "content=one")
    program(*write, "content=two")
    elsewhere = Program(Path(program.env["HOME"]), program.env)
    listed = elsewhere("undo", "--list").out
    assert listed.count("write_file") == 2
    done = elsewhere("undo")
    assert (done.code, (program.folder / "a.txt").read_text()) == (0, "one")
    assert "Taken back: write_file" in done.out
    assert str(program.folder / "a.txt") in done.out
    assert "undo --id 3" in done.out, "an undo is a step too"
    assert elsewhere("undo", "--id", "3").code == 0
    assert (program.folder / "a.txt").read_text() == "two"
    # In a folder with changes of its own, those are meant.
    other = Program(program.folder.parent / "other", program.env)
    other.folder.mkdir()
    other(*write, "content=other")
    assert program("undo", "--path", "a.txt").code == 0
    assert (program.folder / "a.txt").read_text() == "one"
    assert (other.folder / "a.txt").read_text() == "other"


async def test_a_model_does_not_make_again_what_the_user_took_back(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("call", "write_file", "path=a.txt", "content=one")
    assert program("undo").code == 0
    for name, value in program.env.items():
        monkeypatch.setenv(name, value)
    async with Toolbox(workspace=program.folder) as box:
        refused = await box.call("undo_changes", {"id": 2})
    assert refused.error is not None
    assert "toolcrib undo --id 2" in refused.error.hint
    assert not (program.folder / "a.txt").exists()
    assert program("undo", "--id", "2").code == 0
    assert (program.folder / "a.txt").read_text() == "one"


def test_what_cannot_be_taken_back_is_said_to_a_person(program: Program) -> None:
    program("call", "write_file", "path=a.txt", "content=one")
    done = program("undo", "5")
    assert (done.code, done.out) == (1, "")
    assert "Only 1 step can be taken back here, not 5." in done.err
    assert "`toolcrib undo 1` takes back all" in done.err
    assert (program.folder / "a.txt").exists()
    assert "There is no step 77 here" in program("undo", "--id", "77").out
    done = program("undo", "0")
    assert done.code == 2
    assert "STEPS must be at least 1" in done.err
    assert program("undo", "--id", "1").code == 0
    done = program("undo", "--id", "1")
    assert done.code == 1
    assert "Step 1 is undone already, by step 2" in done.err
    assert "toolcrib undo --list" in done.err
    assert "list_changes" not in done.err


def test_what_was_changed_since_is_not_lost(program: Program) -> None:
    program("call", "write_file", "path=a.txt", "content=one")
    (program.folder / "a.txt").write_text("by hand")
    done = program("undo")
    assert done.code == 1
    assert "changed" in done.err
    assert (program.folder / "a.txt").read_text() == "by hand"


def test_on_a_terminal_it_asks(program: Program) -> None:
    program("call", "write_file", "path=a.txt", "content=one")
    done = program.on_terminal("undo", type_after={"Take back this? [y/N]": "n\n"})
    assert done.code == 1
    assert (program.folder / "a.txt").exists()
    program.on_terminal("undo", type_after={"Take back this? [y/N]": "y\n"})
    assert not (program.folder / "a.txt").exists()
