"""What was probably meant: slips, other cases and endings, other folders."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput, NotFound, PathDenied, ToolError
from toolcrib.files.paths import Workspace
from toolcrib.files.suggestions import FolderName, MissingPath, guesses

FILES = [
    "README.md",
    "setup.cfg",
    "src/app/main.py",
    "src/app/models/user.py",
    "src/app/models/order.py",
    "src/app/views/user_list.tsx",
    "src/lib/parse_header.go",
    "tests/test_user.py",
    "docs/Installation Guide.md",
    "config/settings.yaml",
    "node_modules/left/user.py",
    "assets/logo.png",
]


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return Workspace([str(tmp_path)])


def guessed(project: Workspace, text: str, directory: str = "") -> list[str]:
    with pytest.raises(NotFound) as caught:
        project.resolve(text, directory).read_bytes(10)
    near = list(caught.value.details["near"])
    assert all(name in caught.value.hint for name in near)
    return near


@each_case(
    ("requested", "meant"),
    [
        # A slip in the name, in a folder, in both.
        ("src/app/mian.py", "src/app/main.py"),
        ("scr/app/main.py", "src/app/main.py"),
        ("scr/ap/mian.py", "src/app/main.py"),
        ("src/app/model/user.py", "src/app/models/user.py"),
        # Another case.
        ("readme.md", "README.md"),
        ("SRC/App/Main.py", "src/app/main.py"),
        # Another extension.
        ("config/settings.yml", "config/settings.yaml"),
        ("src/lib/parse_header.rs", "src/lib/parse_header.go"),
        ("README", "README.md"),
        # The right name in another folder.
        ("main.py", "src/app/main.py"),
        ("src/main.py", "src/app/main.py"),
        ("app/models/user.py", "src/app/models/user.py"),
        ("lib/user_list.tsx", "src/app/views/user_list.tsx"),
        ("logo.png", "assets/logo.png"),
        # A slip in a name that stands elsewhere.
        ("parse_haeder.go", "src/lib/parse_header.go"),
        ("docs/installation guide.md", "docs/Installation Guide.md"),
    ],
)
def test_the_first_guess_is_right(project: Workspace, requested: str, meant: str) -> None:
    assert guessed(project, requested)[0] == meant


def test_guesses_can_be_sent_as_they_stand(project: Workspace) -> None:
    root = project.roots[0].name
    for directory in (f"{root}/src/app", f"{root}/tests"):
        near = guessed(project, "models/uesr.py", directory)
        assert near
        assert all(project.resolve(name, directory).stat() for name in near)


@each_case("requested", ["zebra.bin", "src/app/qqqqqqqq.xyz", "nothing/like/it.doc"])
def test_nothing_like_it(project: Workspace, requested: str) -> None:
    assert guessed(project, requested) == []


def test_a_file_with_an_ending_is_no_folder(tmp_path: Path) -> None:
    for folder in ("proj/shop", "app", "notes.d"):
        (tmp_path / folder).mkdir(parents=True)
    workspace = Workspace([str(tmp_path)])
    assert guessed(workspace, "shop.db") == []
    assert guessed(workspace, "api/p1.json") == []
    assert guessed(workspace, "shap") == ["proj/shop"]
    assert guessed(workspace, "note.d") == ["notes.d"]


def test_what_programs_made_is_no_guess(project: Workspace) -> None:
    assert not any("node_modules" in name for name in guessed(project, "user.py"))
    assert guessed(project, "node_modules/left/usr.py")[0] == "node_modules/left/user.py"


def test_a_large_tree_costs_no_more_than_its_bound(tmp_path: Path) -> None:
    for folder in range(60):
        (tmp_path / f"folder{folder}" / "inner").mkdir(parents=True)
        for number in range(40):
            (tmp_path / f"folder{folder}" / "inner" / f"file{number}.txt").touch()
    assert guessed(Workspace([str(tmp_path)]), "file7.txt")[0].endswith("/file7.txt")


def test_names_alone() -> None:
    names = [FolderName(name, is_folder=False) for name in ("main.py", "other.py", "main.js")]
    assert guesses(("mian.py",), lambda _: names)[0] == ("main.py",)
    assert guesses(("x",), lambda _: [FolderName("completely", is_folder=False)]) == []


def test_what_is_near_is_searched_when_the_hint_is_read_and_a_traceback_shows_it() -> None:
    searches: list[str] = []

    def find() -> tuple[str, list[str]]:
        searches.append("once")
        return "Did you mean a.py?", ["a.py"]

    error = MissingPath("b.py does not exist.", find)
    assert not searches
    printed = "".join(traceback.format_exception(error))
    assert printed.endswith("b.py does not exist.\nDid you mean a.py?\n")
    assert (error.hint, error.details) == ("Did you mean a.py?", {"near": ["a.py"]})
    assert searches == ["once"]


def test_what_came_meanwhile_is_not_asked_about(project: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        project.resolve("later.txt", "").read_bytes(10)
    (tmp_path / "later.txt").write_text("x")
    assert "later.txt?" not in caught.value.hint


@each_case(
    ("requested", "folder"),
    [
        ("src/app/qqqqq/zzzzz", "src/app"),
        ("qqqqq/zzzzz", "."),
        ("README.md/zzzzz", "."),
    ],
)
def test_where_nothing_is_like_it_the_folder_that_is_there_is_named(
    project: Workspace, requested: str, folder: str
) -> None:
    with pytest.raises(NotFound) as caught:
        project.resolve(requested).read_bytes(10)
    assert caught.value.hint == f'list_directory with path="{folder}" shows what there is.'


@each_case(
    "text",
    [
        "/workspace/src/app/main.py",
        "/repo/x/app/../src/app/main.py",
        "C:\\Users\\me\\ws\\src\\app\\main.py",
        "/src/app/main.py",
    ],
)
def test_invented_folders_above_are_left_out(project: Workspace, text: str) -> None:
    with pytest.raises(PathDenied) as caught:
        project.resolve(text)
    meant = f"Did you mean {project.roots[0].name}/src/app/main.py?"
    assert caught.value.hint.startswith(meant)


@each_case("text", ["/etc/none.py", "/x/.env", "/\ud800", "/", "/.."])
def test_nothing_is_meant_that_is_not_there_or_protected(project: Workspace, text: str) -> None:
    Path(project.roots[0].name, ".env").write_text("A=1")
    with pytest.raises(ToolError) as caught:
        project.resolve(text)
    assert "Did you mean" not in caught.value.hint


def test_the_address_of_a_page_is_no_file(project: Workspace) -> None:
    with pytest.raises(BadInput, match="is no file") as caught:
        project.resolve("http://127.0.0.1/README.md")
    assert "fetch_url" in caught.value.hint
