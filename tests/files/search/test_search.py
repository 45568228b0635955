"""One meaning of a search, whichever engine does it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.files.search.conftest import engines
from toolcrib.core.errors import BadInput
from toolcrib.files.live_runs import begin_run
from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace
from toolcrib.files.search import search
from toolcrib.files.search.hits import spans, text_of
from toolcrib.files.search.pattern import pattern_of
from toolcrib.files.search.ripgrep import NOT_UTF8
from toolcrib.files.search.scope import scope_of
from toolcrib.files.search.search import MatchCounts, Search
from toolcrib.system import openat
from toolcrib.system.processes import Processes

pytestmark = pytest.mark.rows("C024", "C025")
EXPECTED = {
    ".dotfile": 1,
    ".env.example": 1,
    "big-end.txt": 1,
    "id_rsa.pub": 1,
    "latin.txt": 1,
    "logs/keep.log": 1,
    "marked.txt": 1,
    "odd: name\n.txt": 1,
    "src/a.py": 2,
    "src/deep/b.PY": 2,
    "wide.txt": 1,
}


@pytest.fixture
async def processes() -> AsyncIterator[Processes]:
    found = Processes()
    yield found
    await found.close()


async def count(
    workspace: Workspace, processes: Processes, engine: str, text: str, **more: Any
) -> MatchCounts:
    globs = more.pop("globs", [])
    path = more.pop("path", ".")
    seconds = more.pop("seconds", 20)
    pattern = pattern_of(text, **({"literal": False, "case_sensitive": None} | more))
    scope = scope_of(workspace.resolve(path), globs)
    return await Search(workspace, processes, engine).count(scope, pattern, seconds)  # type: ignore[arg-type]


@pytest.mark.rows("E16")
@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("engine", engines())
async def test_what_is_searched(workspace: Workspace, processes: Processes, engine: str) -> None:
    found = await count(workspace, processes, engine, "needle")
    assert dict(found.files) == EXPECTED
    assert found.engine == engine
    assert not found.aborted


@pytest.mark.usefixtures("full")
@each_case("engine", engines())
@each_case(
    ("text", "more", "expected"),
    [
        ("Needle", {}, {"src/a.py": 1}),
        (
            "NEEDLE",
            {"case_sensitive": False, "globs": ["*.py"]},
            {"src/a.py": 2, "src/deep/b.PY": 2},
        ),
        (
            "Needle",
            {"literal": True, "case_sensitive": False, "path": "src"},
            {"a.py": 2, "deep/b.PY": 2},
        ),
        (
            "needle",
            {"case_sensitive": True, "globs": ["*.py"]},
            {"src/a.py": 1, "src/deep/b.PY": 2},
        ),
        ("needle", {"globs": ["src/**"]}, {"src/a.py": 2, "src/deep/b.PY": 2}),
        ("needle", {"globs": ["*.{py,log}, !a.*"]}, {"logs/keep.log": 1, "src/deep/b.PY": 2}),
        ("needle", {"globs": ["build/*"]}, {"build/out.txt": 1}),
        ("needle", {"path": "gen"}, {"code.py": 1}),
        ("needle", {"path": "logs"}, {"keep.log": 1}),
        ("needle", {"path": "node_modules"}, {"pkg/index.js": 1}),
        ("needle", {"path": ".hidden"}, {"x.txt": 1}),
        ("needle$", {"path": "src"}, {"deep/b.PY": 2}),
        ("^needle", {"globs": ["marked.txt", "latin.txt"]}, {"marked.txt": 1}),
        ("d$n", {"literal": True}, {"src/deep/b.PY": 1}),
        (r"\bcaf.\s*needle", {}, {}),
        (r"[^x]needle\s", {"path": "src"}, {"deep/b.PY": 2}),
        (r"(a)\1", {}, {}),
        ("nowhere", {}, {}),
    ],
)
async def test_kinds_of_search(
    workspace: Workspace,
    processes: Processes,
    engine: str,
    text: str,
    more: dict[str, Any],
    expected: dict[str, int],
) -> None:
    found = await count(workspace, processes, engine, text, **more)
    assert dict(found.files) == expected


async def test_folders_that_are_left_out_in_any_spelling(
    ws: Path, workspace: Workspace, processes: Processes
) -> None:
    for folder in ("a/.odd", "a/.Git", "a/Node_Modules/x", "a/DIST", "a/.AWS", "a/b", ".odd/b"):
        (ws / folder).mkdir(parents=True)
        (ws / folder / "x.txt").write_text("needle\n")
    for name in ("a/.npmrc", "a/.NPMRC ", "a/SERVER.pem", "a/b/ID_RSA", "a/\u212aube.key"):
        (ws / name).write_text("needle\n")
    for engine in engines():
        found = await count(workspace, processes, engine, "needle")
        assert dict(found.files) == {"a/b/x.txt": 1}
        assert found.engine == engine


@pytest.mark.parametrize("lifted", [".npmrc", ".n*", ".aws/config", "*.key"])
async def test_what_the_user_lifts_is_searched(ws: Path, processes: Processes, lifted: str) -> None:
    (ws / ".aws").mkdir()
    for name in (".npmrc", ".netrc", ".aws/config", "a.key", "b.pem"):
        (ws / name).write_text("needle\n")
    workspace = Workspace([str(ws)], Protection(unprotect=[lifted]))
    expected = {".n*": {".netrc": 1, ".npmrc": 1}, ".npmrc": {".npmrc": 1}, "*.key": {"a.key": 1}}
    for engine in engines():
        found = await count(workspace, processes, engine, "needle")
        assert dict(found.files) == expected.get(lifted, {})
        assert found.engine == engine


@pytest.mark.usefixtures("full")
async def test_a_link_that_appears_is_not_followed(
    ws: Path, workspace: Workspace, processes: Processes, tmp_path: Path
) -> None:
    (ws / "src" / "a.py").unlink()
    (ws / "src" / "a.py").symlink_to(tmp_path / "outside" / "secret.txt")
    for engine in engines():
        found = await count(workspace, processes, engine, "outside")
        assert found.files == ()


async def test_the_time_ends_a_search(ws: Path, workspace: Workspace, processes: Processes) -> None:
    for number in range(3000):
        (ws / f"f{number}.txt").write_text("needle\n" * 50)
    for engine in engines():
        found = await count(workspace, processes, engine, "needle", seconds=0.01)
        assert found.aborted
    assert processes.running == 0


async def test_a_gitignore_file_of_any_size(
    ws: Path, workspace: Workspace, processes: Processes
) -> None:
    (ws / ".gitignore").write_text("".join(f"*{'a*' * 40}{n}\n" for n in range(60_000)))
    (ws / f"{'a' * 200}.txt").write_text("needle\n")
    found = await count(workspace, processes, "python", "needle")
    assert found.lines == 1


@pytest.mark.rows("C182")
async def test_a_pattern_that_explodes_elsewhere(
    ws: Path, workspace: Workspace, processes: Processes
) -> None:
    (ws / "a.txt").write_text("a" * 50_000 + "b\n")
    for engine in engines():
        found = await count(workspace, processes, engine, r"(a+)+$")
        assert found.lines == 0
        assert not found.aborted


@pytest.mark.rows("C182")
@each_case("text", ["", "a\nb", "x" * 1001])
def test_refused_patterns(text: str) -> None:
    with pytest.raises(BadInput):
        pattern_of(text, literal=False, case_sensitive=None)


@each_case("text", [r"(?=a)b", r"(a)\1", "(unclosed", "*", r"a\nb", "[z-a]"])
def test_no_expression_is_taken_as_text(text: str) -> None:
    made = pattern_of(text, literal=False, case_sensitive=None)
    assert made.literal
    assert made.reason
    assert [s[:2] for s in spans(f"1 {text}\n".encode(), made)] == [(0, len(text) + 2)]


RG = str(Path(sys.executable).with_name("rg"))
LINE = st.text(st.sampled_from("aAbB \tä$.\\ß1_"), max_size=8)
PIECE = st.sampled_from(
    ["a", "B", "ä", ".", r"\w", r"\d", r"\s", r"\b", "$", "^", "[^a]", "[ab_]", "a*", "b+", "(?:a|b)",  # noqa: E501 - a table
     r"\W", r"\S", "a?", "[^b\\s]", r"\.", "ß", r"\$", "1", "_", r"[\w$]", r"\pL", "a{2}"]
)  # fmt: skip


@settings(max_examples=40)
@given(
    texts=st.lists(st.lists(LINE, min_size=1, max_size=6), min_size=1, max_size=4),
    pieces=st.lists(PIECE, min_size=1, max_size=4),
    case_sensitive=st.booleans(),
    crlf=st.booleans(),
)
def test_ripgrep_finds_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    pieces: list[str],
    case_sensitive: bool,
    crlf: bool,
) -> None:
    folder = tmp_path_factory.mktemp("same")
    made = pattern_of("".join(pieces), literal=False, case_sensitive=case_sensitive)
    ours = {}
    for number, lines in enumerate(texts):
        data = (("\r\n" if crlf else "\n").join(lines) + "\n").encode()
        (folder / f"{number}.txt").write_bytes(data)
        text = text_of(data)
        assert text is not None
        fitting = sum(1 for _ in spans(text, made))
        if fitting:
            ours[f"{number}.txt"] = fitting
    flag = "-i" if made.ignore_case else "-s"
    ran = subprocess.run(
        [RG, "--no-config", flag, "-c", "--with-filename", "-e", made.rust or "", "."],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert ran.returncode in (0, 1), ran.stderr
    theirs = dict(line.removeprefix("./").rsplit(":", 1) for line in ran.stdout.splitlines())
    assert {name: int(n) for name, n in theirs.items()} == ours


ODD = {
    "a.csv": ("Stadt;Preis\n" + "Köln;3,50 €\nMünchen;4 €\n" * 3, "cp1252"),
    "d/b.csv": ("都市,人口\n東京,9000000\n大阪,2700000\n" * 3, "shift_jis"),
    "c.csv": ("Город;Число\nМосква;5\nКазань;6\nНовосибирск;3\n", "cp1251"),  # noqa: RUF001 - Cyrillic
    "e.txt": ("こんにちは 都市 です\n", "iso-2022-jp"),
    "f.txt": ("Köln 都市 Москва\n", "utf-8"),
}


async def test_files_in_other_encodings_are_searched_as_they_are_read(
    ws: Path, workspace: Workspace, processes: Processes
) -> None:
    (ws / "d").mkdir()
    for name, (text, encoding) in ODD.items():
        (ws / name).write_bytes(text.encode(encoding))
    expected = {
        "Köln": {"a.csv": 3, "f.txt": 1},
        "köln$": {},
        "münchen;": {"a.csv": 3},
        "都市": {"d/b.csv": 3, "e.txt": 1, "f.txt": 1},
        "Москва;": {"c.csv": 1},
        "Stadt": {"a.csv": 1},
    }
    for engine in engines():
        for text, files in expected.items():
            found = await count(workspace, processes, engine, text, case_sensitive=False)
            assert dict(found.files) == files, (engine, text)
            assert not found.aborted
        found = await count(workspace, processes, engine, "Köln", globs=["*.txt"])
        assert dict(found.files) == {"f.txt": 1}
    # A line of another encoding takes nothing from the others.
    (ws / "f.txt").write_bytes("Köln\n".encode() * 20 + "Käse\n".encode("cp1252"))
    for engine in engines():
        for text, lines in (("Köln", 20), ("Käse", 1)):
            found = await count(workspace, processes, engine, text, globs=["f.txt"])
            assert dict(found.files) == {"f.txt": lines}, engine


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*"aä€\n😀", *"\x7f\x80\xbf\xc3\xe2\xf0\xff"]), max_size=8))
def test_ripgrep_names_what_is_not_utf8(
    tmp_path_factory: pytest.TempPathFactory, signs: list[str]
) -> None:
    """It may name more, but never less."""
    folder = tmp_path_factory.mktemp("odd")
    data = b"".join(s.encode("latin-1" if "\x7f" <= s <= "\xff" else "utf-8") for s in signs)
    (folder / "x").write_bytes(data)
    command = [RG, "--no-config", "-q", "-e", NOT_UTF8.rust or "", "x"]
    is_named = subprocess.run(command, cwd=folder).returncode == 0
    try:
        data.decode()
    except UnicodeDecodeError:
        assert is_named, data


async def test_large_files_are_searched(
    ws: Path, workspace: Workspace, processes: Processes
) -> None:
    (ws / "small.txt").write_text("needle\n")
    (ws / "lines.txt").write_bytes((b"needle\n" + b"x" * 99 + b"\n") * 100_000)
    (ws / "one-line.txt").write_bytes(b"x" * 12_000_000 + b"needle")
    (ws / "wide.txt").write_bytes(("no\n" * 2_000_000 + "needle\n").encode("utf-16"))
    (ws / "late.bin").write_bytes(b"needle\n" + b"x" * 12_000_000 + b"\0")
    for engine in engines():
        found = await count(workspace, processes, engine, "needle", seconds=60)
        expected = {"small.txt": 1, "lines.txt": 100_000, "one-line.txt": 1, "wide.txt": 1}
        assert dict(found.files) == expected
        assert found.left_out is not None
        assert found.left_out.paths == {"binary": ["late.bin"]}
        assert found.engine == engine
        assert not found.aborted


@pytest.mark.parametrize("sized", [False, True])
async def test_an_attempt_that_reads_files_of_any_size(
    ws: Path, workspace: Workspace, processes: Processes, sized: bool
) -> None:
    """The short attempt ends at its bounds and says so; the other one leaves the file alone."""
    with (ws / "one-line.txt").open("wb") as file:
        for _ in range(40):
            file.write(b"x" * 16_000_000)
    (ws / "small.txt").write_text("needle\n")
    program = await search.find_program(workspace, processes)
    if not program:
        pytest.skip("no ripgrep")
    pattern = pattern_of("needle", literal=False, case_sensitive=False)
    scope = scope_of(workspace.start())
    found = await search.ripgrep_counts(program, scope, pattern, processes, 25, sized=sized)
    if sized:
        assert found is not None
        assert found.files == [("small.txt", 1)]
        assert found.ended
    else:
        assert found is None or not found.ended


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("engine", engines())
async def test_beside_a_run_files_are_opened_in_their_folders_alone(
    workspace: Workspace, processes: Processes, engine: str
) -> None:
    """By its path, a file is another one once a run has put a link into the place of a folder."""
    with openat.closing(begin_run()):
        found = await count(workspace, processes, engine, "needle")
    assert (dict(found.files), found.engine) == (EXPECTED, "python")
    assert (await count(workspace, processes, engine, "needle")).engine == engine
