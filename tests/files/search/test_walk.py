"""Which files are looked at: the same as ripgrep looks at, by the same .gitignore files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolcrib.files.path_rules import Protection
from toolcrib.files.paths import Workspace
from toolcrib.files.search.globs import Globs
from toolcrib.files.search.scope import scope_of, walk
from toolcrib.system.threads import Checkpoint

RG = str(Path(sys.executable).with_name("rg"))
FILES = [
    "a.py",
    "b.log",
    "src/a.py",
    "src/x/b.log",
    "src/x/y/a.py",
    "lib/src/a.py",
    "lib/B.log",
    "x/a b",
]
LINES = st.sampled_from(
    ["*.py", "/a.py", "src/", "/src/x", "x/", "**/x/", "src/**", "src/*/b.log", "!a.py", "!src/x/",
     "*", "!*/", "!*.log", "# note", "", "b.*  ", "[ab].*", "?.py", "lib/**/a.py", "/lib/*", "a\\ b",  # noqa: E501 - a table
     "**/y/**", "!/lib/B.log", "x/y", "/*", "!/src"]
)  # fmt: skip


def listed(root: Path, folder: str = ".") -> list[str]:
    scope = scope_of(Workspace([str(root)]).resolve(folder))
    with scope.real.open() as top:
        return sorted(
            level.prefix + n for level in walk(scope, top, Checkpoint()) for n in level.files
        )


@settings(max_examples=60)
@example(top=["/lib/*", "!*.log"], below=[])
@example(top=["src/**", "!a.py"], below=["*", "!*/"])
@given(top=st.lists(LINES, max_size=5), below=st.lists(LINES, max_size=3))
def test_as_ripgrep(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], below: list[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / ".gitignore").write_text("\n".join(top))
    (root / "src" / ".gitignore").write_text("\n".join(below))
    ran = subprocess.run(
        [RG, "--no-config", "--hidden", "--no-require-git", "--files", "--null", "./"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    theirs = sorted(name.removeprefix("./") for name in ran.stdout.split("\0") if name)
    assert listed(root) == theirs
    if any(name.startswith("src/x/") for name in theirs):
        beneath = [name.removeprefix("src/x/") for name in theirs if name.startswith("src/x/")]
        assert listed(root, "src/x") == beneath


def test_a_folder_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    (tmp_path / "a.txt").touch()
    assert listed(tmp_path) == ["a.txt"]


def test_deep_trees_and_names_that_are_not_text(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(120):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.txt").touch()
    (Path(str(tmp_path) + "/\udcff.txt")).touch()
    assert listed(tmp_path) == ["\udcff.txt"]


@pytest.mark.parametrize(
    "name", [".env", ".ENV", ".env.local", "x.pem", "x.PEM ", "id_rsa", "sub/.aws/x"]
)
def test_protected_names_are_left_out(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).touch()
    (tmp_path / ".env.example").touch()
    assert listed(tmp_path) == [".env.example"]


def test_names_of_the_user_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a").touch()
    workspace = Workspace([str(tmp_path)], Protection(["private"]))
    scope = scope_of(workspace.start())
    with scope.real.open() as top:
        assert [level.files for level in walk(scope, top, Checkpoint())] == [[]]


@given(st.text(st.sampled_from("ab*?[]{},/!.\\-^"), max_size=12), st.text("ab/.", max_size=8))
def test_any_glob_is_understood(glob: str, path: str) -> None:
    Globs([glob]).fits(path)
    list(Globs([glob]).among(path.encode())) if Globs([glob]).wanted else None
