"""A rule on a target holds for every way to that target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.servers.site import site
from toolcrib import Toolbox


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "secret").mkdir(parents=True)
    (root / "secret" / "a.txt").write_text("TOP")
    (root / "alias").symlink_to("secret")
    (root / "open.txt").write_text("open")
    return root


@pytest.mark.parametrize(
    "path", ["secret/a.txt", "alias/a.txt", "./secret/../secret/a.txt", "{root}/alias/a.txt"]
)
async def test_a_path_by_any_way(workspace: Path, path: str) -> None:
    rules = [{"action": "deny", "target": f"{workspace}/secret*"}]
    async with Toolbox({"policy": {"rules": rules}}, workspace=workspace) as box:
        result = await box.call("read_file", {"path": path.format(root=workspace)})
        fine = await box.call("read_file", {"path": "open.txt"})
    assert result.error is not None
    assert result.error.code == "denied"
    assert fine.error is None


async def test_the_current_directory_is_a_target_too(workspace: Path) -> None:
    rules = [{"action": "deny", "target": f"{workspace}*"}]
    async with Toolbox({"policy": {"rules": rules}}, workspace=workspace) as box:
        result = await box.call("list_directory")
    assert result.error is not None
    assert result.error.code == "denied"


@each_case("path", ["/page", "//page", "/%70age", "/x/../page", "/go"])
@each_case("many", [False, True])
async def test_a_page_by_any_way(path: str, many: bool) -> None:
    with site() as (base, hits):
        config: dict[str, Any] = {
            "egress": {"allow_hosts": [base.removeprefix("http://")]},
            "policy": {"rules": [{"action": "deny", "target": f"{base}/page"}]},
        }
        async with Toolbox(config) as box:
            given = {"urls": [f"{base}{path}"]} if many else {"url": f"{base}{path}"}
            result = await box.call("fetch_url", given)
            fine = await box.call("fetch_url", {"url": f"{base}/long"})
    assert result.error is not None
    assert result.error.code == "denied"
    assert fine.error is None
    assert hits.get("/page", 0) == 0


@pytest.mark.parametrize("path", ["secret/b.txt", "alias/b.txt", "open/../secret/b.txt"])
async def test_a_path_inside_a_record(workspace: Path, path: str) -> None:
    rules = [{"action": "deny", "target": f"{workspace}/secret*"}]
    files = [{"path": "fine.txt", "content": "x"}, {"path": path, "content": "x"}]
    async with Toolbox({"policy": {"rules": rules}}, workspace=workspace) as box:
        result = await box.call("write_file", {"files": files})
    assert result.error is not None
    assert result.error.code == "denied"
    assert not (workspace / "secret" / "b.txt").exists()
    assert not (workspace / "fine.txt").exists()


@pytest.mark.parametrize("name", ["path", "paths"])
async def test_a_path_among_several(workspace: Path, name: str) -> None:
    rules = [{"action": "deny", "target": f"{workspace}/secret*"}]
    paths = ["open.txt", "alias/a.txt"] if name == "paths" else "alias/a.txt"
    async with Toolbox({"policy": {"rules": rules}}, workspace=workspace) as box:
        result = await box.call("read_file", {name: paths})
    assert result.error is not None
    assert "TOP" not in result.render()
