"""Whether places led elsewhere for a moment, such as by a link."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="by inotify")

if sys.platform == "linux":
    from toolcrib.files import tree_events
    from toolcrib.files.tree_events import MoveEvents


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "above/in/root").mkdir(parents=True)
    (tmp_path / "other/root").mkdir(parents=True)
    return tmp_path / "above/in/root"


@pytest.fixture(params=["watches", "none left"])
def watches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With watches, and as for a user who has none left: the kernel's limit cannot be lowered."""
    if request.param == "none left":

        class Exhausted:
            def inotify_init1(self, _: int) -> int:
                return -1

        monkeypatch.setattr(tree_events, "_libc", Exhausted)
    return str(request.param)


def swap(folder: Path) -> None:
    """A link in its place, and back again."""
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    folder.symlink_to("../other")
    folder.unlink()
    elsewhere.rename(folder)


async def test_a_swap_that_was_taken_back_is_told(place: Path, watches: str) -> None:
    for folder in (place, place.parent, place.parent.parent):
        events = MoveEvents([str(place)])
        assert events.moved() == ""
        swap(folder)
        assert events.moved(), folder
        events.close()
        events.close()


@each_case("how", ["unlink", "rename"])
def test_a_swap_of_a_file_is_told(place: Path, watches: str, how: str) -> None:
    file = place / f"file-{how}"
    file.write_text("x")
    Path(f"{file}.other").hardlink_to(file)
    events = MoveEvents([str(file)])
    assert events.moved() == ""
    if how == "unlink":
        file.unlink()
        file.symlink_to("/nowhere")
        file.unlink()
        file.hardlink_to(f"{file}.other")
    else:
        swap(file)
    assert events.moved(), how
    events.close()


def test_what_is_written_in_a_file_is_no_move(place: Path) -> None:
    (place / "file").write_text("x")
    events = MoveEvents([str(place / "file")])
    (place / "file").write_text("more")
    (place / "file").read_text()
    assert events.moved() == ""
    events.close()


async def test_what_is_written_beside_and_beneath_is_no_move(place: Path) -> None:
    events = MoveEvents([str(place), "/usr/bin/env"])
    for folder in (place, place.parent, place.parent.parent):
        (folder / "new").write_text("x")
        (folder / "new").rename(folder / "newer")
        (folder / "in-it").mkdir()
        (folder / "in-it").rename(folder / "moved")
    assert events.moved() == ""
    events.close()


def test_what_is_made_in_one_folder_alone_is_no_move(place: Path, watches: str) -> None:
    for folder in (place, place.parent, place.parent.parent):
        events = MoveEvents([str(place)])
        (folder / "new").write_text("x")
        (folder / "new").unlink()
        assert events.moved() == "", folder
        events.close()


async def test_what_is_removed_is_told(place: Path, watches: str) -> None:
    events = MoveEvents([str(place)])
    place.rmdir()
    assert events.moved()
    place.mkdir()
    assert events.moved()
    events.close()


@each_case("leads", ["above/in/link", "above/link/root", "above/in/missing"])
def test_where_a_link_leads_is_refused(place: Path, leads: str) -> None:
    top = place.parents[2]
    for link, target in (("above/in/link", "root"), ("above/link", "in")):
        if not (top / link).is_symlink():
            (top / link).symlink_to(target)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=r"No such|symbolic links"):
        MoveEvents([str(top / leads)])
    assert len(os.listdir("/proc/self/fd")) == before
