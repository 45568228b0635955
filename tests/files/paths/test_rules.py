"""Paths as text: what is refused by its spelling, and what is the same name."""

from __future__ import annotations

import os.path

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.path_rules import (
    anchor,
    fold,
    is_absolute,
    normal_parts,
    parts_beneath,
    refusal,
    slashed,
)

EVERYWHERE = {
    "": "empty",
    "  \t": "empty",
    "a\0b": "NUL",
    "a\nb": "control",
    "a\x7f": "control",
    "a\x85b": "control",
    "a\u2028b": "control",
    "a\ud800b": "Unicode",
    "\\\\?\\C:\\x": "device path",
    "\\\\.\\PhysicalDrive0": "device path",
    "//?/C:/x": "device path",
    "\\??\\C:": "device path",
    "c:x": "drive",
    "NUL": "device name",
    "src/con": "device name",
    "aux ": "device name",
    "com1.": "device name",
    "LPT9": "device name",
    "com¹": "device name",
    "CONIN$": "device name",
    "notes.txt::$DATA": "stream",
    "x" * 4097: "longer",
}
ELSEWHERE = {
    "..\\..\\etc\\passwd": "climbs",
    "src/..\\..\\x": "climbs",
    "\\\\server\\share": "network",
    "//server/share": "network",
    "/\\server": "network",
    "C:\\Windows": "drive",
    "Z:/": "drive",
}
FINE = [
    "a",
    ".",
    "..",
    "src/main.py",
    "aux.c",
    "nullable.py",
    "console",
    "2024-01-01T10:00:00.log",
    "Foo::Bar.3pm",
    "B::Deparse.3pm",
    "name with spaces ",
    "ünïcödé/文件.txt",
    "back\\slash",
    "-rf",
    "%2e%2e%2f",
]
WINDOWS = {
    "aux.c": "device name",
    "src/nul.txt": "device name",
    "ab:c": "stream",
    "file.txt:hidden": "stream",
    "name.": "ends with",
    "dir /x": "ends with",
    "GIT~1/config": "short name",
    "PROGRA~1": "short name",
    "a?b": "does not allow",
    'a"b': "does not allow",
}


@each_case("windows", [False, True])
@each_case("text", EVERYWHERE)
def test_refused_on_every_system(text: str, windows: bool) -> None:
    assert EVERYWHERE[text] in refusal(text, windows=windows)


@each_case("text", ELSEWHERE)
def test_refused_where_they_lead_nowhere(text: str) -> None:
    assert ELSEWHERE[text] in refusal(text)


@each_case("text", ["C:\\Windows", "Z:/", "\\\\server\\share\\a.txt", "//server/share", "a\\b"])
def test_places_of_windows_are_judged_by_where_they_are(text: str) -> None:
    assert refusal(text, windows=True) == ""


@each_case(
    ("path", "parts"),
    [
        ("C:/Users/me/ws/a.txt", ["a.txt"]),
        ("c:/users/ME/WS/src/B.txt", ["src", "B.txt"]),
        ("C:/Users/me/ws", []),
        ("C:/Users/me/ws_evil/a.txt", None),
        ("D:/Users/me/ws/a.txt", None),
        ("C:/Users/me/ws/../secret", None),
        ("//server/share/Users/me/ws/a.txt", None),
    ],
)
def test_beneath_a_root_of_windows(path: str, parts: list[str] | None) -> None:
    assert parts_beneath(path, "C:/Users/me/ws", windows=True) == parts


def test_on_linux_case_is_another_name() -> None:
    assert parts_beneath("/Srv/ws/a", "/srv/ws", windows=False) is None


@each_case(
    ("path", "plain", "top"),
    [
        ("c:\\Users\\me", "C:/Users/me", "C:/"),
        ("\\\\?\\C:\\Users", "C:/Users", "C:/"),
        ("\\\\?\\UNC\\server\\share\\a", "//server/share/a", "//server/share/"),
        ("\\\\server\\share", "//server/share", "//server/share"),
        ("src\\main.py", "src/main.py", ""),
    ],
)
def test_paths_of_windows_as_they_are_written_here(path: str, plain: str, top: str) -> None:
    assert slashed(path, windows=True) == plain
    assert anchor(plain, windows=True)[0] == top
    assert is_absolute(plain, windows=True) == bool(top)


@each_case("text", FINE)
def test_ordinary_names_pass(text: str) -> None:
    assert refusal(text) == ""


@each_case("text", WINDOWS)
def test_windows_names(text: str) -> None:
    assert WINDOWS[text] in refusal(text, windows=True)


@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    reason = refusal(text)
    if "\0" in text or not text.strip():
        assert reason
    if text.isalpha() and text.isascii() and len(text) > 7:
        assert reason == ""


@each_case(
    ("one", "other"),
    [
        (".GIT", ".git"),
        (".git.", ".git"),
        (".git ", ".git"),
        (".g\u200cit", ".git"),
        ("caf\u00e9", "cafe\u0301"),
        ("STRASSE", "straße"),
        ("\u212aey", "key"),
    ],
)
def test_names_that_are_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(st.text(min_size=1, max_size=20))
def test_folding_twice_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@each_case(
    ("path", "parts"),
    [
        ("/srv/ws", []),
        ("/srv/ws/a/b", ["a", "b"]),
        ("/srv/ws/a/../b", ["b"]),
        ("/srv/ws_evil/s", None),
        ("/srv/ws/../ws_evil/s", None),
        ("/srv", None),
        ("/", None),
        ("/../srv/ws/a", None),
    ],
)
def test_beneath(path: str, parts: list[str] | None) -> None:
    assert parts_beneath(path, "/srv/ws") == parts


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "ws", "ws_evil"]), max_size=8)


@given(NAMES)
def test_normal_parts_agree_with_the_standard_library(names: list[str]) -> None:
    parts = normal_parts("/".join(names))
    normal = os.path.normpath("x/" * 9 + "/".join(names))
    if parts is None:
        assert not normal.startswith("x/" * 8 + "x")
    else:
        assert normal == os.path.normpath("/".join(["x"] * 9 + parts))
