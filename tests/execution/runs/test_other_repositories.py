"""What a run leaves in repositories of Mercurial, Subversion and Fossil, which act on it later."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from shlex import quote

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib.files.mercurial import STORES_OTHERS
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
        ("store/obsstore", "x"),
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


def entry(name: str, time: int = 7) -> bytes:
    return struct.pack(">cllll", b"n", 0o100644, 1, time, len(name)) + name.encode()


@pytest.fixture
def dirstate(root: Path) -> Path:
    for name, content in (("dirstate", bytes(40) + entry("a")), ("store/phaseroots", SECRET)):
        (root / ".hg" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".hg" / name).write_bytes(content)
    (root / ".env").write_text("K=1\n")
    return root / ".hg/dirstate"


SECRET = b"1 aa\n2 bb\n"
WRITE = "import sys; open(sys.argv[1], 'wb').write(bytes.fromhex(sys.argv[2]))"


def bytes_written(name: str, content: bytes) -> str:
    return f"python3 -c {quote(WRITE)} {name} {content.hex()}"


MISLED = [
    bytes_written(".hg/dirstate", bytes(40) + entry("a") + entry(".env")),
    bytes_written(".hg/dirstate", bytes(40) + entry("a") + entry("d/../.env")),
    bytes_written(".hg/dirstate", bytes(40) + b"odd"),
    bytes_written(".hg/store/phaseroots", b"1 aa\n"),
    "rm .hg/store/phaseroots",
    "rm -r .hg/store",
]


@each_case("script", MISLED)
@pytest.mark.usefixtures("dirstate")
async def test_what_mercurial_would_store_or_send(bench: RunBench, script: str) -> None:
    outcome = await bench.changed(script)
    assert outcome.state == "held"
    assert STORES_OTHERS in str(outcome.notes)


async def test_mercurial_looks_at_files_itself(bench: RunBench, dirstate: Path) -> None:
    """What a run says of a file's time is not believed, nor what it made of the repository."""
    made = bytes(40) + entry("a") + entry("b", 9)
    script = bytes_written(".hg/dirstate", made) + "; mkdir .hg/cache; echo x > .hg/cache/tags2"
    phases = bytes_written(".hg/store/phaseroots", SECRET + b"1 cc\n")
    outcome = await bench.changed(f"{script}; {phases}")
    assert outcome.state == "applied", outcome.notes
    assert dirstate.read_bytes() == bytes(40) + entry("a") + entry("b", -1)
    assert not (dirstate.parent / "cache/tags2").exists()
    elsewhere = b"\1" * 40 + entry("a") + entry("b", -1)
    assert (await bench.changed(bytes_written(".hg/dirstate", elsewhere))).state == "applied"
    assert dirstate.read_bytes() == b"\1" * 40 + entry("a", -1) + entry("b", -1)
    assert (await bench.changed("rm .hg/dirstate")).state == "applied"
    assert (await bench.changed(bytes_written(".hg/dirstate", made))).state == "applied"
    assert dirstate.read_bytes() == bytes(40) + entry("a", -1) + entry("b", -1)


async def test_a_new_content_has_a_new_time(bench: RunBench, root: Path) -> None:
    for name in ("a", "b"):
        (root / name).write_text("one")
        os.utime(root / name, (1_000, 1_000))
    made = "touch -r a t; echo two > a; touch -r t a; echo two > b; touch -d @2000 b; rm t"
    assert (await bench.changed(made)).state == "applied"
    assert (root / "a").stat().st_mtime > 2_000
    assert (root / "b").stat().st_mtime == 2_000


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
    for name in ("svnserve.conf", "hooks-env", "passwd"):
        plain = await bench.changed(f"mkdir -p s/conf; printf '# x\\n[a]\\n' > s/conf/{name}")
        assert plain.state == "applied", plain.notes
        assert (await bench.changed(f"echo a = x >> s/conf/{name}")).state == "held"
        assert (await bench.changed(f"mkdir -p q/conf; echo a = x > q/conf/{name}")).state == (
            "applied"
        )


async def test_contents_that_subversion_brings_back(bench: RunBench, root: Path) -> None:
    content = b"one\n"
    digest = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    name = f".svn/pristine/{digest[:2]}/{digest}.svn-base"
    assert (await bench.changed(written(name, "one\n"))).state == "applied"
    held = await bench.changed(f"echo evil > {name}")
    assert OTHER_REPOSITORY in str(held.notes)


async def test_what_a_repository_of_cvs_runs(bench: RunBench, root: Path) -> None:
    for name in ("loginfo", "modules"):
        held = await bench.changed(written(f"r/CVSROOT/{name}", "ALL sh x"))
        assert OTHER_REPOSITORY in str(held.notes)
    committed = [written(name, "x") for name in ("r/CVSROOT/history", "r/m/a,v", "cvsroot")]
    assert (await bench.changed("; ".join(committed))).state == "applied"


async def test_a_database_of_fossil_of_any_name(bench: RunBench, root: Path) -> None:
    for name, mark in (("r.bin", 252_006_673), ("plain.db", 0)):
        with closing(sqlite3.connect(root / name)) as database:
            database.execute(f"pragma application_id = {mark}")
            database.execute("create table config (name)")
            database.commit()
    with closing(sqlite3.connect(root / "old.db")) as database:
        database.execute("create table RCVFROM (name)")
        database.execute("create table config (name)")
    change = "import sqlite3; c = sqlite3.connect('{}'); c.execute('{}'); c.commit()"
    insert = "insert into config values (1)"
    for made in (
        f'python3 -c "{change.format("r.bin", insert)}"',
        f'python3 -c "{change.format("r.bin", "pragma application_id = 0")}"',
        "echo x > r.bin-journal",
        f'python3 -c "{change.format("old.db", insert)}"',
    ):
        outcome = await bench.changed(made)
        assert OTHER_REPOSITORY in str(outcome.notes), made
    assert (await bench.changed(f'python3 -c "{change.format("plain.db", insert)}"')).state == (
        "applied"
    )
