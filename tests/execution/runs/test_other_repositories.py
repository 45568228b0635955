"""What a run leaves in repositories of Mercurial, Subversion and Fossil, which act on it later."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib.files.other_repositories import OTHER_REPOSITORY

UNDO = rb"2\nplain\0branch\0undo.backup.branch.bck\0000\n\0fncache\0\0000\nplain\0dirstate\0\0000\n"


def written(name: str, content: str) -> str:
    return f"mkdir -p {Path(name).parent}; printf '{content}' > {name}"


@pytest.fixture
def mercurial(root: Path) -> None:
    for name in ("hg/.hg/requires", "hg/.hg/store/requires", "hg/.hg/dirstate"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("share-safe\n")


@each_case(
    "name, content",
    [
        ("store/journal", ""),
        ("store/journal.backupfiles", "2\n"),
        ("bk", "[hooks]\n"),
        ("requires", "largefiles\n"),
        ("store/undo", r"data/a.i\0000\n../../x\0000\n"),
        ("store/undo", r"/etc/x\0000\n"),
        ("store/undo.backupfiles", r"2\nplain\0hgrc\0undo.backup.branch.bck\0000\n"),
        ("store/undo.backupfiles", r"2\nplain\0../../x\0undo.backup.branch.bck\0000\n"),
        ("store/undo.backupfiles", r"2\nplain\0requires\0undo.backup.branch.bck\0000\n"),
        ("store/undo.backupfiles", r"2\nother\0branch\0undo.backup.branch.bck\0000\n"),
        ("store/undo.backupfiles", r"2\nplain\0branch\0../a\0000\n"),
    ],
)
@pytest.mark.usefixtures("mercurial")
async def test_what_mercurial_would_play_back(bench: RunBench, name: str, content: str) -> None:
    assert (await bench.changed(written(f"hg/.hg/{name}", content))).state == "held"


@pytest.mark.usefixtures("mercurial")
async def test_what_a_commit_of_mercurial_writes(bench: RunBench, root: Path) -> None:
    names = ("00changelog.i", "branch", "dirstate", "undo.desc", "undo.backup.branch.bck")
    names += ("cache/branch2-served", "wcache/checkisexec", "store/00manifest.i", "store/fncache")
    names += ("store/data/a.i", "store/data/~2ehgtags.i", "store/phaseroots", "last-message.txt")
    undo = r"data/a.i\0000\ndata/d/B.i\0000\n00changelog.d\0000\n00manifest.i\0000\n"
    made = [written(f"hg/.hg/{name}", "x") for name in names]
    made += [
        written("hg/.hg/store/undo", undo),
        written("hg/.hg/store/undo.backupfiles", UNDO.decode()),
    ]
    made += [written("new/.hg/requires", "share-safe"), "ln -s x hg/.hg/wcache/checklink"]
    outcome = await bench.changed("; ".join(made))
    assert outcome.state == "applied", outcome.notes
    led = await bench.changed("ln -s ../../../.. hg/.hg/store/data/e")
    assert led.state == "held", "a journal would write where it leads"
    again = await bench.changed("echo x > hg/.hg/unknown")
    assert await bench.apply_pending(again.pending_id)
    assert (await bench.changed("echo x > hg/.hg/other")).state == "held", "each by itself"


async def test_journals_of_what_is_held(bench: RunBench, root: Path) -> None:
    for name in (".svn/wc.db-journal", ".svn/wc.db-wal", ".svn/config", "x/.fslckout-wal"):
        assert (await bench.changed(written(name, "x"))).state == "held", name
    plain = ("app.db-journal", ".svn/pristine/ab/x.svn-base", ".svn/tmp/x")
    made = "; ".join(written(name, "x") for name in plain)
    assert (await bench.changed(made)).state == "applied"


async def test_hooks_of_subversion(bench: RunBench, root: Path) -> None:
    for name in ("r/format", "r/db/format", "r/conf/authz"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    held = await bench.changed(written("r/hooks/pre-commit", "x"))
    assert OTHER_REPOSITORY in str(held.notes)
    (root / "own").mkdir()
    assert (await bench.changed("ln -s ../own r/hooks")).state == "held"
    first = await bench.changed("mkdir -p n/hooks n/db; echo x > n/hooks/pre-commit")
    assert first.state == "applied"
    assert (await bench.changed("echo 5 > n/format")).state == "held"
    made = "mkdir -p s/hooks s/db; echo 5 > s/format; echo x > s/hooks/pre-commit.tmpl"
    assert (await bench.changed(f"{made}; echo 1 > r/db/current")).state == "applied"
    assert (await bench.changed("echo x > s/hooks/post-commit")).state == "held"


async def test_a_database_of_fossil_of_any_name(bench: RunBench, root: Path) -> None:
    for name, mark in (("r.bin", 252_006_673), ("plain.db", 0)):
        with closing(sqlite3.connect(root / name)) as database:
            database.execute(f"pragma application_id = {mark}")
            database.execute("create table config (name)")
            database.commit()
    change = "import sqlite3; c = sqlite3.connect('{}'); c.execute('{}'); c.commit()"
    insert = "insert into config values (1)"
    for made in (
        f'python3 -c "{change.format("r.bin", insert)}"',
        f'python3 -c "{change.format("r.bin", "pragma application_id = 0")}"',
        "echo x > r.bin-journal",
    ):
        outcome = await bench.changed(made)
        assert OTHER_REPOSITORY in str(outcome.notes), made
    assert (await bench.changed(f'python3 -c "{change.format("plain.db", insert)}"')).state == (
        "applied"
    )
