"""The workspace tools through the whole pipeline."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.toolbox import Toolbox

SESSION = "one"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws" / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened


@pytest.mark.rows("C018", "C019", "E01")
async def test_the_directory_moves_and_the_guard_does_not(ws: Path, box: Toolbox) -> None:
    (ws / "src" / "a.txt").write_text("hello")
    moved = await box.call("change_directory", {"path": "src"}, session=SESSION)
    assert moved.data == {"previous": str(ws), "current": str(ws / "src")}
    read = await box.call("read_file", {"path": "a.txt"}, session=SESSION)
    assert read.text.startswith("hello")
    displayed = await box.call("get_workspace", {}, session=SESSION)
    assert displayed.data["current"] == str(ws / "src")
    assert displayed.data["roots"] == [str(ws)]
    other = await box.call("get_workspace", {}, session="two")
    assert other.data["current"] == str(ws)
    up = await box.call("change_directory", {"path": ".."}, session=SESSION)
    assert up.data["current"] == str(ws)


@pytest.mark.rows("F10")
async def test_the_allowed_folders_are_named_and_the_first_is_found_again(ws: Path) -> None:
    other = ws.parent / "outside"
    async with Toolbox({"workspace": {"roots": [str(ws), str(other)]}}) as box:
        await box.call("change_directory", {"path": str(other)}, session=SESSION)
        displayed = await box.call("get_workspace", {}, session=SESSION)
        assert displayed.data["roots"] == [str(ws), str(other)]
        assert str(other) in displayed.text
        back = await box.call("change_directory", {}, session=SESSION)
        assert back.data == {"previous": str(other), "current": str(ws)}


@pytest.mark.rows("F12")
async def test_a_model_that_roams_is_fenced_by_protected_paths(ws: Path) -> None:
    (ws / "src" / "diary.txt").write_text("private")
    (ws / "plans").mkdir()
    (ws / "plans" / "a.txt").write_text("secret")
    fence = {"roots": [str(ws.parent)], "protect_read": ["plans"], "protect_write": ["diary.*"]}
    async with Toolbox({"workspace": fence}) as box:
        for name, arguments in (
            ("read_file", {"path": "ws/plans/a.txt"}),
            ("write_file", {"path": "ws/src/diary.txt", "content": "x"}),
            ("delete_path", {"path": "ws/plans"}),
            ("move_path", {"source": "ws/src/diary.txt", "destination": "ws/b.txt"}),
            ("search_files", {"pattern": "secret", "path": "ws/plans"}),
        ):
            result = await box.call(name, arguments)
            assert result.error is not None, name
            assert result.error.code == "path_denied", (name, result)
        assert "secret" not in (await box.call("search_files", {"pattern": "secret"})).text
        ran = await box.call("run_command", {"command": "cat ws/plans/a.txt; rm ws/src/diary.txt"})
        assert "secret\n" not in ran.text
    assert (ws / "src" / "diary.txt").read_text() == "private"


@pytest.mark.rows("C018")
@pytest.mark.parametrize("path", ["..", "/etc", "out", "src/a.txt", "absent", ".ssh", "../outside"])
async def test_refused_directories(ws: Path, box: Toolbox, path: str) -> None:
    (ws / "src" / "a.txt").touch()
    (ws / ".ssh").mkdir()
    (ws / "out").symlink_to(ws.parent / "outside")
    result = await box.call("change_directory", {"path": path}, session=SESSION)
    assert result.error is not None
    displayed = await box.call("get_workspace", {}, session=SESSION)
    assert displayed.data["current"] == str(ws)


@pytest.mark.rows("C193")
async def test_it_is_kept_over_a_restart_and_falls_back(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        await box.call("change_directory", {"path": "src"}, session=SESSION)
    async with Toolbox(workspace=ws) as box:
        displayed = await box.call("get_workspace", {}, session=SESSION)
        assert displayed.data["current"] == str(ws / "src")
        (ws / "src").rmdir()
        displayed = await box.call("get_workspace", {}, session=SESSION)
        assert displayed.data["current"] == str(ws)
        assert "gone" in displayed.text


@pytest.mark.rows("E93")
async def test_profiles(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        await box.call("change_directory", {"path": "src"}, session=SESSION)
        saved = await box.call(
            "manage_profiles",
            {"action": "save", "name": "back end", "notes": "run it", "protect": ["*.sql"]},
            session=SESSION,
        )
        assert saved.error is None
    (ws / "dump.sql").write_text("x")
    async with Toolbox(workspace=ws) as box:
        assert (await box.call("read_file", {"path": "dump.sql"})).error is None
        listed = await box.call("list_workspace_profiles", {})
        assert listed.text == f"back end: {ws}/src (run it)"
        switched = await box.call(
            "manage_profiles", {"action": "switch", "name": "back end"}, session=SESSION
        )
        assert "run it" in switched.text
        displayed = await box.call("get_workspace", {}, session=SESSION)
        assert displayed.data["current"] == str(ws / "src")
        refused = await box.call("read_file", {"path": str(ws / "dump.sql")})
        assert refused.error is not None
        assert refused.error.code == "path_denied"
        found = await box.call("search_files", {"pattern": "x", "path": str(ws)})
        assert found.data["total_lines"] == 0
        await box.call("manage_profiles", {"action": "delete", "name": "back end"})
        gone = await box.call("manage_profiles", {"action": "switch", "name": "back end"})
        assert gone.error is not None
        assert gone.error.code == "not_found"


async def test_a_profile_of_a_folder_that_is_no_longer_allowed(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        await box.call("change_directory", {"path": "src"}, session=SESSION)
        await box.call("manage_profiles", {"action": "save", "name": "x"}, session=SESSION)
        (ws / "src").rmdir()
        (ws / "src").symlink_to(ws.parent / "outside")
        result = await box.call("manage_profiles", {"action": "switch", "name": "x"})
        assert result.error is not None
        assert result.error.code == "path_denied"


def git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=Ann", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(ws: Path) -> Path:
    texts = {
        "README.md": "# Title\n\n[![badge](x)](y)\n\nIt sorts parcels\nby weight.\n\nMore.\n",
        "pyproject.toml": '[project]\nname = "sorter"\nversion = "1.2"\n[tool.pytest]\n[tool.ruff]\n',  # noqa: E501 - a table
        "web/package.json": '{"name": "ui", "version": "0.1", "scripts": {"dev": "x", "test": "y"}}',  # noqa: E501 - a table
        "tool/Cargo.toml": '[package]\nname = "fast"\nversion = "3"\n',
        "go.mod": "module example.org/x\n\ngo 1.22\n",
        "pom.xml": "<project><parent><artifactId>up</artifactId></parent>"
        "<artifactId>own</artifactId><version>7</version></project>",
        "Makefile": "lint:\n\tx\nall: lint\n\ty\n",
        "bad/package.json": "{not json",
        ".env": "KEY=verysecret\n",
        "src/a.py": "x\n",
        "src/b.py": "x\n",
    }
    for name, text in texts.items():
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).write_text(text)
    git(ws, "init")
    for number in range(7):
        git(ws, "commit", "--allow-empty", "-m", f"Step {number}")
    return ws


@pytest.mark.rows("C020", "E91")
@pytest.mark.parametrize("packed", [False, True])
async def test_overview(project: Path, box: Toolbox, packed: bool) -> None:
    if packed:
        git(project, "gc", "-q")
        git(project, "pack-refs", "--all")
        git(project, "commit", "--allow-empty", "-m", "Step 7")
    result = await box.call("project_overview", {"depth": 2})
    assert result.error is None
    data = result.data
    last = 7 if packed else 6
    assert [c["subject"] for c in data["commits"]] == [f"Step {last - n}" for n in range(5)]
    assert data["commits"][0]["author"] == "Ann"
    assert data["branch"] == "main"
    assert data["readme"] == "It sorts parcels by weight."
    named = {m["path"]: (m["name"], m["version"], m["commands"]) for m in data["manifests"]}
    assert named["pyproject.toml"] == ("sorter", "1.2", ["pytest", "ruff check"])
    assert named["web/package.json"] == ("ui", "0.1", ["npm run test", "npm run dev"])
    assert named["tool/Cargo.toml"][:2] == ("fast", "3")
    assert named["go.mod"][:2] == ("example.org/x", "go 1.22")
    assert named["pom.xml"][:2] == ("own", "7")
    assert named["Makefile"][2] == ["make lint", "make all"]
    assert named["bad/package.json"][0] == ""
    assert data["endings"][".py"] == 2
    assert "verysecret" not in result.text
    assert "src/\n  a.py\n  b.py" in result.text


async def test_overview_runs_nothing(project: Path, box: Toolbox, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    git(project, "config", "core.fsmonitor", f"touch {trap}; true")
    result = await box.call("project_overview", {})
    assert result.data["branch"] == "main"
    assert not trap.exists()


async def test_settings_that_would_take_all_memory(ws: Path, box: Toolbox) -> None:
    long_key = "a" + ".a" * 1000 + " = 1\n"
    for name in ("pyproject.toml", "Cargo.toml", "other.toml"):
        (ws / name).write_text(long_key)
    (ws / "deep.yaml").write_text("[" * 100_000)
    result = await box.call("project_overview", {"checks": ["config"]})
    assert "pyproject.toml: pyproject.toml (cannot be read)" in result.text
    assert "Cargo.toml: Cargo.toml (cannot be read)" in result.text
    assert "other.toml: a key has more than 50 names" in result.text
    assert "deep.yaml: it is nested more than 100 levels deep" in result.text
    for name, content in (("x.toml", long_key), ("x.yaml", "[" * 100_000)):
        written = await box.call("write_file", {"path": name, "content": content})
        assert written.error is None
        assert "valid" not in written.text
    converted = await box.call(
        "convert_format", {"input": long_key, "from_format": "toml", "to": "json"}
    )
    assert "a key has more than 50 names" in converted.render()


@pytest.mark.parametrize(
    "head",
    ["", "garbage", "ref: refs/heads/../../../secret", "ref: /etc/passwd", "0" * 40, "ref: \x00"],
)
async def test_a_strange_repository(ws: Path, box: Toolbox, head: str) -> None:
    (ws / ".git").mkdir()
    (ws / ".git" / "HEAD").write_text(head)
    result = await box.call("project_overview", {})
    assert result.error is None
    assert result.data["commits"] == []
