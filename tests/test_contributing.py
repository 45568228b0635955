"""The example of CONTRIBUTING.md works as it stands there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from toolcrib.toolbox import Toolbox

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.fixture
def example(tmp_path: Path) -> Iterator[ModuleType]:
    source, _ = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
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


def test_the_example_passes_the_checks_of_style(example: ModuleType) -> None:
    settings = f"--config={PAGE.parent / 'pyproject.toml'}"
    for check in (["check"], ["format", "--check"]):
        words = [
            "ruff",
            *check,
            settings,
            "--stdin-filename",
            "src/toolcrib/tools/files/count_words.py",
        ]
        done = subprocess.run(
            [*words, "-"],
            input=Path(str(example.__file__)).read_bytes(),
            capture_output=True,
            cwd=PAGE.parent,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


async def test_the_tool_of_the_example_answers(example: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.txt").write_text("one two\nthree\n")
    async with Toolbox(workspace=folder, tools=[example.count_words]) as box:
        result = await box.call("count_words", {"path": "a.txt"})
        (folder / "b.bin").write_bytes(bytes(range(256)))
        binary = await box.call("count_words", {"path": "b.bin"})
        outside = await box.call("count_words", {"path": "../count_words.py"})
    assert result.error is None
    assert (result.text, result.data) == ("3 words", {"words": 3})
    assert binary.error
    assert binary.error.code == "unsupported_content"
    assert outside.error
    assert outside.error.code == "path_denied"
