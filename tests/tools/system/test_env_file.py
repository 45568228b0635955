"""One variable of a file of variables; the rest stays to the byte and is shown to nobody."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cases import each_case
from tests.conftest import absent
from tests.tools.system.conftest import Machine
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.state.history import History

SECRET = "s3cr3t-t0ken-9"
ODD = (
    b"\xef\xbb\xbf# caf\xe9 \r\nexport  A = one # a remark\r\n\n  B='two # no remark'\r\n"
    b'C="first\nD=inside \\" still"  # end\nBAD LINE\nE=\nTOKEN=' + SECRET.encode() + b"\nF=last"
)


@pytest.mark.rows("C117")
@each_case(
    ("key", "value", "old", "new"),
    [
        ("A", "1", b"A = one #", b"A = 1 #"),
        ("B", "three", b"'two # no remark'", b"'three'"),
        ("C", "x y", b'"first\nD=inside \\" still"', b'"x y"'),
        ("E", "http://x/?a=1&b", b"E=\n", b"E='http://x/?a=1&b'\n"),
        ("F", "", b"F=last", b"F="),
        ("NEW", 'it\'s $5 "now"', b"F=last", b'F=last\nNEW="it\'s \\$5 \\"now\\""\n'),
        ("D", "own", b"F=last", b"F=last\nD=own\n"),
        ("E", "a\nb", b"E=\n", b'E="a\\nb"\n'),
    ],
)
async def test_the_rest_stays_to_the_byte(
    machine: Machine, key: str, value: str, old: bytes, new: bytes
) -> None:
    (machine.folder / ".env").write_bytes(ODD)
    found = await machine("update_env_file", key=key, value=value)
    assert (machine.folder / ".env").read_bytes() == ODD.replace(old, new)
    assert SECRET not in found.render() + str(found.data)
    undone = await machine.box.call("undo_changes", {"id": found.data["step"]}, session="one")
    assert undone.error is None or undone.error.code == "path_denied", undone.render()


async def test_a_shell_reads_what_was_written(machine: Machine) -> None:
    values = [
        "plain",
        "two words",
        "it's",
        'a "quote"',
        "$HOME `id` $(id)",
        "a\\b",
        "#x",
        "",
        " y ",
    ]
    for number, value in enumerate(values):
        await machine("update_env_file", key=f"K{number}", value=value)
    displayed = "; ".join(f'printf "%s\\0" "$K{n}"' for n in range(len(values)))
    done = subprocess.run(
        ["sh", "-c", f". ./.env; {displayed}"], cwd=machine.folder, capture_output=True, text=True
    )
    assert done.stdout.split("\0")[:-1] == values


async def test_it_asks_and_shows_no_secret(machine: Machine) -> None:
    (machine.folder / ".env").write_text(f"API_KEY={SECRET}\n")
    machine.says = False
    new = "fresh-value-4711"
    assert "denied" in await machine.refused("update_env_file", key="API_KEY", value=new)
    assert (machine.folder / ".env").read_text() == f"API_KEY={SECRET}\n"
    machine.says = True
    await machine("update_env_file", key="API_KEY", value=new)
    assert len(machine.questions) == 2
    assert new not in str(machine.questions)
    assert ".env holds secrets and is protected" in machine.questions[0]
    stored = await machine.box.use(History).query()
    assert new not in str(stored)
    assert SECRET not in str(stored)


async def test_it_can_be_taken_back_and_bars_no_step_before(machine: Machine) -> None:
    await machine("write_file", path="a.txt", content="x")
    (machine.folder / ".env").write_text("A=1\n")
    await machine("update_env_file", key="B", value="2")
    assert "B=2" in (machine.folder / ".env").read_text()
    await machine("undo_changes")
    assert (machine.folder / ".env").read_text() == "A=1\n"
    await machine("undo_changes")
    assert not (machine.folder / "a.txt").exists()


async def test_no_program_sees_it_meanwhile(machine: Machine) -> None:
    """The mask lies over the file that was there, and another one comes to its place."""
    if (await machine.box.use(Sandbox).report()).level != "strong":
        absent("the level strong does not work here")
    (machine.folder / ".env").write_text(f"API_KEY={SECRET}\n")
    job = (await machine("run_command", command="sleep 60", background=True)).data["id"]
    assert "busy" in await machine.refused("update_env_file", key="OTHER", value="1")
    await machine("stop_job", id=job)
    await machine("update_env_file", key="OTHER", value="1")


async def test_a_template_is_no_secret(machine: Machine) -> None:
    await machine("update_env_file", key="PORT", value="80", path=".env.example")
    assert (machine.folder / ".env.example").read_text() == "PORT=80\n"
    assert not machine.questions


@each_case("key", ["", "1A", "A B", "A=B", "A\nB", "Ä", "a" * 200, "A;id", "$(id)"])
async def test_names_that_are_none(machine: Machine, key: str) -> None:
    assert "bad_input" in await machine.refused("update_env_file", key=key, value="x")
    assert not machine.questions
    assert not (machine.folder / ".env").exists()


async def test_files_that_are_none(machine: Machine) -> None:
    outside = machine.folder.parent / "outside.env"
    outside.write_text("A=1\n")
    (machine.folder / "link.env").symlink_to(outside)
    (machine.folder / ".env.d").mkdir()
    (machine.folder / "open.env").write_text('A="never closed\nB=1\n')
    (machine.folder / "bin.env").write_bytes(b"\x7fELF\0\0")
    os.mkfifo(machine.folder / "pipe.env")
    names = ["notes.txt", "../outside.env", "link.env", ".env.d", "open.env", "bin.env"]
    for name in [*names, "pipe.env", ".ssh/x.env", ".git/hooks/.env"]:
        await machine.refused("update_env_file", key="B", value="2", path=name)
    assert outside.read_text() == "A=1\n"
    for value in ("a\0b", "x" * 40_000, "a\x1bb"):
        await machine.refused("update_env_file", key="B", value=value)


async def test_what_the_user_protects_stays_protected(machine: Machine) -> None:
    from toolcrib.toolbox import Toolbox

    config = {
        "workspace": {"protect_write": [".env.production"]},
        "policy": {"rules": [{"action": "allow"}]},
        "store": {"url": "sqlite://"},
    }
    async with Toolbox(config, workspace=machine.folder) as box:
        done = await box.call("update_env_file", {"key": "A", "value": "1"})
        assert done.error is None, done.render()
        done = await box.call(
            "update_env_file", {"key": "A", "value": "1", "path": ".env.production"}
        )
        assert done.error
        assert done.error.code == "path_denied"
        read = await box.call("read_file", {"path": ".env"})
        assert read.error
        assert read.error.code == "path_denied"
