"""What a program in the background moves, closes or writes so that others are led elsewhere."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib.execution.sandbox.namespace_helper import has_ended
from toolcrib.files.handles import read_plain
from toolcrib.files.tree_events import TreeEvents

EVIL = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch owned\n"
REPOSITORY = f"mkdir -p n/.git/objects n/.git/refs; printf '{EVIL}' > n/.git/config; "


async def output_of(
    bench: RunBench, script: str, until: str = "ended"
) -> tuple[str, tuple[str, ...]]:
    """What a script in the background says, and the notes at its end."""
    running = await bench.start(f"{script}; echo {until}; sleep 60")
    text = b""
    async with asyncio.timeout(30):
        async for data in running.confined.read("stdout"):
            text += data
            if until.encode() in text:
                break
    return text.decode(), (await running.finish()).notes


async def test_names_in_folders_that_are_only_read_are_hidden(bench: RunBench, root: Path) -> None:
    for name in (".vscode/.env", ".claude/in/server.pem", ".config/git/credentials"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("canary")
    (root / ".vscode/settings.json").write_text("seen")
    script = "cat .vscode/* .vscode/.env .claude/in/* .config/git/* 2>/dev/null; true"
    ran = await bench.sh(script)
    assert str(ran.stdout) == "seen"
    text, _ = await output_of(bench, script)
    assert "canary" not in text


async def test_folders_above_protected_names_stay_where_they_are(
    bench: RunBench, root: Path
) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/.env").write_text("canary")
    subprocess.run(["git", "init", "-q", str(root / "lib/in")], check=True)
    (root / "free").mkdir()
    text, _ = await output_of(
        bench,
        "mv a/b a/c; mv a x; mv a .husky; mv lib old; mv free there; echo x > a/b/new; "
        "mv a/b/new a/b/newer; mkdir -p late/in; echo y > late/in/.env; sleep 2; mv late gone; "
        "ls; cat late/in/.env x/b/.env .husky/b/.env 2>/dev/null",
    )
    assert "canary" not in text
    assert "y\n" not in text
    assert sorted(os.listdir(root)) == ["a", "late", "lib", "there"]
    assert sorted(os.listdir(root / "a/b")) == [".env", "newer"]


MOVER = """
import os, time
os.mkdir("f0")
n = 0
while True:
    os.rename(f"f{n}", f"f{n + 1}")
    n += 1
    time.sleep(PAUSE)
"""


@pytest.mark.parametrize("pause", ["0", "0.01"])
async def test_a_program_that_moves_a_folder_without_end_is_ended(
    bench: RunBench, root: Path, pause: str
) -> None:
    """What is new in there would be looked for where it is no more."""
    (root / "move.py").write_text(MOVER.replace("PAUSE", pause))
    running = await bench.start("python3 move.py; sleep 60")
    async with asyncio.timeout(60):
        while not has_ended(running.confined.namespace):
            await asyncio.sleep(0.1)
    notes = (await running.finish()).notes
    assert any("moves folders without end" in note for note in notes)


async def test_many_folders_may_each_be_moved_to_their_places(bench: RunBench) -> None:
    script = "for n in $(seq 400); do mkdir t$n; mv t$n u$n; mv u$n p$n; done; ls | wc -l"
    text, notes = await output_of(bench, script)
    assert text.split() == ["400", "ended"]
    assert not any("ended" in note for note in notes)


async def test_folders_are_held_where_bubblewrap_cannot_take_them_all(
    bench: RunBench, root: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(root / "project")], check=True)
    for number in range(520):
        (root / f"t/{number}").mkdir(parents=True)
        (root / f"t/{number}/.env").write_text("canary")
    text, _ = await output_of(
        bench, "mv project other; mv t/7 t/moved; mv t u; cat t/519/.env; mv project/.git/config x"
    )
    assert "canary" not in text
    assert sorted(os.listdir(root)) == ["project", "t"]
    assert (root / "t/7").is_dir()
    ran = await bench.sh("for n in $(seq 0 519); do echo A=1 >> t/$n/.env && echo lost; done")
    assert "canary" not in str(ran.stdout)
    assert "lost" not in str(ran.stdout)


async def test_what_cannot_take_its_usual_name_is_put_aside_all_the_same(
    bench: RunBench, root: Path
) -> None:
    (root / "n/.git").mkdir(parents=True)
    for number in range(120):
        (root / f"n/.git/HEAD.refused{number or ''}").touch()
    _, notes = await output_of(
        bench, f"{REPOSITORY} echo 'ref: refs/heads/x' > n/.git/HEAD; sleep 1"
    )
    assert any("put aside" in note for note in notes)
    assert not (root / "n/.git/HEAD").exists()


@each_case("data", [b"gitdir: ../evil\n\\0more", b"gitdir: ../ev\\nil", b"gitdir: ../evil\\0\n"])
async def test_a_file_that_leads_git_away_is_put_aside(
    bench: RunBench, root: Path, data: bytes
) -> None:
    text = data.decode().replace("\n", "\\n").replace("\0", "\\0")
    _, notes = await output_of(bench, f"mkdir -p z; printf '{text}' > z/.git; sleep 1")
    assert any("leads git" in note for note in notes)
    assert not (root / "z/.git").exists()
    subprocess.run(["rm", "-rf", str(root / "z")], check=True)


async def test_a_closed_folder_is_opened_and_judged(bench: RunBench, root: Path) -> None:
    _, notes = await output_of(
        bench,
        f"{REPOSITORY} chmod 0311 n/.git; sleep 1; echo 'ref: refs/heads/x' > n/.git/HEAD; sleep 1;"
        " mkdir shut; chmod 0 shut",
    )
    assert any("HEAD was put aside" in note for note in notes)
    assert (root / "n/.git").stat().st_mode & 0o777 == 0o711
    assert (root / "shut").stat().st_mode & 0o777 == 0o700
    await bench.undo()
    assert os.listdir(root) == []


def test_events_follow_no_links(tmp_path: Path) -> None:
    for number in range(40):
        folder = tmp_path / f"f{number}"
        folder.mkdir()
        for name in "ab":
            (folder / name).symlink_to(f"../f{number + 1}")
    events = TreeEvents([str(tmp_path)], max_depth=100)
    try:
        assert events.read() == set()
        (tmp_path / "f3/new/deep").mkdir(parents=True)
        (tmp_path / "f3/new/deep/x").write_text("x")
        found = events.read()
        (tmp_path / "f3/new/deep/y").write_text("y")
        (tmp_path / "f3/new").rename(tmp_path / "moved")
        found |= events.read()
        (tmp_path / "moved/deep/z").write_text("z")
        found |= events.read()
    finally:
        events.close()
    names = {path.removeprefix(f"{tmp_path}/") for path in found}
    assert {"f3/new", "moved", "moved/deep/z"} <= names
    assert {"f3/new/deep/y", "moved/deep/y"} & names


def test_what_is_read_without_links_has_none_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/config").write_text("token")
    (tmp_path / "link").symlink_to("real")
    assert read_plain(tmp_path / "real/config", 10, follow=False) == b"token"
    with pytest.raises(OSError, match="symbolic links"):
        read_plain(tmp_path / "link/config", 10, follow=False)


async def test_a_working_tree_elsewhere_is_led_nowhere_else(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    """Its folder in the repository, whatever that is called, has no `objects` of its own."""
    for words in (
        "init -q --bare store",
        "clone -q store first",
        "-C first -c user.name=n -c user.email=e@x commit -q --allow-empty -m one",
        "-C first push -q origin HEAD",
        f"-C store worktree add -q {tmp_path / 'out'}",
    ):
        subprocess.run(["git", *words.split()], cwd=root, check=True, capture_output=True)
    leads = root / "store/worktrees/out/commondir"
    before = leads.read_text()
    await output_of(
        bench,
        f"mkdir -p evil/objects evil/refs; printf '{EVIL}' > evil/config; "
        "cd store/worktrees/out; echo ../../../evil > commondir; rm commondir; "
        "cp -r . ../new; echo ../../../evil > ../new/commondir; mv ../new ../out2; sleep 1",
    )
    assert leads.read_text() == before
    status = subprocess.run(
        ["git", "status"], cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert status.returncode == 0, status.stderr
    assert not list(tmp_path.rglob("owned"))


@each_case("name", [".cargo", ".config", ".github", "gradle", "x.git"])
async def test_a_link_in_the_place_of_a_folder_with_triggers_is_held(
    bench: RunBench, root: Path, name: str
) -> None:
    (root / name).mkdir()
    (root / name / "config.toml").write_text("old")
    moved = f"c{name}"
    outcome = await bench.changed(
        f"mv {name} {moved}; echo evil > {moved}/config.toml; ln -s {moved} {name}"
    )
    assert outcome.state == "held"
    assert (root / name).is_dir()
    assert not (root / name).is_symlink()
    plain = f"plain{len(name)}"
    assert (await bench.changed(f"mkdir {plain}; ln -s {plain} to-{plain}")).state == "applied"
