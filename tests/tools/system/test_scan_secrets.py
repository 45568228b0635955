"""Secrets in a planted repository: files, look-alikes, history; and in nothing that is shown."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from tests.cases import each_case
from tests.tools.system import secret_samples as samples
from tests.tools.system.conftest import Machine
from toolcrib.state.secret_finder import find_secrets


def planted(folder: Path, part: str) -> dict[tuple[str, int], str]:
    """Files in which each sample has lines of its own; where the secrets are."""
    real = samples.secrets(part)
    everything = [(text, True) for text in real]
    everything += [(text, False) for text in samples.look_alikes(part)]
    everything = everything[::7] + [e for n, e in enumerate(everything) if n % 7]
    places: dict[tuple[str, int], str] = {}
    for number in range(0, len(everything), 50):
        name, lines = f"src/part{number:04}.txt", []
        for text, is_secret in everything[number : number + 50]:
            if is_secret:
                places[name, len(lines) + 1] = text
            lines += [*text.split("\n"), ""]
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(lines))
    return places


@pytest.mark.rows("C113")
@each_case("part", ["tune", "held"])
async def test_secrets_are_found_and_look_alikes_are_not(machine: Machine, part: str) -> None:
    places = planted(machine.folder, part)
    assert len(places) == 100
    found = await machine("scan_secrets")
    reported = {(one["file"], one["line"]) for one in found.data["found"]}
    lines = {
        (name, line + more): (name, line)
        for (name, line), text in places.items()
        for more in range(1 + text.count("\n"))
    }
    assert len({lines[place] for place in reported if place in lines}) >= 95
    assert len([place for place in reported if place in lines]) >= 0.95 * len(reported)
    for text in places.values():
        for secret in find_secrets(text):
            assert text[secret.start : secret.end] not in found.render() + str(found.data)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


async def test_what_was_committed_once_is_found_in_history(machine: Machine) -> None:
    folder, key = machine.folder, "AKIA" + "QX7PL2MN8RT4VW6Y"
    git(folder, "init", "-q")
    (folder / "a.py").write_text("x = 1\n\nKEY = '" + key + "'\n")
    (folder / ".env").write_text("TOKEN=" + samples.pick(Random(3), samples.B62, 40))
    git(folder, "add", "-f", "a.py", ".env")
    git(folder, "commit", "-qm", "first")
    (folder / "a.py").write_text("x = 1\n")
    git(folder, "commit", "-qam", "second")
    git(folder, "checkout", "-qb", "side")
    (folder / "b.py").write_text("PASSWORD = 'Falke7719!'\n")
    git(folder, "add", "b.py")
    git(folder, "commit", "-qm", "third")
    git(folder, "checkout", "-q", "-")
    plain = await machine("scan_secrets")
    assert plain.data["found"] == []
    assert plain.data["protected"] == [".env"]
    found = await machine("scan_secrets", history=True)
    reported = {(one["file"], one["line"], one["kind"]) for one in found.data["history"]}
    assert ("a.py", 3, "AWS key") in reported
    assert (".env", 1, "value of TOKEN") in reported
    assert ("b.py", 1, "value of PASSWORD") in reported
    assert key not in found.render() + str(found.data)
    assert "Falke7719" not in found.render() + str(found.data)


async def test_what_is_left_out_is_told(machine: Machine) -> None:
    folder, line = machine.folder, "token = 'ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" + "'\n"
    for name in ("kept.py", "skipped/x.py", "ignored.py", ".github/w.yml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(line)
    (folder / ".gitignore").write_text("ignored.py\n")
    (folder / "big.txt").write_bytes(b"x" * 5_000_001)
    (folder / "bin").write_bytes(b"\0\1" + line.encode())
    (folder / "latin.txt").write_bytes(b"\xe9\xff " + line.encode())
    os.symlink("/etc/passwd", folder / "link")
    os.mkfifo(folder / "pipe")
    found = await machine("scan_secrets", exclude=["skipped/"])
    files = {one["file"] for one in found.data["found"]}
    assert files == {"kept.py", ".github/w.yml", "latin.txt"}
    assert "big.txt" in found.text
    one = await machine("scan_secrets", path="skipped/x.py")
    assert [f["line"] for f in one.data["found"]] == [1]
    assert "not_found" in await machine.refused("scan_secrets", path="nowhere")
    await machine.refused("scan_secrets", history=True)
    await machine.refused("scan_secrets", path="..")


@each_case(
    "text",
    [
        *("token='" * 20_000, "password: " * 20_000, "a" * 300_000 + "=" + "b" * 300_000),
        *("sk-" * 50_000, "eyJ" + "a." * 60_000, "-----BEGIN RSA PRIVATE KEY-----" * 2_000),
        *("http://" * 40_000, "x://" + "a:" * 50_000 + "@", "<a>" * 60_000, "mysql " * 30_000),
        *('key="a" ' * 30_000, "user a password " * 20_000, "\\" * 100_000, "'" * 100_000),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    find_secrets(text)
