"""The catalogue of tools: what is known without importing them, and what is imported when."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

import pytest

from toolcrib.core.catalogue import FILE, CataloguedTool, catalogue, catalogued, entry_of
from toolcrib.core.errors import Unavailable
from toolcrib.core.registry import Registry, discover
from toolcrib.toolbox import Toolbox, installed

GREET = '''"""Greeting."""
from toolcrib.core.tool import READ, tool

@tool(group="moss", rights=READ, aliases=("hail",), argument_aliases={{"who": "name"}})
async def {name}(name: str, times: int = 1, *, ctx):
    """Greet somebody.

    Use it in the morning.
    """
    return f"Hello {{name}}" * times
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package of one tool, with its catalogue."""
    folder = tmp_path / "mosstools" / "group"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "greet.py").write_text(GREET.format(name="greet"))
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    found = import_module("mosstools")
    (folder.parent / FILE).write_text(catalogue(found, discover(found)))
    _forget("mosstools.")
    yield found
    _forget("mosstools")


def _forget(start: str) -> None:
    for name in [name for name in sys.modules if name.startswith(start)]:
        del sys.modules[name]


def test_it_says_of_every_tool_what_its_declaration_says() -> None:
    known = catalogued(import_module("toolcrib.tools"))
    assert known is not None
    declared = {tool.name: tool for tool in discover(import_module("toolcrib.tools"))}
    assert {tool.name for tool in known} == set(declared)
    for tool in known:
        assert entry_of(tool) == entry_of(declared[tool.name])
        for name in ("description", "guidance", "read_only", "open_world", "rights", "module"):
            assert getattr(tool, name) == getattr(declared[tool.name], name), (tool.name, name)
        assert tool.loaded is declared[tool.name]
        for name in ("parameters", "function", "policy_check", "effective_rights"):
            assert getattr(tool, name) == getattr(declared[tool.name], name), (tool.name, name)
        assert tool.argument_adapter is declared[tool.name].argument_adapter


SCRIPT = """
import asyncio, json, sys
from toolcrib.toolbox import Toolbox, installed
NAMES = {f"{tool.module}" for tool in installed()}
loaded = lambda: sorted(NAMES & set(sys.modules))
async def main():
    async with Toolbox(workspace=sys.argv[1]) as box:
        seen = [len(box.tools()), len(box.as_openai_tools()), box.registry.resolve("cat").name]
        before = loaded()
        result = await box.call("read_file", {"path": "a.txt"})
        print(json.dumps([seen, before, result.text, loaded()]))
asyncio.run(main())
"""


def test_a_tool_is_imported_at_its_first_call(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("moss")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True
    )
    seen, before, text, after = json.loads(done.stdout)
    assert seen[0] == seen[1] > len(installed()) - 5  # some are off until a setting turns them on
    assert seen[2] == "read_file"
    assert before == []
    assert text == "moss"
    assert after == ["toolcrib.tools.files.read_file"]


async def test_a_call_goes_to_what_the_module_declares(package: ModuleType) -> None:
    (tool,) = catalogued(package) or ()
    assert isinstance(tool, CataloguedTool)
    assert not tool.is_loaded
    assert "mosstools.group.greet" not in sys.modules
    async with Toolbox(tools=[tool]) as box:
        result = await box.call("hail", {"who": "Ann", "times": "2"})
        assert (result.error, result.text) == (None, "Hello AnnHello Ann")
    assert tool.is_loaded


def test_a_module_that_came_or_went_is_looked_at(package: ModuleType) -> None:
    folder = Path(package.__path__[0])
    (folder / "group" / "wave.py").write_text(GREET.format(name="wave").replace("hail", "nod"))
    assert catalogued(package) is None
    invalidate_caches()
    assert {tool.name for tool in discover(package)} == {"greet", "wave"}
    (folder / "group" / "wave.py").unlink()
    assert catalogued(package) is not None
    (folder / "group" / "greet.py").unlink()
    assert catalogued(package) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"modules": []}', '{"modules": 1, "tools": 2}'])
def test_a_broken_catalogue_is_none(package: ModuleType, text: str) -> None:
    Path(package.__path__[0], FILE).write_text(text)
    assert catalogued(package) is None


def test_a_changed_declaration_counts_and_is_told(
    package: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    (tool,) = catalogued(package) or ()
    file = Path(package.__path__[0], "group", "greet.py")
    file.write_text(file.read_text().replace("READ", "WRITE"))
    assert tool.loaded.rights.names == ["write"]
    assert "scripts/docs.py" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "x = ", "import absent_module_of_moss"])
async def test_a_module_that_was_changed_meanwhile_is_an_error(
    package: ModuleType, text: str
) -> None:
    (tool,) = catalogued(package) or ()
    Path(package.__path__[0], "group", "greet.py").write_text(text)
    with pytest.raises(Unavailable):
        _ = tool.loaded
    async with Toolbox(tools=[tool]) as box:
        result = await box.call("greet", {"name": "Ann"})
        assert result.error is not None
        assert result.error.code == "unavailable"
        assert "toolcrib again" in result.error.hint


def test_two_tools_of_one_name_are_told_by_their_places(package: ModuleType) -> None:
    tools = catalogued(package) or []
    again = catalogued(package) or []
    with pytest.raises(Exception, match=r"mosstools\.group\.greet\.greet and mosstools"):
        Registry([*tools, *again])
