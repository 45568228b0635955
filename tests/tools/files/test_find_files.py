"""`find_files` through the whole pipeline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.files.search.catalog import Catalog, _by_python
from toolcrib.toolbox import Toolbox


@pytest.fixture
def tree(ws: Path) -> Path:
    for name in ("src/deep", "node_modules/pkg", ".hidden", ".ssh", "docs"):
        (ws / name).mkdir(parents=True)
    for place, name in enumerate(
        (
            "src/user_service.py",
            "src/deep/user_service_test.py",
            "src/deep/Main.PY",
            "docs/readme.md",
            "node_modules/pkg/index.js",
            ".hidden/x.py",
            ".ssh/id_rsa",
            ".env",
            ".gitignore",
            "ignored.py",
        )
    ):
        (ws / name).write_text("ignored.py\n" if name == ".gitignore" else "x")
        os.utime(ws / name, (place, place))
    return ws


async def paths(box: Toolbox, **arguments: object) -> list[str]:
    result = await box.call("find_files", arguments)
    assert result.error is None
    found: list[str] = result.data["paths"]
    return found


@pytest.mark.rows("C015", "E18")
@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("*.py", ["src/deep/Main.PY", "src/deep/user_service_test.py", "src/user_service.py"]),
        ("src/*.py", ["src/user_service.py"]),
        ("**/deep/*", ["src/deep/Main.PY", "src/deep/user_service_test.py"]),
        ("de*/", ["src/deep/"]),
        ("node_modules/**/*.js", ["node_modules/pkg/index.js"]),
        (".hidden/*", [".hidden/x.py"]),
        ("*.env", [".env"]),
        ("id_*", []),
        ("SERVICE", ["src/user_service.py", "src/deep/user_service_test.py"]),
        ("service.py", ["src/user_service.py"]),
        ("readme", ["docs/readme.md"]),
    ],
)
async def test_by_name(box: Toolbox, query: str, expected: list[str]) -> None:
    assert await paths(box, query=query) == expected


@pytest.mark.rows("C016", "E19")
@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "query", ["usr_servic.py", "user_sevrice.py", "userservice", "usre_service.py"]
)
async def test_with_typos(box: Toolbox, query: str) -> None:
    assert (await paths(box, query=query))[0] == "src/user_service.py"


def test_with_typos_without_the_package() -> None:
    catalog = Catalog(paths=["src/", "src/user_service.py", "docs/readme.md"])
    assert _by_python(catalog.paths, "user_sevrice.py", 5) == ["src/user_service.py"]


@pytest.mark.rows("C016")
async def test_a_new_file_is_found_and_a_deleted_one_is_not(ws: Path, box: Toolbox) -> None:
    (ws / "first.txt").touch()
    assert await paths(box, query="first") == ["first.txt"]
    (ws / "second_unlike.log").touch()
    assert await paths(box, query="second_unlike", mode="substring") == ["second_unlike.log"]
    (ws / "first.txt").unlink()
    assert await paths(box, query="*.txt") == []


@pytest.mark.usefixtures("tree")
async def test_protected_names_are_marked(box: Toolbox) -> None:
    result = await box.call("find_files", {"query": ".env"})
    assert result.text.split("\n")[1] == ".env (protected)"


@pytest.mark.usefixtures("tree")
async def test_nothing_found_names_the_nearest(box: Toolbox) -> None:
    result = await box.call("find_files", {"query": "user_service.p*x", "mode": "glob"})
    assert result.error is None
    assert result.data["total"] == 0
    assert "src/user_service.py" in result.data["nearest"]


async def test_pages(ws: Path, box: Toolbox) -> None:
    for number in range(250):
        (ws / f"file{number:03}.txt").touch()
    seen: list[str] = []
    arguments: dict[str, object] = {"query": "file", "limit": 100}
    for _ in range(10):
        result = await box.call("find_files", arguments)
        seen += result.data["paths"]
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
    assert len(seen) == len(set(seen)) == 250


@pytest.mark.parametrize("query", ["", "  ", "./", "x" * 201])
async def test_bad_queries(box: Toolbox, query: str) -> None:
    result = await box.call("find_files", {"query": query})
    assert result.error is not None
    assert result.error.code == "bad_input"


async def test_other_folders_of_the_workspace_are_named(ws: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "n.txt").write_text("word\n")
    note = f'Not searched: {second}, of the workspace too; path="{second}" does.'
    async with Toolbox({"workspace": {"roots": [str(ws), str(second)]}}) as box:
        for name, given in (
            ("find_files", {"query": "n.txt"}),
            ("search_files", {"pattern": "word"}),
        ):
            assert note in (await box.call(name, given)).text
            there = await box.call(name, given | {"path": str(second)})
            assert "n.txt" in there.text
            assert "Not searched" not in there.text
