"""The index of a workspace: what is found and cited, what is read again, what is never in it."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.documents import office, pdfs
from tests.servers.model import Turn, model_server
from toolcrib.core.config import data_folder
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

PAGES = [
    pdfs.page_of(
        [(20, 72, 720, f"Chapter {n}"), (11, 72, 690, f"The beacon of islet{n} burns green.")]
    )
    for n in range(1, 31)
]
HARBOUR = (
    "# Harbour\n\nThe harbour master is called Ottoline.\n\n## Tides\n\nHigh tide comes late.\n"
)
PROGRAM = """\"\"\"Tolls.\"\"\"


def compute_toll(ship):
    return ship.length * 3


class Ledger:
    pages = 9
"""


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "notes").mkdir(parents=True)
    (folder / "beacons.pdf").write_bytes(pdfs.pdf(PAGES, "Beacons"))
    (folder / "report.docx").write_bytes(office.docx())
    (folder / "notes" / "harbour.md").write_text(HARBOUR)
    (folder / "tolls.py").write_text(PROGRAM)
    (folder / "ships.csv").write_text("ship,length\nMerganser,31\nTern,12\n")
    return folder


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened


async def ask(box: Toolbox, tool: str, /, **arguments: Any) -> Result:
    result = await box.call(tool, arguments)
    assert result.error is None, result.error
    return result


async def first(box: Toolbox, query: str, **arguments: Any) -> dict[str, Any]:
    result = await ask(box, "search_documents", query=query, **arguments)
    found: dict[str, Any] = result.data["passages"][0]
    return found


@pytest.mark.rows("C151", "C152", "C153", "C154", "C155", "C164")
async def test_passages_are_cited_by_page_and_line(box: Toolbox, ws: Path) -> None:
    """The first search indexes by itself."""
    result = await ask(box, "search_documents", query="Which beacon of islet17 burns?")
    assert re.search(r"^\[1\] beacons\.pdf, page 17 \(score 1\.00, ", result.text, re.MULTILINE)
    assert result.data["passages"][0]["page"] == result.data["passages"][0]["last_page"] == 17
    harbour = await first(box, "who is the harbour master")
    assert (harbour["path"], harbour["line"]) == ("notes/harbour.md", 1)
    toll = await first(box, "compute toll", kind="code")
    assert (toll["path"], toll["kind"]) == ("tolls.py", "code")
    lines = PROGRAM.split("\n")[toll["line"] - 1 : toll["last_line"]]
    assert "\n".join(lines).strip() == toll["text"].strip()
    assert (await first(box, "merganser"))["path"] == "ships.csv"
    assert (await first(box, "KESTREL marker", kind="docx"))["path"] == "report.docx"
    assert (await first(box, "master", kind="md"))["path"] == "notes/harbour.md"
    assert (await first(box, "tide", path="notes"))["path"] == "notes/harbour.md"


async def test_what_is_cited_can_be_read_there(box: Toolbox) -> None:
    found = await first(box, "islet21 beacon")
    result = await ask(box, "read_document", path=found["path"], pages=str(found["page"]))
    assert "islet21" in result.text


async def test_nothing_relevant(box: Toolbox) -> None:
    result = await box.call(
        "search_documents", {"query": "volcano eruptions of Java near the harbour"}
    )
    assert result.error is not None
    assert result.error.code == "no_results"
    assert re.search(r"Nothing relevant in 5 indexed files \(best score 0\.\d+, below 0\.3\)",
                     result.error.message)  # fmt: skip
    nothing = await box.call("search_documents", {"query": "xylophone"})
    assert "(no match)" in nothing.render()


async def test_only_what_changed_is_read_again(box: Toolbox, ws: Path) -> None:
    assert (await ask(box, "index_documents")).data["read"] == 5
    assert (await ask(box, "index_documents")).data["read"] == 0
    os.utime(ws / "beacons.pdf", (1, 1))  # looks otherwise, holds the same
    assert (await ask(box, "index_documents")).data["read"] == 0
    (ws / "notes" / "harbour.md").write_text("# Harbour\n\nThe master is called Bertram now.\n")
    (ws / "new.txt").write_text("A walrus was seen.")
    (ws / "tolls.py").unlink()
    (ws / "report.docx").rename(ws / "moved.docx")
    report = (await ask(box, "index_documents")).data
    assert (report["read"], report["removed"]) == (3, 2)
    assert (await first(box, "walrus"))["path"] == "new.txt"
    assert (await first(box, "harbour master Bertram"))["path"] == "notes/harbour.md"
    assert (await box.call("search_documents", {"query": "Ottoline"})).error is not None
    assert (await first(box, "KESTREL"))["path"] == "moved.docx"


async def test_what_may_not_be_read_is_not_there(box: Toolbox, ws: Path, tmp_path: Path) -> None:
    (ws / ".gitignore").write_text("private/\n*.log\n")
    (ws / "private").mkdir()
    places = ["private/a.md", "run.log", ".env", ".ssh/config", "node_modules/x.md", "id_rsa"]
    for name in places:
        (ws / name).parent.mkdir(exist_ok=True)
        (ws / name).write_text("The password is swordfish.")
    outside = tmp_path / "outside.md"
    outside.write_text("The password is swordfish.")
    (ws / "link.md").symlink_to(outside)
    os.link(ws / ".env", ws / "plain.md")  # a second name of a secret
    result = await box.call("search_documents", {"query": "swordfish"})
    assert result.error is not None
    assert "swordfish" not in result.text
    stored = b"".join(p.read_bytes() for p in (data_folder() / "indexes").iterdir())
    assert b"swordfish" not in stored
    refused = await box.call("search_documents", {"query": "x", "path": str(outside)})
    assert refused.error is not None
    assert refused.error.code == "path_denied"


async def test_a_file_that_became_protected_is_not_shown(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        assert (await first(box, "Ottoline"))["path"] == "notes/harbour.md"
    config = {"workspace": {"roots": [str(ws)], "protect_read": ["harbour.md"]}}
    async with Toolbox(config) as box:
        assert (await box.call("search_documents", {"query": "Ottoline"})).error is not None


async def test_bad_files_are_named_and_stop_nothing(box: Toolbox, ws: Path) -> None:
    (ws / "torn.pdf").write_bytes(b"%PDF-1.7\n1 0 obj <<")
    (ws / "empty.pdf").write_bytes(b"")
    (ws / "empty.md").write_bytes(b"")
    (ws / "torn.docx").write_bytes(office.docx()[:700])
    (ws / "data.bin").write_bytes(bytes(range(256)) * 10)
    (ws / "mixed.txt").write_bytes(
        b"caf\xe9 in latin and \xff\xfe broken bytes of the walrus\n" * 3
    )
    (ws / "wide.csv").write_text(",".join(f"c{n}" for n in range(3000)) + '\n"broken, quotes\n1,2')
    (ws / "text.pdf").write_text("Plain words under another name.")
    with (ws / "huge.txt").open("wb") as file:
        file.truncate(60_000_000)
        file.seek(0)
        file.write(b"words " * 10_000)
    (ws / "odd\nname.md").write_text("An odd walrus.")  # no call can name it
    result = await ask(box, "index_documents")
    failed = {Path(key).name for key in result.data["failed"]}
    assert {"torn.pdf", "empty.pdf", "torn.docx"} <= failed
    assert "torn.pdf: " in result.text
    assert (await first(box, "walrus"))["path"] == "mixed.txt"
    listed = (await ask(box, "list_index")).text
    assert "text.pdf (text, " in listed
    assert "huge.txt (not read: huge.txt has 60,000,000 bytes" in listed
    again = await ask(box, "index_documents")
    assert again.data["read"] == 0  # what failed is not tried again until it changes
    alone = await box.call("search_documents", {"query": "walrus", "path": "torn.pdf"})
    assert "torn.pdf could not be read" in alone.render()


async def test_many_files_are_read_by_a_job_that_goes_on_where_it_was(ws: Path) -> None:
    for number in range(120):
        (ws / f"n{number:03}.md").write_text(
            f"# Note {number}\n\nThe ship marker{number} came in.\n"
        )
    async with Toolbox(workspace=ws) as box:
        result = await ask(box, "index_documents")
        assert result.next is not None
        assert result.next.tool == "read_job"
    async with Toolbox(workspace=ws) as box:
        result = await ask(box, "index_documents")
        while result.next is not None:
            result = await ask(box, result.next.tool, **result.next.arguments)
        found = await ask(box, "search_documents", query="marker77")
        assert found.data["passages"][0]["path"] == "n077.md"
        assert found.data["files"] == 125


async def test_a_search_of_a_part_does_not_narrow_the_next_one(box: Toolbox, ws: Path) -> None:
    (ws / "more.md").write_text("Ottoline is here, too.\n")
    await box.call("search_documents", {"query": "Ottoline", "glob": "*.pdf"})
    assert (await ask(box, "search_documents", query="Ottoline", path="notes")).data["files"] == 2
    result = await ask(box, "ask_documents", question="Which files mention Ottoline?")
    assert result.text.startswith("2 of 6 files match.")


async def test_an_ignored_folder_that_was_named_stays_beside_the_whole(
    box: Toolbox, ws: Path
) -> None:
    (ws / ".gitignore").write_text("notes/\n")
    for files in (1, 5):
        named = await ask(box, "search_documents", query="Ottoline", path="notes")
        assert named.data["files"] == files
        whole = await ask(box, "search_documents", query="Ottoline")
        assert whole.data["files"] == 5
    (ws / "notes" / "harbour.md").unlink()
    assert (await ask(box, "index_documents")).data["removed"] == 1


async def test_what_was_picked_for_the_index_is_named(box: Toolbox, ws: Path) -> None:
    await ask(box, "index_documents", paths=["notes"])
    question = "Which files mention Merganser?"
    result = await ask(box, "ask_documents", question=question)
    assert 'Only what was indexed is searched: notes. path="." searches all' in result.text
    result = await ask(box, "ask_documents", question=question, path=".")
    assert result.text.startswith("1 of 5 files match.")
    assert "Only" not in (await ask(box, "ask_documents", question=question)).text
    await ask(box, "clear_index", confirm=True)
    await ask(box, "index_documents", glob="*.csv")
    result = await ask(box, "ask_documents", question="Which files mention Ottoline?", path="notes")
    assert "0 of 0 files match." in result.text
    assert "Only what was indexed is searched: . (*.csv)." in result.text


async def test_while_files_are_indexed_a_search_is_to_be_sent_again(box: Toolbox, ws: Path) -> None:
    for number in range(120):
        (ws / f"n{number:03}.md").write_text(f"The ship marker{number} came in.\n")
    refused = await box.call("search_documents", {"query": "walrus"})
    assert refused.error is not None
    assert "so far" in refused.error.message
    assert re.search(r"read_job id=\w+ .*send this call again", refused.error.hint)


async def test_sizes_of_passages_are_kept(box: Toolbox, ws: Path) -> None:
    (ws / "long.txt").write_text("".join(f"Sentence {n} says marker{n}. " for n in range(200)))
    await ask(box, "index_documents", paths=["long.txt"], chunk_size=300, overlap=50)
    found = await first(box, "marker150", limit=1)
    assert len(found["text"]) <= 300
    (ws / "long.txt").write_text("".join(f"Sentence {n} says mark{n}. " for n in range(200)))
    assert len((await first(box, "mark150", limit=1))["text"]) <= 300
    refused = await box.call("index_documents", {"paths": ["long.txt"], "chunk_size": 9})
    assert refused.error is not None


async def test_watched_files_are_followed(box: Toolbox, ws: Path) -> None:
    await ask(box, "index_documents", paths=["notes"], watch=True)
    seen: list[int] = []

    async def changed() -> None:
        while not seen:
            (ws / "notes" / "new.md").write_text(f"A narwhal surfaced {os.urandom(4).hex()}.")
            listed = await ask(box, "list_index")
            seen.extend([1] if "notes/new.md" in listed.text else [])
            await asyncio.sleep(0.05)

    await asyncio.wait_for(changed(), 60)


@pytest.mark.rows("C156")
async def test_listing_and_clearing(box: Toolbox, ws: Path) -> None:
    assert "Nothing is indexed" in (await ask(box, "list_index")).text
    await ask(box, "index_documents", paths=["notes", "tolls.py"])
    listed = await ask(box, "list_index")
    assert "notes/harbour.md (text, 1 passage" in listed.text
    assert listed.data["files"] == 2
    refused = await box.call("clear_index", {"confirm": False})
    assert refused.error is not None
    assert (await ask(box, "clear_index", confirm=True, path="tolls.py")).data["removed"] == 1
    assert (await ask(box, "list_index")).data["files"] == 1
    assert (await ask(box, "clear_index", confirm=True)).data["removed"] == 1
    assert (await ask(box, "list_index")).data["sources"] == []
    assert sorted(p.name for p in ws.iterdir() if p.is_file()) == [
        "beacons.pdf", "report.docx", "ships.csv", "tolls.py",
    ]  # fmt: skip


@pytest.mark.parametrize("damage", ["overwritten", "cut", "garbage", "emptied"])
async def test_a_broken_index_is_set_aside_built_again_and_told(ws: Path, damage: str) -> None:
    async with Toolbox(workspace=ws) as box:
        await ask(box, "index_documents")
    path = next((data_folder() / "indexes").glob("*.db"))
    content = path.read_bytes()
    path.write_bytes(
        {
            "overwritten": content[:4096] + b"\xff" * (len(content) - 4096),
            "cut": content[: len(content) // 2 + 100],
            "garbage": os.urandom(len(content)),
            "emptied": b"",
        }[damage]
    )
    async with Toolbox(workspace=ws) as box:
        result = await ask(box, "search_documents", query="Ottoline")
        assert result.data["passages"][0]["path"] == "notes/harbour.md"
        # An empty file is a new one: nothing is in it that could be kept.
        assert ("set aside" in result.text) is (damage != "emptied"), result.text
    quarantined = list(path.parent.glob(f"{path.name}.corrupt-*"))
    assert bool(quarantined) is (damage != "emptied")


@pytest.mark.parametrize("damage", ["foreign", "tables", "words"])
async def test_an_index_that_is_a_database_and_no_use_is_built_again(ws: Path, damage: str) -> None:
    async with Toolbox(workspace=ws) as box:
        await ask(box, "index_documents")
    path = next((data_folder() / "indexes").glob("*.db"))
    if damage == "foreign":
        path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        if damage == "foreign":
            connection.execute("CREATE TABLE contacts (name)")
        elif damage == "tables":
            connection.execute("DROP TABLE words")
        else:  # seen by searches alone, when the entries were compared already
            connection.execute("UPDATE words_data SET block = x'ff' WHERE id > 10")
        connection.commit()
    async with Toolbox(workspace=ws) as box:
        result = await ask(box, "search_documents", query="Ottoline")
        assert result.data["passages"][0]["path"] == "notes/harbour.md"
        assert "The index was damaged" in result.text
    assert len(list(path.parent.glob(f"{path.name}.corrupt-*Z"))) == 1


async def test_an_index_of_a_newer_version_is_told_and_left_alone(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        await ask(box, "index_documents")
    path = next((data_folder() / "indexes").glob("*.db"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE area SET version = 99")
        connection.commit()
    async with Toolbox(workspace=ws) as box:
        result = await box.call("search_documents", {"query": "Ottoline"})
        assert result.error is not None
        assert result.error.code == "config_error"
        assert "newer toolcrib" in result.render()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version FROM area").fetchall() == [(99,)]


async def test_bounds_of_the_user(ws: Path) -> None:
    config = {"workspace": {"roots": [str(ws)]}, "documents": {"index_files": 2, "limit": 1}}
    for number in range(40):
        (ws / f"n{number:03}.md").write_text(f"The ship marker{number} came in.\n")
    async with Toolbox(config) as box:
        result = await ask(box, "index_documents")
        assert "documents.index_files" in result.text
        assert result.data["index"]["files"] < 30
        assert len((await ask(box, "search_documents", query="ship came in")).data["passages"]) == 1


async def test_whole_text_where_it_fits(box: Toolbox) -> None:
    result = await ask(box, "ask_documents", question="Who is the master?", path="notes")
    assert result.text.startswith("The whole text of 1 file.")
    assert "[1] notes/harbour.md" in result.text
    assert "High tide comes late." in result.text


async def test_packed_passages_where_it_does_not(box: Toolbox, ws: Path) -> None:
    for number in range(30):
        text = f"Filler about weather {number}. " * 80
        (ws / f"w{number}.txt").write_text(f"{text}\n\nThe beacon keeper {number} sleeps.\n")
    question = "Where does the beacon of islet9 burn?"
    result = await ask(box, "ask_documents", question=question)
    assert "cite them as [1]" in result.text
    assert "beacons.pdf, page 9" in result.text


@pytest.mark.rows("E88")
async def test_which_and_how_many_files(box: Toolbox, ws: Path) -> None:
    for number in range(40):
        what = "solar panels" if number % 2 else "wind turbines"
        (ws / f"r{number:02}.md").write_text(f"# Report {number}\n\nIt is about {what}.\n")
    wrong = []
    for question in (
        "How many files mention solar panels?",
        "List all reports about solar panels",
        "Welche Dateien erw\u00e4hnen solar panels?",
        "\u00bfCu\u00e1ntos archivos mencionan solar panels?",
        "\u54ea\u4e9b\u6587\u4ef6\u63d0\u5230 solar panels\uff1f",
    ):
        data = (await ask(box, "ask_documents", question=question)).data
        if (data["mode"], data["looked_at"], data["matched"]) != ("files", 45, 20):
            wrong.append((question, data["mode"], data.get("matched")))
    assert wrong == []
    result = await ask(box, "ask_documents", question="How many files mention solar panels?")
    assert result.text.startswith("20 of 45 files match.")
    assert "no model has read them" in result.text
    assert "r01.md:1-3" in result.text


async def test_a_count_keeps_files_with_some_of_the_words_apart(box: Toolbox, ws: Path) -> None:
    for name, text in {
        "deal_a.md": "# Deal A\n\nIt begins in May. A penalty of 2 percent applies.\n",
        "deal_b.md": "# Deal B\n\nLate delivery is talked about.\n",
        "sports.md": "# Sports\n\nThe penalty was exciting.\n",
    }.items():
        (ws / name).write_text(text)
    result = await ask(box, "ask_documents", question="How many deals mention a penalty?")
    lines = result.text.splitlines()
    assert " have all of the words: deals, penalty; 2 more have some" in lines[0]
    assert lines[0].startswith("1 of ")
    assert lines[1].endswith("A penalty of 2 percent applies.")
    assert (result.data["matched"], result.data["have_all_words"]) == (3, 1)


async def test_a_count_says_that_no_file_has_all_of_the_words(box: Toolbox, ws: Path) -> None:
    """What is searched for in the place of a word that nothing has is no such word."""
    for number in range(4):
        (ws / f"invoice{number}.md").write_text(f"# Invoice {number}\n\nIt is said: open.\n")
    (ws / "long.md").write_text(f"Invoices.\n\n{'Filler. ' * 900}\n\nA discount applies.\n")

    async def answer(question: str) -> list[str]:
        return (await ask(box, "ask_documents", question=question)).text.splitlines()

    overdue = await answer("How many invoices are overdue?")
    assert overdue[0].startswith("0 of 10 files have all of the words: invoices, overdue; 5 have")
    unpaid = await answer("Which invoices are not paid?")
    assert unpaid[0].startswith("0 of 10 files have all of the words: invoices, paid;")
    assert unpaid[1].startswith("Words do not tell what is not so")
    discount = await answer("How many invoices mention a discount?")
    assert discount[0].startswith("1 of 10 files have all of the words: invoices, discount; 4 more")
    slip = await answer("Which files mention discuont?")
    assert slip[0].startswith("0 of 10 files have the word discuont; 1 have words like it")


async def test_a_count_leaves_out_what_is_said_of_words(box: Toolbox, ws: Path) -> None:
    (ws / "todo.md").write_text("TODO: rest\n")
    (ws / "word.md").write_text("A word on times that appear.\n")
    result = await ask(box, "ask_documents", question="How many files contain the word TODO?")
    assert result.text.startswith("1 of 7 files match.")
    result = await ask(box, "ask_documents", question="How many times does TODO appear?")
    assert result.text.startswith("1 of 7 files match.")
    assert "not how often a word stands in them" in result.text


async def test_cited_sentences_keep_their_numbers_whole(box: Toolbox, ws: Path) -> None:
    (ws / "costs.md").write_text(
        "The supplier pays a penalty of 1.5 % per week. More follows.\n"
        "Total cost is 1,234.56 EUR on 3. May. More follows.\n"
        "\u603b\u4ef7\u662f 12.5 \u5143\u3002\u5b8c\u3002\n"
    )
    for question, sentence in {
        "Which files mention a penalty?": "The supplier pays a penalty of 1.5 % per week.",
        "Which files mention the total cost?": "Total cost is 1,234.56 EUR on 3. May.",
        "\u54ea\u4e9b\u6587\u4ef6\u63d0\u5230\u603b\u4ef7": "\u603b\u4ef7\u662f 12.5 \u5143\u3002",
    }.items():
        result = await ask(box, "ask_documents", question=question)
        assert result.text.splitlines()[1].endswith(f": {sentence}")


async def test_a_list_goes_on(box: Toolbox, ws: Path) -> None:
    for number in range(45):
        (ws / f"r{number:02}.md").write_text(
            f"It is about solar panels, {'really ' * 30}{number}.\n"
        )
    seen: list[str] = []
    arguments: dict[str, Any] = {"question": "list all files on solar panels"}
    while True:
        result = await box.call("ask_documents", arguments)
        seen += [file["path"] for file in result.data["files"]]
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
    assert len(seen) == len(set(seen)) == 45


async def test_a_model_reads_file_after_file(ws: Path) -> None:
    """Each answer is cited; a file that has nothing to say is counted as such."""

    def answer(body: dict[str, Any]) -> Turn:
        text = body["messages"][0]["content"]
        return Turn("The master is Ottoline [1]." if "Ottoline" in text else "NOTHING")

    (ws / "notes" / "other.md").write_text("The master of the hounds.")
    with model_server(answer) as model:
        config = {
            "workspace": {"roots": [str(ws)]},
            "documents": {"model": "scripted"},
            **model.config(),
        }
        async with Toolbox(config) as box:
            result = await ask(box, "ask_documents", question="Which files name the master?")
            job = result.data["job"]
            done = await ask(box, "read_job", id=job, wait="exit")
            assert "1 of 2 files say something" in done.text
            assert (
                "- notes/harbour.md: The master is Ottoline [1]. (notes/harbour.md:1-7)"
                in done.text
            )
    assert "untrusted" in model.words()


async def test_a_folder_that_changes_meanwhile(box: Toolbox, ws: Path) -> None:
    for number in range(40):
        (ws / f"n{number:03}.md").write_text(f"The ship marker{number} came in.\n")
    stop = asyncio.Event()

    def turn(number: int) -> None:
        place = ws / f"n{number % 40:03}.md"
        if place.exists():
            place.unlink()
        else:
            place.write_text(f"The ship marker{number} came in again.\n")

    async def churn() -> None:
        number = 0
        while not stop.is_set():
            await asyncio.to_thread(turn, number)
            number += 1

    churning = asyncio.create_task(churn())
    for _ in range(5):
        await ask(box, "index_documents")
    stop.set()
    await churning
    await ask(box, "index_documents")
    there = {p.name for p in ws.glob("n*.md")}
    listed = await ask(box, "list_index")
    assert {Path(e["path"]).name for e in listed.data["entries"]} & {
        f"n{n:03}.md" for n in range(40)
    } == there
