"""Every tool of the groups files, backup, workspace and documents, used by a real client."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, Outcome, stdio
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.toolbox import installed

pytestmark = pytest.mark.timeout(120)
GROUPS = ("files", "backup", "workspace", "documents")
FOLLOWED = 40
TOOLS_USED = 29
"""Of these groups; a new tool is hinted at until it takes part."""
SOURCE = "def first():\n    total = 0\n    return total\n\n\ndef second():\n    return 2\n"
PATCH = """*** Begin Patch
*** Update File: src/app.py
@@ def second():
-    return 2
+    return 3
*** Add File: src/new.py
+NEW = True
*** End Patch"""


class Conversation:
    """A model's side of a session: sends calls, reads what it is told, does what that says."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self.used: set[str] = set()
        self._names = {plain(t.name): t.name for t in Registry(installed())}

    async def tries(self, name: str, /, **arguments: Any) -> Outcome:
        self.used.add(self._names.get(plain(name), name))
        outcome: Outcome = await self._send(name, arguments)
        assert len(outcome.text) < 30_000, (name, len(outcome.text))
        return outcome

    async def __call__(self, name: str, /, **arguments: Any) -> str:
        outcome = await self.tries(name, **arguments)
        assert outcome.code is None, (name, arguments, outcome.text)
        return outcome.text

    async def fails(self, name: str, code: str, /, **arguments: Any) -> str:
        outcome = await self.tries(name, **arguments)
        assert outcome.code == code, (name, arguments, outcome.text)
        assert len(outcome.text.splitlines()) > 1, "an error says what to do instead"
        return outcome.text

    async def whole(self, name: str, /, **arguments: Any) -> list[str]:
        """The answer and all that its last lines lead to, read from the text alone."""
        texts = [await self(name, **arguments)]
        for _ in range(FOLLOWED):
            found = re.search(r"^To go on: (\w+) (\{.*\})$", texts[-1], re.MULTILINE)
            if not found:
                return texts
            texts.append(await self(found[1], **json.loads(found[2])))
        raise AssertionError(f"{name} does not come to an end")


def filled(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src/app.py").write_text(SOURCE)
    (folder / "windows.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (folder / "long.txt").write_text("".join(f"entry {n}: {n * n}\n" for n in range(1, 2001)))
    (folder / "table.csv").write_text("name,size\nmoss,3\n")
    (folder / ".env").write_text("KEY=secret\n")
    (folder / "many").mkdir()
    for number in range(1200):
        (folder / f"many/a-file-with-a-long-name-{number:04}.txt").touch()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    filled(made)
    return made


@pytest.mark.rows("C001", "C002", "C010", "C013", "C021", "C024", "E05", "E12", "E21", "E24")
async def test_a_real_client_uses_the_tools(folder: Path, tmp_path: Path, hint) -> None:
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
        "policy": {"rules": [{"action": "allow", "tool": "delete_backup"}]},
    }
    async with stdio(config, tmp_path, MODERN) as send:
        say = Conversation(send)
        await looks(say)
        await reads(say, folder)
        await edits(say, folder)
        await moves(say, folder)
        await takes_back(say, folder)
        await keeps(say, folder)
        await goes(say, folder)
    wanted = {t.name for t in Registry(installed()) if t.group in GROUPS}
    assert len(wanted & say.used) >= TOOLS_USED
    for name in sorted(wanted - say.used):
        hint(f"{name}: no real client calls it; add it to a conversation in {__name__}")


async def looks(say: Conversation) -> None:
    assert "src/" in await say("list_directory")
    pages = await say.whole("list_directory", path="many")
    assert len(pages) > 1
    displayed = re.findall(r"name-(\d{4})\.txt", "\n".join(pages))
    assert sorted(displayed) == [f"{n:04}" for n in range(1200)]
    assert "app.py" in await say("directory_tree", depth="2")
    assert "src/app.py" in await say("find_files", query="*.py")
    assert "src/app.py" in await say("find_files", query="appp.py")
    text = await say("search_files", pattern="return", glob="*.py")
    assert "src/app.py" in text
    assert "3:     return total" in text
    pages = await say.whole("search_files", pattern=r"entry \d+", path="long.txt", limit=400)
    numbers = re.findall(r"^  (\d+): entry (\d+):", "\n".join(pages), re.MULTILINE)
    assert [int(line) for line, _ in numbers] == list(range(1, 2001))
    assert all(line == number for line, number in numbers)
    assert "find_files" in await say("search_files", pattern="*.py")


async def reads(say: Conversation, folder: Path) -> None:
    refusal = await say.fails("read_file", "not_found", path="app.py")
    path = re.search(r"Did you mean (\S+)\?", refusal)
    assert path
    assert "total = 0" in await say("read_file", path=path[1])
    pages = await say.whole("read_file", path="long.txt")
    seen = re.findall(r"^entry (\d+): \d+$", "\n".join(pages), re.MULTILINE)
    assert [int(n) for n in seen] == list(range(1, 2001))
    assert "entry 2000:" in await say("read_file", path="long.txt", start=-1)
    assert "1777|entry 1777" in await say("read_file", path="long.txt", focus="1777")
    assert "CRLF" in await say("read_file", paths=["windows.txt", "src/app.py"])
    assert ".env" in await say.fails("read_file", "path_denied", path=".env")
    hint = await say.fails("read_file", "path_denied", path="/etc/passwd")
    assert str(folder) in hint
    assert "line ends: crlf" in await say("file_info", path="windows.txt")
    assert "| moss | 3 |" in await say("read_document", path="table.csv")
    assert "+one" in await say("diff_files", a="src/app.py", b="windows.txt")


async def edits(say: Conversation, folder: Path) -> None:
    source = folder / "src/app.py"
    assert "created" in await say("write_file", path="notes/a.md", content="# A\n")
    assert "1 line added" in await say("append_file", path="notes/a.md", content="more\n")
    refusal = await say.fails(
        "edit_file", "bad_input", path="src/app.py", old="    return", new="    yield"
    )
    assert "2 times, at lines 3, 7" in refusal
    assert "all=true" in refusal
    assert "2 places" in await say(
        "edit_file", path="src/app.py", old="    return", new="    yield", all=True
    )
    done = await say(
        "edit_file",
        path="src/app.py",
        edits=[
            {"old": "yield total", "new": "return total"},
            {"old": "yield 2", "new": "return 2"},
        ],
    )
    assert "2 places changed" in done
    assert source.read_text() == SOURCE
    near = await say.fails("edit_file", "not_found", path="src/app.py", old="totl = 0", new="x")
    assert "2      total = 0" in near
    wrong = await say.fails(
        "edit_lines",
        "conflict",
        path="windows.txt",
        operation="replace",
        start=1,
        end=1,
        content="TWO",
        expect="two",
    )
    number = re.search(r"^ +(\d+)  two$", wrong, re.MULTILINE)
    assert number
    line = int(number[1])
    await say(
        "edit_lines", path="windows.txt", operation="replace", start=line, end=line, content="TWO"
    )
    assert (folder / "windows.txt").read_bytes() == b"one\r\nTWO\r\nthree\r\n"
    assert "1 hunk applied" in await say("apply_patch", patch=PATCH, dry_run="true")
    assert not (folder / "src/new.py").exists()
    assert "src/new.py created: 1 line" in await say("apply_patch", patch=PATCH)
    displayed = await say("replace_in_files", pattern="total", replacement="count", path="src")
    assert "Would change 2 matches in 1 file" in displayed
    assert "dry_run=false" in displayed
    await say("replace_in_files", pattern="total", replacement="count", path="src", dry_run="false")
    assert "return count" in source.read_text()


async def moves(say: Conversation, folder: Path) -> None:
    assert "Made" in await say("make_directory", path="old/deep")
    refusal = await say.fails("move_path", "conflict", source="notes/a.md", destination="old/deep")
    inside = re.search(r"old/deep/a\.md", refusal)
    assert inside
    await say("move_path", source="notes/a.md", destination=inside[0])
    assert "1 file" in await say("copy_path", source="old", destination="older")
    assert "2 files" in await say("archive_files", action="pack", archive="a.zip", paths=["src"])
    assert "src/new.py" in await say("archive_files", action="list", archive="a.zip")
    await say("archive_files", action="unpack", archive="a.zip", folder="out")
    assert (folder / "out/src/new.py").read_text() == "NEW = True\n"
    text = await say("delete_path", path="out")
    assert "undo_changes" in text
    await say.fails("delete_path", "path_denied", path=".")


async def takes_back(say: Conversation, folder: Path) -> None:
    changes = await say("list_changes", limit=3)
    assert re.search(r"^1  .*delete_path: out", changes, re.MULTILINE)
    again = re.search(r"id=(\d+) makes this undone", await say("undo_changes"))
    assert again
    assert (folder / "out/src/new.py").exists()
    await say("undo_changes")
    assert not (folder / "out").exists()
    await say("undo_changes", path="src/app.py", steps=1)
    assert "return total" in (folder / "src/app.py").read_text()


async def keeps(say: Conversation, folder: Path) -> None:
    assert "Left out: .env" in await say("create_backup", name="before")
    (folder / "windows.txt").unlink()
    assert "before" in await say("list_backups")
    assert "confirm=true" in await say("restore_backup", name="before")
    assert "1 missing" in await say("restore_backup", name="before", confirm=True)
    assert (folder / "windows.txt").read_bytes() == b"one\r\nTWO\r\nthree\r\n"
    assert "confirm=true" in await say("delete_backup", name="before")
    await say("delete_backup", name="before", confirm=True)
    await say.fails("restore_backup", "not_found", name="before")


async def goes(say: Conversation, folder: Path) -> None:
    await say("watch_paths", action="start", path="src")
    await say("write_file", path="src/seen.txt", content="x\n")
    reported = await say("watch_paths", action="read", path="src", wait=10)
    assert "added src/seen.txt" in reported
    assert ".toolcrib-" not in reported
    await say("watch_paths", action="stop", path="src")
    assert str(folder) in await say("get_workspace")
    await say("change_directory", path="src")
    assert "app.py" in await say("list_directory")
    await say("manage_profiles", action="save", name="sources", notes="the code")
    await say("change_directory", path="..")
    assert "the code" in await say("manage_profiles", action="switch", name="sources")
    assert "total" in await say("read_file", path="app.py")
    await say("change_directory", path=str(folder))
    assert "src/" in await say("project_overview")
