"""What a program in the background, which works on the files themselves, can do to names that
are protected: what is covered before it starts, and what is found after it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture, run_folders
from tests.indexes import index_naming, packs_naming
from toolcrib.core.errors import ToolError
from toolcrib.execution.runs.runs import LiveRun
from toolcrib.execution.sandbox.terms import Pty


async def done(bench: RunBench, script: str) -> tuple[str, ...]:
    """Run it to its end; the notes."""
    running = await bench.start(f"{script}; echo ended; sleep 60")
    async for data in running.confined.read("stdout"):
        if b"ended" in data:
            break
    return (await running.finish()).notes


async def test_what_undo_leaves_of_new_protected_names_is_told(bench: RunBench, root: Path) -> None:
    script = (
        "echo A=1 > .env.local; mkdir .vscode; echo {} > .vscode/tasks.json; mkfifo p; echo > x"
    )
    notes = await done(bench, script)
    await bench.undo()
    assert sorted(path.name for path in root.iterdir()) == [".env.local", "p"]
    fates = {
        note.partition(":")[0]: note.rpartition("; ")[2] for note in notes if "left as" in note
    }
    assert fates == {
        ".env.local": "undo does not touch it either",
        ".vscode": "undo takes away what is new",
        "p": "undo does not touch it either",
    }


async def test_sockets_that_it_leaves_are_told_by_their_number(bench: RunBench, root: Path) -> None:
    code = "import socket\nfor n in range(40): socket.socket(socket.AF_UNIX).bind(f's{n:02}')"
    (root / "a.py").write_text(code)
    notes = await done(bench, "python3 a.py")
    assert any(
        note.startswith("s00, s01, s02 and 37 more: sockets or devices, which undo leaves")
        for note in notes
    ), notes


def make(root: Path) -> None:
    subprocess.run(["git", "init", "-q", "--template=", str(root)], check=True)


async def test_hooks_that_did_not_exist_cannot_be_made(bench: RunBench, root: Path) -> None:
    make(root)
    (root / "a").write_text("a\n")
    before = picture(root)
    assert ".git/hooks" not in before
    running = await bench.start(
        "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; rmdir .git/hooks; "
        "mv .git/hooks .git/x; echo x > .git/config; mv .git elsewhere; echo tried; sleep 60"
    )
    async for data in running.confined.read("stdout"):
        if b"tried" in data:
            break
    assert os.listdir(root / ".git/hooks") == []
    outcome = await running.finish()
    (root / ".git/hooks").rmdir()  # it stays, for other servers mask it too
    assert picture(root) == before
    assert (outcome.state, outcome.notes) == ("none", ())


async def test_hooks_stay_covered_when_the_run_of_another_server_ends(
    bench: RunBench, opened: Opened, root: Path
) -> None:
    make(root)
    one = await bench.start("sleep 60")
    other = await opened().start(
        "until [ -e go ]; do sleep 0.05; done; mkdir .git/hooks; echo x > .git/hooks/post-commit;"
        "echo tried; sleep 60"
    )
    await one.finish()
    (root / "go").touch()
    async for data in other.confined.read("stdout"):
        if b"tried" in data:
            break
    assert os.listdir(root / ".git/hooks") == []
    await other.finish()


MAKES_REPOSITORIES = """
W() { mkdir -p "$1"; printf 'ref: refs/heads/main\\n' > "$1/HEAD"
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n' > "$1/config"
printf '\\tworktree = %s\\n\\tfsmonitor = "touch %s/ran; false"\\n' "$PWD" "$PWD" >> "$1/config"; }
D=$(printf 'd/%.0s' $(seq 190))
"""


WITH_A_SPACE = (
    "W 'w/.. '; W w/x; rm w/x/config; mkdir -p sub 'w/.. /objects' 'w/.. /refs';"
    "printf '../.. \\n' > w/x/commondir; echo $PWD/sub/.git > w/x/gitdir;"
    "mv w .git/worktrees; echo 'gitdir: ../.git/worktrees/x' > sub/.git"
)
OF_THE_CALLER = (
    "mkdir -p src/$D/objects src/$D/refs; W src/$D; echo gitdir: /proc/self/cwd/$D > src/.git"
)
BEHIND_A_SPACE = 'mkdir -p "l/ /$D/objects" "l/ /$D/refs"; W "l/ /$D"; echo "gitdir:  /$D" > l/.git'


@pytest.mark.parametrize(
    ("scripts", "place"),
    [
        (("W x", "mkdir x/objects x/refs"), "x"),
        (("W y/.git", "mkdir y/.git/objects y/.git/refs"), "y"),
        ((WITH_A_SPACE,), "sub"),
        ((OF_THE_CALLER,), "src"),
        ((BEHIND_A_SPACE,), "l"),
    ],
    ids=["in two runs", ".git in two runs", "commondir", "of the caller", "a space"],
)
async def test_no_repository_of_runs_makes_git_run_something(
    bench: RunBench, root: Path, scripts: tuple[str, ...], place: str
) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for script in scripts:
        await done(bench, f"{MAKES_REPOSITORIES}{script}; sleep 0.3")
    subprocess.run(["git", "status"], cwd=root / place, check=False, capture_output=True)
    assert not (root / "ran").exists()


async def test_a_harmless_repository_is_part_of_the_step(bench: RunBench, root: Path) -> None:
    notes = await done(bench, "git init -q; echo a > a; git add a")
    assert (root / ".git/config").exists()
    assert notes == ("what others changed meanwhile is in this step too", *notes[1:])
    assert not any("left as it is" in note for note in notes)
    await bench.undo()
    assert os.listdir(root) == []


async def test_what_git_logs_meanwhile_is_its_own(bench: RunBench, root: Path) -> None:
    make(root)
    running = await bench.start("echo a > a; echo made; sleep 60")
    async for data in running.confined.read("stdout"):
        if b"made" in data:
            break
    session = bench.ctx().session
    step = await bench.changes.begin_program_step("git_commit", session, [str(root)], {"then": 1})
    (root / ".git/refs/heads/main").write_text("1234\n")
    await bench.changes.finish_program_step(step, [f"{root}/b"], {"then": 1, "now": 2})
    outcome = await running.finish()
    assert outcome.state == "applied"
    assert [changed.path for changed in outcome.files] == ["a"]
    await bench.undo()
    assert (root / ".git/refs/heads/main").exists()
    assert not (root / "a").exists()


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("git init -q; git config core.fsmonitor evil", ".git"),
        ("mkdir .vscode; echo '{}' > .vscode/tasks.json", ".vscode"),
        ("echo '{}' > .mcp.json", ".mcp.json"),
    ],
)
async def test_what_is_new_is_told_and_undo_takes_it_away(
    bench: RunBench, root: Path, script: str, name: str
) -> None:
    notes = await done(bench, f"{script}; echo ok > ok")
    assert any(name in note and "left as it is" in note for note in notes)
    assert (root / name).exists()
    await bench.undo()
    assert os.listdir(root) == []


async def test_second_names_that_it_gives_do_not_keep_undo_from_it(
    bench: RunBench, root: Path
) -> None:
    (root / "a").write_text("old")
    before = picture(root)
    await done(bench, "ln a .h; echo evil > a; echo b > b; ln b c")
    assert (root / "a").stat().st_nlink == 2
    applied = await bench.undo()
    assert picture(root) == before
    assert applied.note == ""
    await bench.undo()
    assert (root / ".h").read_text() == (root / "a").read_text() == "evil\n"


async def test_settings_elsewhere_are_taken_away_at_once(bench: RunBench, root: Path) -> None:
    make(root)
    (root / ".git/hooks").mkdir()
    before = picture(root)
    notes = await done(
        bench, "mkdir evil; echo '[core] fsmonitor=x' > evil/config; echo ../evil > .git/commondir"
    )
    # The guard renames it, if it comes first.
    ours = ("evil", ".git/commondir.refused")
    assert {k: v for k, v in picture(root).items() if not k.startswith(ours)} == before
    gone = ("put back", "put aside")
    assert any(".git/commondir" in note and any(word in note for word in gone) for note in notes)


async def test_what_must_not_be_read_is_no_part_of_the_step(bench: RunBench, root: Path) -> None:
    notes = await done(bench, "echo KEY=1 > .env; echo ok > ok")
    assert any(".env" in note for note in notes)
    await bench.undo()
    assert os.listdir(root) == [".env"]


async def test_what_the_user_changed_meanwhile_stays_when_it_is_undone(
    bench: RunBench, root: Path
) -> None:
    (root / ".mcp.json").write_text("{}")
    running = await bench.start("echo ok > ok; echo evil > .mcp.json; echo ended; sleep 60")
    async for data in running.confined.read("stdout"):
        if b"ended" in data:
            break
    (root / ".mcp.json").write_text('{"mine": 1}')
    await running.finish()
    await bench.undo()
    assert os.listdir(root) == [".mcp.json"]
    assert (root / ".mcp.json").read_text() == '{"mine": 1}'


async def test_a_repository_that_was_there_is_masked(opened: Opened, root: Path) -> None:
    bench = opened()
    await need_overlay(bench)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    before = picture(root)
    await done(bench, "echo x >> .git/config; rm -rf .git/hooks .git/config; mv .git y; true")
    now = picture(root)
    assert {k: v for k, v in now.items() if k.startswith((".git/hooks", ".git/config"))} == {
        k: v for k, v in before.items() if k.startswith((".git/hooks", ".git/config"))
    }


async def test_what_goes_on_at_the_end_of_the_service_is_logged(
    bench: RunBench, opened: Opened, root: Path
) -> None:
    await bench.start("trap '' TERM; echo x > made; while :; do sleep 1; done")
    async with asyncio.timeout(60):
        while not (root / "made").exists():
            await asyncio.sleep(0.05)
    await bench.services.close()
    (step,) = await opened().steps()
    assert step.paths == (str(root / "made"),)


async def test_a_cancelled_end_is_logged_all_the_same(bench: RunBench, root: Path) -> None:
    running = await bench.start("trap '' TERM; echo x > made; while :; do sleep 1; done")
    async with asyncio.timeout(60):
        while not (root / "made").exists():
            await asyncio.sleep(0.05)
    ending = asyncio.ensure_future(running.finish())
    for _ in range(3):
        await asyncio.sleep(0.1)
        ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert (await running.finish()).state == "applied"
    assert len(await bench.steps()) == 1


async def lines_of(running: LiveRun, wanted: str) -> None:
    """Wait until it has written a line."""
    seen = b""
    async for data in running.confined.read("stdout"):
        seen = (seen + data)[-10_000:]
        if wanted.encode() in seen:
            return
    pytest.fail(f"it ended without writing {wanted}")


async def test_a_protected_file_that_is_replaced_is_covered_again(
    bench: RunBench, root: Path
) -> None:
    (root / ".env").write_text("KEY=old\n")
    (root / ".mcp.json").write_text("{}\n")
    running = await bench.start(
        "echo begins; until [ -e go ]; do sleep 0.05; done; "
        "while cat .env 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; "
        "while (echo evil >> .mcp.json) 2>/dev/null; do sleep 0.05; done; echo fixed; sleep 60"
    )
    await lines_of(running, "begins")
    for name, text in ((".env", "KEY=new\n"), (".mcp.json", '{"mine": 1}\n')):
        (root / "saved").write_text(text)
        (root / "saved").rename(root / name)
    (root / "go").touch()
    await lines_of(running, "fixed")
    await running.finish()
    assert (root / ".env").read_text() == "KEY=new\n"
    assert (root / ".mcp.json").read_text().startswith('{"mine": 1}\n')


EVIL = "printf '[core]\\n\\tbare = false\\n\\tfsmonitor = touch owned\\n' >"
FORM = "mkdir -p {0}/objects {0}/refs; echo 'ref: refs/heads/main' > {0}/HEAD"
DEEP = 'i=0; while [ $i -lt 1200 ]; do mkdir d; cd d; i=$((i+1)); done; cd "$top"'


async def test_what_the_user_makes_in_a_new_repository_is_covered(
    bench: RunBench, root: Path
) -> None:
    names = "x.git/.env x.git/d/id_rsa new/.git/config"
    running = await bench.start(
        "echo begins; until [ -e go ]; do sleep 0.05; done; "
        f"until ! grep -qs SECRET5 {names}; do sleep 0.05; done; echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    (root / "x.git/d").mkdir(parents=True)
    (root / "x.git/.env").write_text("KEY=SECRET5\n")
    (root / "x.git/d/id_rsa").write_text("SECRET5\n")
    git(root, "init", "-q", "new")
    git(root / "new", "remote", "add", "origin", "https://me:SECRET5@host.invalid/x.git")
    (root / "go").touch()
    async with asyncio.timeout(30):
        await lines_of(running, "hidden")
    await running.finish()
    assert (root / "new/.git/HEAD").exists(), "it is the user's"


CONNECTS = """
import os, socket, stat, time
def connects(name):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(name)
            return True
        except OSError:
            return False
own = socket.socket(socket.AF_UNIX)
own.bind("own.sock")
own.listen()
time.sleep(0.5)
assert connects("own.sock")
print("ready", flush=True)
def is_open(name):
    try:
        return not stat.S_ISCHR(os.stat(name).st_mode)
    except OSError:
        return True
while is_open("user.sock") or is_open("d/user.sock"):
    time.sleep(0.01)
assert not connects("user.sock") and not connects("d/user.sock")
print("closed", connects("own.sock"), flush=True)
"""


async def test_servers_that_the_user_starts_meanwhile_are_not_reached(
    bench: RunBench, root: Path
) -> None:
    (root / "connects.py").write_text(CONNECTS)
    running = await bench.start("python3 connects.py; sleep 60")
    await lines_of(running, "ready")
    (root / "d").mkdir()
    servers = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    for server, name in zip(servers, ("user.sock", "d/user.sock"), strict=True):
        server.bind(str(root / name))
        server.listen(1000)
    async with asyncio.timeout(30):
        await lines_of(running, "closed True")
    await running.finish()
    for server in servers:
        server.close()


async def test_a_file_of_the_same_number_is_covered_again(bench: RunBench, root: Path) -> None:
    """The next file often gets the number of one that was removed just before."""
    (root / ".env").write_text("KEY=old\n")
    running = await bench.start(
        "echo begins; until [ -e go ]; do sleep 0.02; done; sleep 1.5; "
        "grep -qs SECRET4 .env || echo hidden"
    )
    await lines_of(running, "begins")
    for _ in range(5):
        (root / ".env").unlink()
        (root / ".env").write_text("KEY=SECRET4\n")
    (root / "go").touch()
    async with asyncio.timeout(30):
        await lines_of(running, "hidden")
    await running.finish()


HONEST = """
import os, shutil, socket, tempfile, time
def served(name, kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(name)
    return made
def waits():
    time.sleep(0.6)
for stays in (0, 0.05, 0.6):
    folder = tempfile.mkdtemp(dir=".")
    server = served(folder + "/q.sock")
    time.sleep(stays)
    server.close()
    shutil.rmtree(folder)
stale = served("stale.sock")
waits()
stale.close()
os.unlink("stale.sock")
served("temporary.sock").listen()
os.rename("temporary.sock", "renamed.sock")
waits()
os.unlink("renamed.sock")
one, client = served("one.sock"), socket.socket(socket.AF_UNIX)
one.listen()
client.connect("one.sock")
kept = one.accept()
one.close()
waits()
a, b = served("a.sock", socket.SOCK_DGRAM), served("b.sock", socket.SOCK_DGRAM)
a.connect("b.sock")
waits()
a.send(b"x")
print("works", flush=True)
time.sleep(60)
"""


async def test_sockets_of_its_own_are_left_to_it(bench: RunBench, root: Path) -> None:
    (root / "honest.py").write_text(HONEST)
    running = await bench.start("python3 honest.py")
    async with asyncio.timeout(40):
        await lines_of(running, "works")
    notes = (await running.finish()).notes
    assert not any("connected" in note or "covered:" in note for note in notes), notes


SERVES = """
import socket, time
server, worker = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
server.bind("own.sock")
server.listen()
worker.connect("own.sock")
kept = [server.accept()]
print("ready", flush=True)
kept.append(server.accept())
time.sleep(1.5)
print("works", flush=True)
time.sleep(60)
"""


async def test_the_user_may_connect_to_its_server(bench: RunBench, root: Path) -> None:
    """To which a worker of its own is connected as well."""
    (root / "serves.py").write_text(SERVES)
    running = await bench.start("python3 serves.py")
    await lines_of(running, "ready")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(root / "own.sock"))
        async with asyncio.timeout(40):
            await lines_of(running, "works")
    notes = (await running.finish()).notes
    assert not any("connected" in note for note in notes), notes


KEEPS = """
import os, socket, stat, sys, time
route = sys.argv[1]
kind = socket.SOCK_DGRAM if route == "datagrams" else socket.SOCK_STREAM
a, b = socket.socketpair()
own = socket.socket(socket.AF_UNIX)
if route == "namesake":
    os.chdir("/tmp")
    own.bind("user.sock")
    own.listen()
    os.chdir(os.environ["PWD"])
if route == "forged lines":
    own.bind("\\0\\n0: 2 0 1 1 01 1 user.sock")
    own.listen()
print("ready", flush=True)
client = socket.socket(socket.AF_UNIX, kind)
while True:
    try:
        name = "user.sock"
        if route == "renamed":
            os.rename(name, "other.sock")
            name = "other.sock"
        if route == "held name":
            name = f"/proc/self/fd/{os.open(name, os.O_PATH)}"
            while not stat.S_ISCHR(os.stat("user.sock").st_mode):
                time.sleep(0.01)
        client.connect(name)
        break
    except OSError:
        pass
if route == "removed":
    os.unlink(name)
print("connected", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "route", ["plain", "namesake", "forged lines", "renamed", "removed", "held name", "datagrams"]
)
async def test_a_connection_to_a_server_of_the_user_ends_the_run(
    bench: RunBench, root: Path, route: str
) -> None:
    """One made in the moment before the cover, or around it; of no matter what else listens."""
    (root / "keeps.py").write_text(KEEPS)
    running = await bench.start(f"python3 keeps.py {route!r}")
    await lines_of(running, "ready")
    kind = socket.SOCK_DGRAM if route == "datagrams" else socket.SOCK_STREAM
    with socket.socket(socket.AF_UNIX, kind) as server:
        server.bind(str(root / "user.sock"))
        if kind == socket.SOCK_STREAM:
            server.listen()
        async with asyncio.timeout(30):
            await running.confined.wait()
    notes = (await running.finish()).notes
    assert any("connected to a server outside" in note for note in notes), notes


ENDS = [r"\r", r"\014", r"\302\205", r"\342\200\250", r"\n", r"\t\\011 "]
PINNED = (
    'odd="$(printf \'p{}x\')"; mkdir "$odd"; echo KEY > "$odd/.env"; '
    'while cat "$odd/.env" 2>&1 | grep -q KEY; do sleep 0.05; done'
)


@pytest.mark.parametrize(
    "odd",
    [
        "touch \"$(printf 'a\\377')\"",
        "mkdir \"$(printf 'b\\377')\"",
        DEEP,
        *map(PINNED.format, ENDS),
    ],
    ids=["file", "folder", "deep", *(f"end {number}" for number in range(len(ENDS)))],
)
async def test_no_name_ends_the_watch(bench: RunBench, root: Path, odd: str) -> None:
    """One that is no text, a tree too deep to go through, or what Unicode takes for a line's end in
    the name of a folder that is mounted: what is protected stays so."""
    make(root)
    (root / ".env").write_text("KEY=old\n")
    running = await bench.start(
        f"top=$PWD; {odd}; echo begins; until [ -e go ]; do sleep 0.05; done; "
        "while cat .env 2>&1 | grep -q KEY; do sleep 0.05; done; "
        f"{FORM.format('x')}; {EVIL} x/config; echo hidden; sleep 60"
    )
    await lines_of(running, "begins")
    await asyncio.sleep(0.5)  # for the events of what was odd
    (root / "saved").write_text("KEY=new\n")
    (root / "saved").rename(root / ".env")
    (root / "go").touch()
    await lines_of(running, "hidden")
    async with asyncio.timeout(60):
        while not (root / "x/HEAD.refused").exists():
            await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    is_deep = (root / "d").exists()
    subprocess.run(["rm", "-rf", str(root / "d")], check=True)  # too deep for what comes after
    assert any("not looked into" in note for note in notes) is is_deep, notes
    assert (root / ".env").read_text() == "KEY=new\n"


async def test_settings_that_git_rewrites_are_read_without_their_credentials(
    bench: RunBench, root: Path
) -> None:
    make(root)
    url = "https://me:LOGIN99@host.invalid/x.git"
    git(root, "config", "remote.origin.url", url)
    running = await bench.start(
        "git config remote.origin.url; echo begins; until [ -e go ]; do sleep 0.05; done; "
        'until [ "$(git config my.new)" = 1 ] && ! grep -q LOGIN99 .git/config; do sleep 0.05; '
        "done; "
        "git config remote.origin.url; echo seen; sleep 60"
    )
    await lines_of(running, "begins")
    git(root, "config", "my.new", "1")
    (root / "go").touch()
    await lines_of(running, "https://host.invalid/x.git\nseen")
    await running.finish()
    assert "LOGIN99" in (root / ".git/config").read_text()


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True)


SETTINGS_OF_A_TREE = (
    f"{FORM.format('.git/worktrees/x')}; echo ../.. > .git/worktrees/x/commondir; "
    "mkdir sub; echo gitdir: $PWD/.git/worktrees/x > sub/.git; "
    f"{EVIL} .git/worktrees/x/config.worktree"
)


async def test_settings_of_a_working_tree_that_a_job_makes_are_judged(
    bench: RunBench, root: Path
) -> None:
    make(root)
    git(root, "config", "extensions.worktreeConfig", "true")
    running = await bench.start(
        "mkdir -p .git/t; "
        + SETTINGS_OF_A_TREE.replace(".git/worktrees", ".git/t")
        + "; mv .git/t .git/worktrees; sed -i s,/t/,/worktrees/, sub/.git; echo made; sleep 60"
    )
    await lines_of(running, "made")
    async with asyncio.timeout(60):
        while not (root / ".git/worktrees/x/HEAD.refused").exists():
            await asyncio.sleep(0.02)
    subprocess.run(["git", "status"], cwd=root / "sub", capture_output=True)
    await running.finish()
    assert not list(root.rglob("owned"))


EVIL_INDEX = b64encode(index_naming("a", "../owned")).decode()
HOOK = "mkdir x/hooks; printf '#!/bin/sh\\ntouch owned\\n' > x/hooks/pre-commit"
PLACE = "x/.git/worktrees/x"
TREE = (
    f"mkdir -p e/objects e/refs; {EVIL} e/config; {FORM.format(PLACE)}; echo gitdir: {PLACE} > .git"
)

LINKED = f"mkdir -p e2/sub e2/.git/objects e2/.git/refs; {EVIL} e2/.git/config; ln -s e2/sub l"
THROUGH_A_LINK = f"echo ../../../../l/../.git > {PLACE}/commondir"


@pytest.mark.parametrize(
    ("script", "quarantined"),
    [
        (f"{FORM.format('x')}; {EVIL} x/config", "x/HEAD"),
        (f"{FORM.format('.git')}; {EVIL} .git/config", ".git/HEAD"),
        (f"{FORM.format('e')}; {EVIL} e/config; echo 'gitdir: e' > .git", ".git"),
        (f"{FORM.format('y')}; {EVIL} z; echo ../.. > y/commondir", "y/HEAD"),
        (f"{FORM.format('x')}; {HOOK}", "x/hooks"),
        (f"{FORM.format('x')}; ln -s /nowhere/config x/config; {HOOK}", "x/hooks"),
        (f"{FORM.format('x')}; yes '#' | head -c 70000 > x/config; {HOOK}", "x/HEAD"),
        (f"{FORM.format('x/.git')}; {TREE}; echo ../../../../e > {PLACE}/commondir", ".git"),
        (f"{TREE}; {EVIL} x/.git/config; echo ../.. > {PLACE}/commondir", ".git"),
        (f"{LINKED}; {FORM.format('x/.git')}; {TREE}; {THROUGH_A_LINK}", ".git"),
        (f"git init -q; echo {EVIL_INDEX} | base64 -d > .git/index", ".git/index"),
    ],
)
@pytest.mark.parametrize("ends", [False, True])
async def test_a_repository_that_would_run_something_is_put_aside(
    bench: RunBench, root: Path, script: str, quarantined: str, ends: bool
) -> None:
    running = await bench.start(f"{script}; echo made; {'true' if ends else 'sleep 60'}")
    await lines_of(running, "made")
    if not ends:
        async with asyncio.timeout(60):
            while not (root / f"{quarantined}.refused").exists():
                await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert (root / f"{quarantined}.refused").exists()
    assert any("put aside" in note for note in notes), notes
    for folder in (root, root / "x", root / "e", root / "y"):
        if folder.exists():
            subprocess.run(["git", "status"], cwd=folder, capture_output=True)
    assert not list(root.rglob("owned"))


WRITTEN_THROUGH = "rm -f COMMIT_EDITMSG; ln -s {} COMMIT_EDITMSG; printf '{}' > MERGE_MSG"


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("top", [".git", "store"])
async def test_git_writes_through_no_link_of_a_job(
    bench: RunBench, root: Path, tmp_path: Path, top: str, ends: bool
) -> None:
    """Git writes the message of a commit, which a run may have prepared, to where a link leads."""
    outside = tmp_path / "outside"
    outside.write_text("mine\n")
    place = root / top
    subprocess.run(["git", "init", "-q", "--bare", str(place)], check=True)
    (place / "kept").symlink_to("config")  # the user's own
    script = WRITTEN_THROUGH.format(outside, "evil") + "; rm -rf logs; ln -s hooks logs"
    rest = "true" if ends else "sleep 60"
    running = await bench.start(f"(cd {top}; {script}); echo made; {rest}")
    await lines_of(running, "made")
    if not ends:
        async with asyncio.timeout(60):
            while (place / "logs").is_symlink() or (place / "COMMIT_EDITMSG").is_symlink():
                await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert sorted(path.name for path in place.iterdir() if path.is_symlink()) == ["kept"]
    assert any("logs removed: a link in a repository" in note for note in notes), notes
    assert outside.read_text() == "mine\n"


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("ORIG_HEAD", b"ref: commondir", "write to what is no branch"),
        ("refs/heads/other", b"ref: commondir", "write to what is no branch"),
        ("MERGE_RR", b"0\t../x", "copy the files that it names"),
        ("BISECT_START", b"-f\n", "take an option for a branch"),
        (
            "objects/pack/multi-pack-index",
            packs_naming("../x.idx", {}),
            "read objects of another repository",
        ),
    ],
)
async def test_git_is_misled_by_no_file_of_a_job(
    bench: RunBench, root: Path, name: str, content: bytes, why: str, ends: bool
) -> None:
    """`git reset` writes to where ORIG_HEAD leads: to `commondir`, and git has other settings.

    By MERGE_RR a commit copies what it names to where runs read it.
    """
    make(root)
    commit = "git -c user.name=a -c user.email=a@host.invalid commit -q --allow-empty -m 'ref: a'"
    script = f"{commit}; mkdir -p $(dirname .git/{name}); "
    script += f"echo {b64encode(content).decode()} | base64 -d > .git/{name}"
    running = await bench.start(f"{script}; echo made; {'true' if ends else 'sleep 60'}")
    await lines_of(running, "made")
    if not ends:
        async with asyncio.timeout(60):
            while (root / ".git" / name).exists():
                await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert not (root / ".git" / name).exists()
    assert any(why in note for note in notes), notes
    assert (root / ".git/COMMIT_EDITMSG").read_text() == "ref: a\n"


@pytest.mark.parametrize("ends", [False, True])
async def test_git_waits_for_no_pipe_of_a_job(bench: RunBench, root: Path, ends: bool) -> None:
    """Git opens some files by name in every folder, and would wait for a pipe for good."""
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / "mine").mkdir()
    os.mkfifo(root / "mine/.gitignore")
    script = "mkdir src; mkfifo src/.gitignore src/.gitattributes src/other; touch src/a; "
    script += "mkfifo .git/index .git/info/x"
    running = await bench.start(f"{script}; echo made; {'true' if ends else 'sleep 60'}")
    await lines_of(running, "made")
    if not ends:
        async with asyncio.timeout(60):
            while [*(root / "src").glob(".git*"), *root.glob(".git/inde?")]:
                await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert sorted(path.name for path in root.rglob("*") if path.is_fifo()) == [
        ".gitignore",
        "other",
    ]
    assert any("for which git would wait" in note for note in notes), notes


@pytest.mark.parametrize("made", ["echo ../x > .git/commondir", "ln -s config .git/MERGE_MSG"])
async def test_a_program_that_makes_the_same_again_and_again_is_ended(
    bench: RunBench, root: Path, made: str
) -> None:
    """Else git would find it nearly always, though it is put aside each time."""
    make(root)
    running = await bench.start(f"echo made; while :; do {made}; sleep 0.01; done 2> /dev/null")
    await lines_of(running, "made")
    async with asyncio.timeout(60):
        await running.confined.wait()
    notes = (await running.finish()).notes
    assert any("again and again" in note for note in notes), notes
    assert not (root / ".git/commondir").exists()
    assert not (root / ".git/MERGE_MSG").is_symlink()


@pytest.mark.parametrize("mode", ["755", "311"])
async def test_new_hooks_of_a_repository_of_any_name_are_put_aside(
    bench: RunBench, root: Path, mode: str
) -> None:
    for name in ("store", "samples"):
        subprocess.run(["git", "init", "-q", "--bare", str(root / name)], check=True)
        shutil.rmtree(root / name / "hooks")
    running = await bench.start(
        f"mkdir store/hooks samples/hooks; : > samples/hooks/update.sample; "
        f"echo x > store/hooks/pre-receive; chmod {mode} store/hooks; echo made; sleep 60"
    )
    await lines_of(running, "made")
    async with asyncio.timeout(60):
        while (root / "store/hooks").exists():
            await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert any("store/hooks was put aside" in note for note in notes), notes
    assert not (root / "store/hooks").exists()
    assert (root / "samples/hooks/update.sample").exists()


async def test_a_repository_of_any_name_that_was_there_is_masked(
    bench: RunBench, root: Path
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(root / "store")], check=True)
    before = (root / "store/config").read_text()
    await done(
        bench, f"{EVIL} store/config; echo x > store/hooks/update; : > store/objects/y; true"
    )
    assert (root / "store/config").read_text() == before
    assert not (root / "store/hooks/update").exists()
    assert (root / "store/objects/y").exists()
    # Where git writes them anew, it puts another file in their place.
    running = await bench.start(
        "echo begins; until [ -e go ]; do sleep 0.05; done; "
        "while (echo '#' >> store/config) 2>/dev/null; do sleep 0.05; done; echo fixed; sleep 60"
    )
    await lines_of(running, "begins")
    subprocess.run(["git", "-C", root / "store", "config", "user.name", "Ann"], check=True)
    (root / "go").touch()
    await lines_of(running, "fixed")
    await running.finish()
    assert "Ann" in (root / "store/config").read_text()


async def test_many_protected_names_are_not_the_end_of_the_watch(
    bench: RunBench, root: Path
) -> None:
    many = 'i=0; while [ $i -lt 1200 ]; do : > ".env$i-$(printf %0200d $i)"; i=$((i+1)); done'
    running = await bench.start(f"{many}; {FORM.format('x')}; {EVIL} x/config; sleep 60")
    async with asyncio.timeout(60):
        while not (root / "x/HEAD.refused").exists():
            await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert not any("watched" in note or "covered" in note for note in notes), notes


async def test_a_job_may_ask_for_a_layer_of_its_own(bench: RunBench, root: Path) -> None:
    (root / "a").write_text("old\n")
    (root / ".env").write_text("KEY=old\n")
    running = await bench.start(
        "echo new > a; echo made; read go; "
        "while cat .env fresh/.env 2>&1 | grep -q KEY; do sleep 0.05; done; echo hidden; sleep 60",
        commit="ask",
        pty=Pty(),
    )
    await lines_of(running, "made")
    assert (root / "a").read_text() == "old\n"
    (root / "fresh").mkdir()
    (root / "fresh/.env").write_text("KEY=new\n")
    await running.confined.write(b"go\n")
    await lines_of(running, "hidden")
    outcome = await running.finish()
    assert (outcome.state, [file.path for file in outcome.files]) == ("held", ["a"])
    assert (root / "a").read_text() == "old\n"
    assert (await bench.apply_pending(outcome.pending_id)).state == "applied"
    assert (root / "a").read_text() == "new\n"
    await bench.undo()
    assert (root / "a").read_text() == "old\n"


async def test_or_for_one_that_is_dropped(bench: RunBench, root: Path, tmp_path: Path) -> None:
    running = await bench.start("echo x > x; echo made; sleep 60", commit="never")
    await lines_of(running, "made")
    assert (await running.finish()).state == "dropped"
    assert os.listdir(root) == []
    assert run_folders(tmp_path) == []


async def test_a_layer_of_a_job_goes_with_one_that_does_not_start(
    bench: RunBench, tmp_path: Path
) -> None:
    with pytest.raises(ToolError):
        await bench.runs.start(
            ["/no/such"], bench.ctx(), tool="t", cwd=bench.path("."), commit="ask"
        )
    assert run_folders(tmp_path) == []


async def test_where_there_are_no_layers_it_says_so(bare: RunBench, root: Path) -> None:
    with pytest.raises(ToolError, match="cannot be kept"):
        await bare.start("echo x > x", commit="ask")
    assert os.listdir(root) == []


async def test_what_git_makes_itself_stays(bench: RunBench, root: Path) -> None:
    """Commits, worktrees and clones of a program in the background are git's usual ones."""
    make(root)
    notes = await done(
        bench,
        "git config user.email a@example.com 2>/dev/null; export GIT_AUTHOR_NAME=a "
        "GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com; "
        "echo a > a; git add a && git commit -qm one; git init -q sub; git clone -q . copy",
    )
    log = subprocess.run(["git", "log", "--oneline"], cwd=root, capture_output=True, text=True)
    assert " one" in log.stdout
    assert not list(root.rglob("*.refused")), notes
    assert (root / "copy/a").exists()


async def test_an_index_is_judged_beside_settings_that_must_not_be_read(
    bench: RunBench, root: Path
) -> None:
    make(root)
    git(root, "config", "remote.origin.url", "https://me:LOGIN99@host.invalid/x.git")
    await done(bench, f"echo {EVIL_INDEX} | base64 -d > .git/index; sleep 0.3")
    assert not (root / ".git/index").exists()
    assert (root / ".git/index.refused").exists()


@pytest.mark.parametrize("script", ["echo job > a", "rm a"])
async def test_what_a_job_changed_before_a_tool_did_is_not_lost(
    bench: RunBench, root: Path, script: str
) -> None:
    (root / "a").write_text("the user's own\n")
    running = await bench.start(f"{script}; echo ended; sleep 60")
    await lines_of(running, "ended")
    await bench.write("a", b"by a tool\n")
    await running.finish()
    await bench.undo()
    assert (root / "a").read_text() == "the user's own\n"


async def test_what_a_tool_alone_changed_is_in_no_step_of_a_job(
    bench: RunBench, root: Path
) -> None:
    (root / "a").write_text("the user's own\n")
    running = await bench.start("echo b > b; echo ended; sleep 60")
    await lines_of(running, "ended")
    await bench.write("a", b"by a tool\n")
    assert [file.path for file in (await running.finish()).files] == ["b"]


@pytest.mark.parametrize(
    "odd",
    [
        f"ln -s {'a' * 300} 0link",
        f"ln -s {'a/' * 2_040}b 0link",
        f"(for i in $(seq 20); do mkdir {'n' * 250}; cd -P {'n' * 250}; done)",
        f"mkdir .git/aa; ln -s {'a' * 300} .git/aa/link; chmod 555 .git/aa",
    ],
    ids=["name too long", "path too long", "folders too deep", "closed"],
)
async def test_no_name_keeps_the_rest_from_being_looked_at_and_undone(
    bench: RunBench, root: Path, odd: str
) -> None:
    make(root)
    (root / "a").write_text("a\n")
    running = await bench.start(
        f"{odd}; rm a; mkdir -p evil/.git/objects evil/.git/refs; echo 'ref: refs/heads/x' > HEAD;"
        "printf '[core]\\n\\tfsmonitor = evil\\n' > evil/.git/config; mv HEAD evil/.git/HEAD"
    )
    await running.confined.wait()
    outcome = await running.finish()
    assert not (root / "evil/.git/HEAD").exists(), outcome.notes
    (step,) = await bench.steps()
    await bench.changes.undo_step(step.id, bench.ctx(), "undo")
    assert (root / "a").read_text() == "a\n"
