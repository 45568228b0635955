"""Archives both ways, and every trick of hostile ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.files.changes.conftest import picture
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.core.errors import BadInput
from toolcrib.files.archives import ArchiveLimits, open_archive
from toolcrib.toolbox import Toolbox


def contents(root: Path) -> dict[str, tuple[object, ...]]:
    """Kinds, bits and bytes; zip knows times only to two seconds."""
    return {k: (v[0], v[1], v[-1]) for k, v in picture(root).items()}


async def test_the_archive_by_other_names_and_paths_in_one_text(box: Toolbox, ws: Path) -> None:
    for name in ("a.txt", "x.py", "b,c.txt", "x.py,v"):
        (ws / name).write_text("1")
    (ws / "src").mkdir()
    for paths in (["a.txt", "src"], "a.txt, src", "src,a.txt"):
        await ok(box, "archive_files", action="pack", path="o.zip", paths=paths, overwrite=True)
        listed = await ok(box, "archive_files", action="list", path="o.zip")
        assert sorted(listed.text.splitlines()[1:]) == ["a.txt  1", "src/"]
    for one in ("b,c.txt", "x.py,v"):
        await ok(box, "archive_files", action="pack", archive="p.zip", path=one, overwrite=True)
        assert one in (await ok(box, "archive_files", action="list", archive="p.zip")).text
    await ok(box, "archive_files", action="unpack", path="o.zip", folder="back")
    assert (ws / "back/a.txt").exists()
    assert "2 files" in (await ok(box, "create_backup", paths="a.txt, x.py, src")).text
    await refused(box, "archive_files", "not_found", action="pack", path="q.zip", paths="no, none")


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
async def test_there_and_back(box: Toolbox, ws: Path, form: str) -> None:
    (ws / "src/deep/empty").mkdir(parents=True)
    (ws / "src/run.sh").write_bytes(b"one")
    (ws / "src/run.sh").chmod(0o755)
    (ws / "src/deep/ü ñ.bin").write_bytes(os.urandom(3_000_000))
    (ws / "src/none").write_bytes(b"")
    (ws / ("src/" + "long" * 40)).write_bytes(b"long name")
    packed = await ok(box, "archive_files", action="pack", archive=f"out/a.{form}", paths=["src"])
    assert "4 files" in packed.text
    listed = await ok(box, "archive_files", action="list", archive=f"out/a.{form}")
    assert "src/run.sh" in listed.text
    await ok(box, "archive_files", action="unpack", archive=f"out/a.{form}", folder="back")
    assert contents(ws / "back/src") == contents(ws / "src")
    await ok(box, "undo_changes")
    assert not (ws / "back").exists()
    await refused(
        box, "archive_files", "conflict", action="unpack", archive=f"out/a.{form}", folder="."
    )
    await ok(
        box,
        "archive_files",
        action="unpack",
        archive=f"out/a.{form}",
        folder=".",
        overwrite=True,
    )
    await refused(
        box, "archive_files", "conflict", action="pack", archive=f"out/a.{form}", paths=["src"]
    )


async def test_what_is_left_out(box: Toolbox, ws: Path) -> None:
    (ws / "src/.ssh").mkdir(parents=True)
    (ws / "src/.ssh/known").write_bytes(b"SECRET")
    (ws / "src/.env").write_bytes(b"SECRET")
    (ws / "src/out").symlink_to("/etc/passwd")
    (ws / "src/f").write_bytes(b"x")
    os.mkfifo(ws / "src/pipe")
    result = await ok(box, "archive_files", action="pack", archive="a.zip", paths=["."])
    assert sorted(result.data["left_out"]) == ["src/.env", "src/.ssh", "src/out", "src/pipe"]
    with zipfile.ZipFile(ws / "a.zip") as archive:
        assert archive.namelist() == ["src/", "src/f"]
    await refused(
        box, "archive_files", "path_denied", action="pack", archive="b.zip", paths=["src/.env"]
    )
    await refused(box, "archive_files", "bad_input", action="pack", archive="b.rar", paths=["src"])
    await refused(box, "archive_files", "bad_input", action="pack", archive="b.zip")
    await refused(
        box,
        "archive_files",
        "path_denied",
        action="pack",
        archive=".git/hooks/x.zip",
        paths=["src"],
    )


def zipped(*members: tuple[str, bytes], mode: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if mode:
                info.create_system = 3
                info.external_attr = mode << 16
            archive.writestr(info, data)
    return out.getvalue()


def tarred(
    kind: bytes = tarfile.REGTYPE, name: str = "x", link: str = "", form: str = "gz"
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{form}") as archive:
        good = tarfile.TarInfo("good")
        good.size = 4
        archive.addfile(good, io.BytesIO(b"good"))
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        archive.addfile(info)
    return out.getvalue()


def encrypted() -> bytes:
    data = bytearray(zipped(("x", b"data")))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = data.find(mark) + (6 if mark == b"PK\x03\x04" else 8)
        data[at] |= 1
    return bytes(data)


def nul_name() -> bytes:
    return zipped(("good.txt", b"x"), ("badZname", b"x")).replace(b"badZname", b"bad\0name")


def many(count: int) -> bytes:
    return zipped(*((f"f{n}", b"") for n in range(count)))


def many_tar(count: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        for number in range(count):
            archive.addfile(tarfile.TarInfo(f"f{number}"))
    return out.getvalue()


def bomb_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("zeros")
        info.size = 60_000_000
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    return out.getvalue()


def lying() -> bytes:
    """The list says 4 bytes; there are 50 MB."""
    data = bytearray(zipped(("zeros", bytes(50_000_000))))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(mark) + offset
        data[at : at + 4] = (4).to_bytes(4, "little")
    return bytes(data)


def long_header() -> bytes:
    """A header that asks for a gigabyte of names."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "slip": (lambda: zipped(("good", b"x"), ("../evil", b"x")), "bad_input"),
    "deep-slip": (lambda: zipped(("good", b"x"), ("a/../../evil", b"x")), "bad_input"),
    "absolute": (lambda: zipped(("good", b"x"), ("/tmp/evil", b"x")), "bad_input"),
    "drive": (lambda: zipped(("good", b"x"), ("C:\\evil", b"x")), "bad_input"),
    "backslash": (lambda: zipped(("good", b"x"), ("a\\..\\..\\evil", b"x")), "bad_input"),
    "nul": (nul_name, "bad_input"),
    "control": (lambda: zipped(("good", b"x"), ("a\nb", b"x")), "bad_input"),
    "twice": (lambda: zipped(("a", b"x"), ("b", b"x"), ("./a", b"y")), "bad_input"),
    "case": (lambda: zipped(("Read", b"x"), ("READ", b"y")), "bad_input"),
    "file-and-folder": (lambda: zipped(("a", b"x"), ("a/b", b"y")), "bad_input"),
    "zip-link": (lambda: zipped(("x", b"/etc/passwd"), mode=0o120777), "bad_input"),
    "zip-device": (lambda: zipped(("x", b""), mode=0o020666), "bad_input"),
    "hooks": (lambda: zipped(("good", b"x"), (".git/hooks/pre-commit", b"x")), "path_denied"),
    "git": (lambda: zipped(("good", b"x"), ("sub/.GIT/HEAD", b"x")), "path_denied"),
    "env": (lambda: zipped(("good", b"x"), ("sub/.env", b"x")), "path_denied"),
    "encrypted": (encrypted, "unsupported_content"),
    "100,000": (lambda: many(100_000), "too_large"),
    "20,000-tar": (lambda: many_tar(20_000), "too_large"),
    "1000:1": (lambda: zipped(("good", b"x"), ("zeros", bytes(60_000_000))), "too_large"),
    "1000:1-tar": (bomb_tar, "too_large"),
    "lying": (lying, "bad_input"),
    "tar-link": (lambda: tarred(tarfile.SYMTYPE, link="/etc"), "bad_input"),
    "tar-hard-link": (lambda: tarred(tarfile.LNKTYPE, link="good"), "bad_input"),
    "tar-device": (lambda: tarred(tarfile.CHRTYPE), "bad_input"),
    "tar-pipe": (lambda: tarred(tarfile.FIFOTYPE), "bad_input"),
    "tar-slip": (lambda: tarred(name="../../evil"), "bad_input"),
    "tar-absolute": (lambda: tarred(name="/tmp/evil"), "bad_input"),
    "tar-header": (long_header, "bad_input"),
    "cut": (lambda: tarred()[:60], "bad_input"),
    "cut-zip": (lambda: zipped(("a", os.urandom(5000)))[:-300], "unsupported_content"),
    "text": (lambda: b"hello world", "unsupported_content"),
    "empty": (lambda: b"", "unsupported_content"),
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.timeout(60)
async def test_hostile_archives_change_nothing(box: Toolbox, ws: Path, case: str) -> None:
    make, code = HOSTILE[case]
    (ws / "a.bin").write_bytes(make())
    (ws / "good").write_bytes(b"mine")
    before = picture(ws)
    arguments = {"archive": "a.bin", "overwrite": True}
    await refused(box, "archive_files", code, action="unpack", **arguments)
    await refused(box, "archive_files", code, action="unpack", folder="new/sub", **arguments)
    assert picture(ws) == before
    assert sorted(p.name for p in ws.parent.iterdir()) == ["state", "ws"]


async def test_what_is_not_unpacked_is_listed(box: Toolbox, ws: Path) -> None:
    for case, name, mark in (
        *(("tar-link", "x", "a symbolic link"), ("zip-link", "x", "a symbolic link")),
        *(("encrypted", "x", "encrypted"), ("slip", "../evil", "unsafe name")),
        *(("control", "a\\u000ab", "unsafe name"), ("twice", "./a", "unsafe name")),
    ):
        (ws / "a.bin").write_bytes(HOSTILE[case][0]())
        listed = await ok(box, "archive_files", action="list", archive="a.bin")
        found = {entry["name"]: entry.get("unsafe", "") for entry in listed.data["entries"]}
        assert found[name] == mark, case
        assert f"[{mark}]" in listed.text
    (ws / "a.bin").write_bytes(bomb_tar())
    await refused(box, "archive_files", "too_large", action="list", archive="a.bin")


async def test_some_of_an_archive_are_unpacked(box: Toolbox, ws: Path) -> None:
    (ws / "a.zip").write_bytes(zipped(("u.json", b"new"), ("d/x", b"1"), ("d/y", b"2"), ("z", b"")))
    (ws / "z").write_bytes(b"mine")
    call = {"action": "unpack", "archive": "a.zip", "overwrite": True}
    made = await ok(box, "archive_files", **call, paths=["u.json", "d"])
    assert "3 files" in made.text
    assert [(ws / name).read_bytes() for name in ("u.json", "d/x", "z")] == [b"new", b"1", b"mine"]
    result = await refused(
        box, "archive_files", "not_found", **call, paths=["u.json", "users.json"]
    )
    assert "a.zip has no users.json" in result.render()
    assert "u.json, d/x, d/y, z" in result.render()


@pytest.mark.parametrize(("ending", "form"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
async def test_a_file_that_is_compressed_alone(
    box: Toolbox, ws: Path, ending: str, form: Any
) -> None:
    packed = form.compress(b"some words\n" * 400)
    (ws / f"x.txt.{ending}").write_bytes(packed)
    listed = await ok(box, "archive_files", action="list", archive=f"x.txt.{ending}")
    assert "x.txt  4,400" in listed.text
    call = {"action": "unpack", "archive": f"x.txt.{ending}", "folder": "new"}
    await ok(box, "archive_files", **call)
    assert (ws / "new/x.txt").read_bytes() == b"some words\n" * 400
    (ws / f"x.txt.{ending}").write_bytes(packed[:-9])
    result = await refused(box, "archive_files", "bad_input", **call, overwrite=True)
    assert "damaged" in result.render()
    (ws / f"x.txt.{ending}").write_bytes(form.compress(b"x" * 20_000_000))
    await refused(box, "archive_files", "too_large", **call, overwrite=True)
    (ws / f"x.tar.{ending}").write_bytes(packed)
    await refused(box, "archive_files", "bad_input", action="unpack", archive=f"x.tar.{ending}")


async def test_times_of_files_are_kept(box: Toolbox, ws: Path) -> None:
    when = 1_600_000_000
    (ws / "f").write_text("x")
    os.utime(ws / "f", (when, when))
    for form in ("zip", "tar.gz"):
        await ok(box, "archive_files", action="pack", archive=f"a.{form}", paths=["f"])
        await ok(box, "archive_files", action="unpack", archive=f"a.{form}", folder=form)
        assert (ws / form / "f").stat().st_mtime == when
    (ws / "b.zip").write_bytes(zipped(("old", b"x")))
    await ok(box, "archive_files", action="unpack", archive="b.zip", folder="b")
    assert (ws / "b" / "old").stat().st_mtime > when, "it says no time"


async def test_a_damaged_member_leaves_the_tree(box: Toolbox, ws: Path) -> None:
    data = bytearray(zipped(("a", b"first"), ("b", os.urandom(10_000)), ("c", b"last")))
    data[len(data) // 2] ^= 0xFF
    (ws / "a.zip").write_bytes(data)
    before = picture(ws)
    await refused(box, "archive_files", "bad_input", action="unpack", archive="a.zip", folder="x")
    assert picture(ws) == before


async def test_a_zip_that_lies_about_how_many_it_holds(box: Toolbox, ws: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for number in range(30_000):
            archive.writestr(f"{number:0150}", b"")
    raw = bytearray(held.getvalue())
    end = raw.rfind(b"PK\x05\x06")
    raw[end + 16 : end + 20] = b"PK\x05\x06"  # a second mark, in the place of the offset
    (ws / "lies.zip").write_bytes(raw)
    with pytest.raises(BadInput), (ws / "lies.zip").open("rb") as file:
        open_archive(file, len(raw), ArchiveLimits(entries=1), lambda: None)


@pytest.mark.parametrize("form", ["zip", "tar"])
@pytest.mark.parametrize("name", [".git/hooks/x", ".git/config", ".husky/pre-commit", "a/.husky/x"])
async def test_nothing_is_unpacked_beside_a_hook(
    box: Toolbox, ws: Path, form: str, name: str
) -> None:
    """Also where the folder to unpack into is the protected one, and also with overwriting."""
    if form == "zip":
        (ws / "a.bin").write_bytes(zipped(("good", b"x"), (name, b"#!/bin/sh")))
    else:
        (ws / "a.bin").write_bytes(tarred(name=name))
    (ws / ".git/hooks").mkdir(parents=True)
    before = picture(ws)
    for more in ({}, {"folder": "new"}, {"overwrite": True}):
        arguments = {"action": "unpack", "archive": "a.bin", **more}
        denied = await refused(box, "archive_files", "path_denied", **arguments)
        assert denied.error is not None
        assert name.rpartition("/")[2] in denied.error.message or ".git" in denied.error.message
        assert picture(ws) == before
    (ws / "a.bin").write_bytes(zipped(("pre-commit", b"x")))
    before = picture(ws)
    for folder in (".git/hooks", ".husky"):
        await refused(
            box, "archive_files", "path_denied", action="unpack", archive="a.bin", folder=folder
        )
    assert picture(ws) == before
