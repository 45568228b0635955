"""The example of CONTRIBUTING.md works as it stands there."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from toolcrib.toolbox import Toolbox

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.fixture
def example(tmp_path: Path) -> Iterator[ModuleType]:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "count_words.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("contributed_example", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


async def test_the_tool_of_the_example_answers(example: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.txt").write_text("one two\nthree\n")
    async with Toolbox(workspace=folder, tools=[example.count_words]) as box:
        result = await box.call("count_words", {"path": "a.txt"})
        outside = await box.call("count_words", {"path": "../count_words.py"})
    assert result.error is None
    assert (result.text, result.data) == ("3 words", {"words": 3})
    assert outside.error
    assert outside.error.code == "path_denied"
