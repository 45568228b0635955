"""Providers of other packages and programs."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.toolbox import Toolbox
from toolcrib.web.provider import Provider, ProviderClient, ResultPage, SearchRequest, SearchResult
from toolcrib.web.providers import Providers


class Mine(Provider):
    """One of my own."""

    name = "mine"
    about = "Mine."
    base_url = "https://mine.example"
    max_chars = 20

    async def search(self, ask: SearchRequest, reach: ProviderClient) -> ResultPage:
        """Results."""
        return ResultPage((SearchResult(f"On {ask.query}", "https://example.org/?a=%26"),))


@pytest.mark.rows("B10")
@pytest.mark.parametrize("given", [Mine, Mine()])
async def test_a_provider_by_class(tmp_path, given):
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
    async with Toolbox(config=config) as box:
        box.use(Providers).add(given)
        result = await box.call("web_search", {"query": "it", "provider": "mine"})
        long = await box.call("web_search", {"query": "x" * 21, "provider": "mine"})
    (found,) = result.data["queries"][0]["results"]
    assert (found["title"], found["url"]) == ("On it", "https://example.org/?a=%26")
    assert long.error.code == "bad_input"
    async with Toolbox(config=config) as other:
        again = await other.call("web_search", {"query": "it", "provider": "mine"})
    assert again.error.code == "bad_input"


class Other(Mine):
    """In the place of another."""

    name = "tavily"


def test_one_of_the_same_name_takes_its_place():
    known = Providers()
    known.add(Other())
    assert isinstance(known.named("Tavily"), Other)
    assert not isinstance(Providers().named("tavily"), Other)


@each_case("name", ["hacker-news", "HackerNews", " hacker_news "])
def test_names_are_found_however_they_are_joined(name):
    assert Providers().named(name).name == "hackernews"


def test_a_wrong_name():
    with pytest.raises(BadInput) as caught:
        Providers().named("tavilly")
    assert "Did you mean tavily?" in caught.value.hint


MODULE = '''
from toolcrib.web.provider import SearchResult, ResultPage, Provider

class Good(Provider):
    """Good."""
    name = "good"
    about = "Good."
    base_url = "https://good.example"
    async def search(self, ask, reach):
        """Results."""
        return ResultPage((SearchResult("Good " + ask.query, "https://example.org/good"),))

class Nameless(Provider):
    """No name."""
    async def search(self, ask, reach):
        """Results."""

class Abstract(Provider):
    """Nothing to call."""
    name = "abstract"

text = "no class"
'''

ENTRIES = """\
[toolcrib.providers]
good = good_search:Good
missing = no_such_module_here:Thing
noattr = good_search:Nothing
notone = good_search:text
nameless = good_search:Nameless
abstract = good_search:Abstract
raises = good_raises:Thing
leaves = good_leaves:Thing
"""

PROGRAM = """
import asyncio, json, sys
from toolcrib.toolbox import Toolbox
from toolcrib.web.providers import Providers

async def main():
    async with Toolbox(config={"store": {"url": "sqlite://"}}) as box:
        known = box.use(Providers)
        result = await box.call("web_search", {"query": "it", "provider": "good"})
        found = result.data["queries"][0]["results"]
        bad = {}
        for name in sorted(known.broken):
            answer = await box.call("web_search", {"query": "it", "provider": name})
            bad[name] = [answer.error.code, answer.error.message, answer.error.hint]
        own = known.named("tavily").name
    print(json.dumps({"found": found, "bad": bad, "own": own}))

asyncio.run(main())
"""


@pytest.mark.rows("B10")
def test_providers_of_an_installed_package(tmp_path):
    site = tmp_path / "site"
    info = site / "good_search-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "good_search.py").write_text(MODULE)
    (site / "good_raises.py").write_text("raise RuntimeError('broken on purpose')")
    (site / "good_leaves.py").write_text("raise SystemExit(3)")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: good-search\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (info / "RECORD").write_text("")
    program = f"import sys; sys.path.insert(0, {str(site)!r})\n{textwrap.dedent(PROGRAM)}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["own"] == "tavily"
    assert [(f["title"], f["url"]) for f in reported["found"]] == [
        ("Good it", "https://example.org/good")
    ]
    names = ["abstract", "leaves", "missing", "nameless", "noattr", "notone", "raises"]
    assert sorted(reported["bad"]) == names
    for name, (code, message, hint) in reported["bad"].items():
        assert code == "unavailable"
        assert name in message
        assert "good-search" in message
        assert "package" in hint
    assert "broken on purpose" in reported["bad"]["raises"][1]
