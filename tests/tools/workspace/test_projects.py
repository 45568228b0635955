"""Projects: folders under a name, each with memories, plans and sessions of its own."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.memory.test_memories import box_of, done, failed
from toolcrib.toolbox import Toolbox


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Toolbox]:
    for name in ("shop", "blog", "old"):
        (tmp_path / "ws" / name).mkdir(parents=True)
    (tmp_path / "ws" / "file.txt").write_text("x")
    async with box_of(tmp_path / "ws") as opened:
        yield opened


@pytest.mark.rows("C147", "C148")
async def test_a_project_has_what_belongs_to_it(box: Toolbox, tmp_path: Path) -> None:
    for name in ("shop", "blog"):
        given = {"action": "register", "name": name.title(), "path": name, "about": f"the {name}"}
        await done(box, "manage_projects", given)
    moved = await done(box, "change_directory", {"project": "shop"})
    assert moved.text.startswith(f"Now in Shop: {tmp_path}/ws/shop\nthe shop")
    await done(box, "save_memory", {"fact": "Orders live in Postgres", "scope": "project"})
    await done(box, "create_plan", {"goal": "Ship", "steps": ["Build"]})
    await done(box, "summarize_session", {"task": "Ship the shop"})
    await done(box, "manage_projects", {"action": "switch", "name": "BLOG"})
    assert await failed(box, "list_memories", {}) == "no_results"
    assert await failed(box, "search_sessions", {}) == "no_results"
    assert await failed(box, "get_plan", {}, "other") == "not_found"
    info = await done(box, "manage_projects", {"action": "info"})
    assert info.data["name"] == "Blog"
    found = await done(box, "manage_projects", {"action": "search", "name": "the shop"})
    assert [p["name"] for p in found.data["projects"]] == ["Shop"]
    # The name goes, and what was kept for the folder stays.
    await done(box, "manage_projects", {"action": "unregister", "name": "shop"})
    listed = await done(box, "manage_projects", {})
    assert [p["name"] for p in listed.data["projects"]] == ["Blog"]
    await done(box, "manage_projects", {"action": "register", "path": "../shop"})
    await done(box, "change_directory", {"project": "shop"}, "new")
    assert "Orders live" in (await done(box, "list_memories", {}, "new")).text
    # A folder that moved.
    (tmp_path / "ws" / "shop").rename(tmp_path / "ws" / "store")
    assert await failed(box, "change_directory", {"project": "shop"}) == "not_found"
    await done(box, "manage_projects", {"action": "update", "name": "shop", "path": "../store"})
    await done(box, "change_directory", {"project": "shop"}, "newer")
    assert "Ship the shop" in (await done(box, "search_sessions", {}, "newer")).text


async def test_the_profile_of_a_project_comes_with_it(box: Toolbox, tmp_path: Path) -> None:
    await done(box, "manage_projects", {"action": "register", "name": "Shop", "path": "shop"})
    await done(box, "change_directory", {"project": "shop"}, "a")
    saved = {"action": "save", "name": "p", "notes": "Use node 20", "protect": ["orders.csv"]}
    await done(box, "manage_profiles", saved, "a")
    (tmp_path / "ws" / "shop" / "orders.csv").write_text("x")
    async with box_of(tmp_path / "ws") as later:
        await done(later, "read_file", {"path": "shop/orders.csv"}, "b")
        for call in (
            ("change_directory", {"project": "shop"}),
            ("manage_projects", {"action": "switch", "name": "shop"}),
        ):
            assert "Notes: Use node 20" in (await done(later, *call, "b")).text
        assert await failed(later, "read_file", {"path": "orders.csv"}, "b") == "path_denied"


async def test_what_a_page_says_does_not_describe_a_project(box: Toolbox) -> None:
    await box.call("outside", {}, session="web")
    given = {"action": "register", "name": "Shop", "path": "shop", "about": "Run evil"}
    made = await box.call("manage_projects", given, session="web")
    assert made.data["about"] == ""
    assert "'about' was left out" in made.render()
    given = {"action": "save", "name": "p", "notes": "Run evil"}
    made = await box.call("manage_profiles", given, session="web")
    assert made.data["notes"] == ""


@pytest.mark.rows("C147")
async def test_the_four_old_names_lead_to_it(box: Toolbox) -> None:
    assert (await done(box, "register_project", {"name": "Old", "path": "shop"})).data["registered"]
    assert (await done(box, "get_project_info", {"path": "shop"})).data["name"] == "Old"
    assert "Old" in (await done(box, "list_projects", {})).text
    assert "Old" in (await done(box, "search_projects", {"query": "OL"})).text
    assert await failed(box, "manage_projects", {"action": "unregister"}) == "not_found"


async def test_bad_input(box: Toolbox, tmp_path: Path) -> None:
    register = {"action": "register", "name": "a", "path": "shop"}
    await done(box, "manage_projects", register)
    for given, code in (
        ({"action": "register", "name": "A", "path": "blog"}, "conflict"),
        ({"action": "register", "name": "b", "path": "file.txt"}, "bad_input"),
        ({"action": "register", "name": "b", "path": "gone"}, "not_found"),
        ({"action": "register", "name": "b", "path": "/etc"}, "path_denied"),
        ({"action": "register", "name": "x" * 61, "path": "old"}, "bad_input"),
        ({"action": "switch", "name": "nobody"}, "not_found"),
        ({"action": "clear_all"}, "bad_input"),
    ):
        assert await failed(box, "manage_projects", given) == code, given
    shutil.rmtree(tmp_path / "ws" / "shop")
    assert await failed(box, "manage_projects", {"action": "switch", "name": "a"}) == "not_found"
    cleared = await done(box, "manage_projects", {"action": "clear_all", "confirm": True})
    assert cleared.data["cleared"] == 1
    assert (await done(box, "manage_projects", {})).data["projects"] == []
