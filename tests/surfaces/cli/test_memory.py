"""`toolcrib memory` and the import of what other systems remember: all of it is the person's."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.surfaces.cli.program import Ended
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import MemoryDraft, Origin
from toolcrib.memory.projects import Projects
from toolcrib.surfaces.cli.main import main
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(240)
SECRET = "ghp_" + "a1B2" * 10


@pytest.fixture
def here(
    tmp_path: Path,
    own_state: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ended]:
    """The same within this process, in an empty workspace: many calls in little time."""
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")

    def run(*words: str, env: Mapping[str, str] | None = None) -> Ended:
        with monkeypatch.context() as patched:
            for name, value in (env or {}).items():
                patched.setenv(name, value)
            capsys.readouterr()
            code = main(words)
            return Ended(code, *capsys.readouterr())

    return run


def test_a_person_lists_edits_deletes_and_takes_back(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    program, folder = here, tmp_path / "workspace"
    source = folder / "mine.jsonl"
    lines = [{"fact": "Anna likes green tea", "tags": ["drinks"]}, {"fact": "The build uses tox"}]
    source.write_text("\n".join(map(json.dumps, [*lines, {"fact": f"key {SECRET}"}])))
    done = program("memory", "import", "mine.jsonl")
    assert done.code == 0, done.err
    assert "2 memories taken over" in done.out
    assert "left out, line or item 3: a secret" in done.out
    assert "1: Anna likes green tea" in program("memory").out
    assert "1 of 2" in program("memory", "--limit", "1").out
    assert "tox" not in program("memory", "search", "which tea").out
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\np = pathlib.Path(sys.argv[1])\n"
        "p.write_text(p.read_text().replace('green', 'black'))\n"
    )
    env = {"EDITOR": f"{sys.executable} {editor}"}
    assert "Changed memory 1" in program("memory", "edit", "1", env=env).out
    displayed = program("memory", "show", "1").out
    assert displayed.startswith("1: Anna likes black tea")
    assert "before: Anna likes green tea" in displayed
    assert program("memory", "edit", "1", env={"EDITOR": "false"}).code == 1
    assert program("memory", "edit", "1", env={"EDITOR": "/no/such"}).code == 1
    assert program("memory", "delete", "2").code == 1, "nobody agreed"
    assert "Deleted 1 memory." in program("memory", "delete", "2", "--yes").out
    assert "tox" not in program("memory").out
    assert "tox" in program("memory", "undo").out
    assert "tox" in program("memory").out
    assert "green" in program("memory", "undo").out
    # What goes out comes in again, elsewhere.
    for name in ("out.md", "out.jsonl"):
        assert program("memory", "export", name).code == 0
        assert program("memory", "export", name).code == 2, "never over a file"
        again = {"TOOLCRIB_DATA": str(tmp_path / name)}
        assert "2 memories taken over" in program("memory", "import", name, env=again).out
        assert "drinks" in program("memory", env=again).out
    assert program("memory", "export").out == (folder / "out.md").read_text()
    everything = program("memory", "show").out
    assert "Memories: 2" in everything
    assert program("memory", "delete", "--all", "--yes").code == 0
    assert "Memories: 0" in program("memory", "show").out
    assert program("memory", "undo").code == 1
    for words in (("edit",), ("delete", "x"), ("import",), ("import", "gone.md"), ("show", "-1")):
        assert program("memory", *words, "--yes").code == 2, words
    assert program("memory", "show", "99").code == 1


def test_an_export_comes_back_as_it_was_and_adds_nothing_where_it_is_known(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    other = tmp_path / "other"
    other.mkdir()

    async def save() -> None:
        async with Toolbox(workspace=folder) as box:
            await box.call("manage_projects", {"action": "register", "name": "Shop", "path": "."})
            for scope in ("user", "project", "session"):
                fact = {"fact": f"A fact, of the {scope}.", "scope": scope, "tags": ["one", "two"]}
                (await box.call("save_memory", fact)).raise_for_error()
            for fact in (
                "[ ] buy milk",
                '"quoted" <!-- {} --> text',
                "first\u2028second",
                "# no title",
            ):
                (await box.call("save_memory", {"fact": fact})).raise_for_error()
            memories = box._services.use(Memories)
            draft = MemoryDraft(
                "From a page", created=1e9, outside=True, source="https://a.example"
            )
            await memories.save(draft, Origin(private=False))
            await memories.save(MemoryDraft("", path="/memories/empty.md"), Origin())
            # Two that one would take the other's place of, were they said one after the other.
            await memories.save(MemoryDraft("The port of the server is 9090"), Origin())
            second = await memories.save(MemoryDraft("The shop opens at noon"), Origin())
            changes = {"fact": "The port of the server is 8080", "tags": ("old",)}
            await memories.update(second.memory.id, None, Origin(), **changes)

    async def stored() -> list[str]:
        async with Toolbox(workspace=other) as box:
            found = await box._services.use(Memories).listed(limit=100)
            projects = {f"project:{p.id}": p.path for p in await box._services.use(Projects).all()}
            same = {"id": 0, "version": 0}
            return sorted(
                str(replace(m, scope=projects.get(m.scope, m.scope), **same))  # type: ignore[arg-type]
                for m in found.memories
            )

    asyncio.run(save())
    before = asyncio.run(stored())
    assert len(before) == 11
    for name in ("out.md", "out.jsonl"):
        assert here("memory", "export", name).code == 0
        again = here("memory", "import", name)
        assert "0 memories taken over, 11 known already" in again.out, again
        assert asyncio.run(stored()) == before
    for name in ("out.md", "out.jsonl"):
        assert here("memory", "delete", "--all", "--yes").code == 0
        done = here("memory", "import", name)
        assert "11 memories taken over" in done.out, done
        assert asyncio.run(stored()) == before, name


def test_a_broken_file_is_refused_whole(here: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "workspace" / "broken.jsonl").write_text('{"fact": "one"}\n{"fact": \n')
    done = here("memory", "import", "broken.jsonl")
    assert done.code == 2
    assert "line or item 2" in done.err
    assert "Nothing is remembered" in here("memory").out
    # What is no text is broken too, whatever it is called.
    for name, content in (("a.md", b"- one\n- \xff\xfe\x80"), ("a.db", b"one\n\0\x01 two"),
                          ("a.json", b"\x80")):  # fmt: skip
        (tmp_path / "workspace" / name).write_bytes(content)
        done = here("memory", "import", name)
        assert done.code == 2, done
        assert f"line or item {content.count(10) + 1}: it is no text" in done.err, done
    assert "Nothing is remembered" in here("memory").out
    (tmp_path / "workspace" / "empty.md").write_text("# Facts\n")
    assert "undo" not in here("memory", "import", "empty.md").out


def test_tags_that_are_broken_do_not_stop_an_import(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "workspace" / "a.db")) as connection, connection:
        connection.execute("CREATE TABLE memories (fact TEXT, tags TEXT)")
        connection.execute("INSERT INTO memories VALUES ('Anna likes tea', '[a, b')")
    assert "1 memory taken over" in here("memory", "import", "a.db").out


def test_files_of_the_tool_memory_come_back_twice_the_same(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    line = {"fact": "one\ntwo", "path": "/memories/notes.md"}
    (tmp_path / "workspace" / "files.jsonl").write_text(json.dumps(line))
    assert "1 memory taken over" in here("memory", "import", "files.jsonl").out
    assert "0 memories taken over, 1 known" in here("memory", "import", "files.jsonl").out


def test_the_states_of_the_work_are_shown_and_go_with_the_rest(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    async def work() -> None:
        async with Toolbox(workspace=tmp_path / "workspace") as box:
            await box.call("write_file", {"path": "a.txt", "content": "x"}, session="a")

    asyncio.run(work())
    displayed = here("memory", "show").out
    assert "States of the work: 2" in displayed
    assert "a.txt" in displayed.partition("States of the work")[2]
    assert "2 states" in here("memory", "delete", "--all", "--yes").out
    assert "States of the work: 0" in here("memory", "show").out


def test_what_other_systems_remember_is_taken_over(
    here: Callable[..., Ended], tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    database = folder / ".memories.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE memories (id, fact TEXT, tags TEXT, created_at TEXT)")
        connection.executemany(
            "INSERT INTO memories VALUES (?, ?, ?, ?)",
            [
                (1, "Anna likes tea", '["a"]', "2025-01-02T03:04:05Z"),
                (2, "Bert likes beer", "b,c", None),
            ],
        )
        connection.execute("CREATE TABLE settings (name TEXT, value TEXT)")
        connection.execute("INSERT INTO settings VALUES ('theme', 'dark')")
    plans = {
        "plans": [
            {
                "id": "p1",
                "goal": "Ship",
                "steps": [
                    {"text": "Build", "status": "done"},
                    {"text": "Test", "status": "in_progress"},
                    {"text": "Upload", "status": "blocked", "note": "a key"},
                ],
            }
        ]
    }
    (folder / ".ai_toolbox_plans.json").write_text(json.dumps(plans))
    memory = {"entries": [{"id": "m1", "content": "Carla likes milk", "timestamp": 1700000000000}]}
    (folder / ".ai_toolbox_memory.json").write_text(json.dumps(memory))
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    named = here("call", "list_memories")
    assert "toolcrib import .memories.db" in named.out + named.err
    displayed = here("import")
    assert ".memories.db: 2 memories" in displayed.out, displayed.err
    assert "Nothing is remembered" in here("memory").out
    done = here("import", "--write")
    assert done.code == 0, done.err
    listed = here("memory").out
    assert "(2025-01-02, project, a, from .memories.db)" in listed
    assert "Bert likes beer" in listed
    assert "(2023-11-14, project, from" in listed
    assert "dark" not in listed
    plan = here("call", "get_plan", "id=1").out
    for line in ("1. [x] Build", "2. [>] Test", "3. [!] Upload (a key)"):
        assert line in plan
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert "2 known already" in here("import", ".memories.db", "--write").out
    database.write_bytes(database.read_bytes()[:2000])
    assert here("import", ".memories.db", "--write").code == 2
