"""What docs/web.md shows works as it stands there."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer, scripted
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import Blocked
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.url import parse_url
from toolcrib.toolbox import Toolbox
from toolcrib.web.providers import Providers

TEXT = (Path(__file__).parents[1] / "docs" / "web.md").read_text(encoding="utf-8")
TOML = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
SETTINGS = [part for part in TOML if "[project" not in part]
CODE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(params=CODE, ids=lambda code: re.findall(r"(?:class|def) (\w+)", code)[0])
def module(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "shown.py"
    path.write_text(request.param, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("shown_in_docs_web", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


async def test_the_code(module: ModuleType, tmp_path: Path) -> None:
    with scripted() as server:
        config: dict[str, Any] = {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "egress": {"allow_hosts": [server.origin]},
            "web": {
                "search": {"gap_seconds": 0},
                "providers": {"library": {"base_url": server.url}},
            },
        }
        book = {"title": "Cribs", "link": "https://library.example/1", "about": "On cribs."}
        server["/find"] = Answer(json.dumps({"books": [book]}), kind="application/json")
        server["/recipe"] = Answer("flour: 450 g\nwater: 320 g", kind="application/x-recipe")
        if hasattr(module, "search"):
            displayed = await module.search("cribs", config)
            assert "https://library.example/1" in displayed
            assert server.requested[0].query == {"q": "cribs", "page": "1"}
        else:
            displayed = await module.read(f"{server.url}/recipe", config)
            assert "- 450 g flour\n- 320 g water" in displayed


def test_all_of_it_is_covered() -> None:
    assert len(CODE) == 2
    assert len(SETTINGS) >= 5
    assert len(TOML) == len(SETTINGS) + 1


@each_case("part", SETTINGS, ids=lambda part: part.split("]")[0].strip("["))
def test_the_settings(part: str) -> None:
    tree = tomllib.loads(part)
    config = Config.load(tree)
    dumped = config.model_dump()
    for path, value in leaves(tree):
        found: Any = dumped
        for name in path:
            found = found[name]
        if isinstance(value, list) and isinstance(value[0], dict):
            found = [
                {name: one[name] for name in given} for one, given in zip(found, value, strict=True)
            ]
        assert found == value, path
    for name in config.web.search.providers:
        assert name in Providers().of_kind("web")


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(tree, dict):
        for name, inner in tree.items():
            yield from leaves(inner, (*path, name))
    else:
        yield path, tree


def test_every_setting_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:web|egress|results|store|policy)\.[a-z_.]+)`", TEXT))
    assert len(named) > 15
    tree = Config().model_dump()
    for name in named:
        found: Any = tree
        for part in name.split("."):
            assert part in found, name
            found = found[part]


async def test_a_secret_may_go_to_a_service_at_home() -> None:
    """`homeassistant.local:8123` of the page is open to what takes a URL, and its secret to it."""
    [part] = [part for part in SETTINGS if "homeassistant" in part]
    services = Services(Config.load(tomllib.loads(part)))
    home = parse_url("http://homeassistant.local:8123/api/")
    services.use(Egress).policy(PAGES).check(home)
    with pytest.raises(Blocked):
        services.use(Egress).policy("").check(home)
    await services.close()


async def test_images_of_your_own_instance_need_no_address_of_their_own(tmp_path: Path) -> None:
    [part] = [part for part in SETTINGS if "searxng_images" in part]
    with scripted() as server:
        tree = tomllib.loads(part)
        tree["web"]["providers"]["searxng"]["base_url"] = server.url
        tree["store"] = {"url": f"sqlite:///{tmp_path}/store.db"}
        found = {
            "title": "A crib",
            "img_src": "https://x.example/a.png",
            "url": "https://x.example",
        }
        server["/search"] = Answer(json.dumps({"results": [found]}), kind="application/json")
        async with Toolbox(config=tree) as box:
            result = await box.call("image_search", {"query": "crib"})
    assert result.error is None
    assert "https://x.example/a.png" in result.text
    assert server.requested[0].query["categories"] == "images"


def test_every_provider_is_listed() -> None:
    table = TEXT.split("<!-- providers -->")[1].split("<!-- /providers -->")[0]
    for kind in ("web", "news", "images"):
        for name in Providers().of_kind(kind):
            assert f"| `{name}` | {kind} |" in table
