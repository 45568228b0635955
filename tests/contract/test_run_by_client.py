"""The tools of the group run that end by themselves, used by a real client over stdio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, stdio
from tests.contract.test_files_by_client import Conversation

pytestmark = pytest.mark.timeout(120)
TOOLS = {"run_python", "run_javascript", "run_command", "run_tests", "lint_project"}


@pytest.mark.rows("C073", "C072", "C074", "C076", "E38", "X11")
async def test_a_real_client_runs_code(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests/test_a.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_a(self): self.assertTrue(True)\n"
    )
    config: dict[str, Any] = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
        "run": {"javascript": "quickjs", "rules": [{"pattern": ["git", "push"], "action": "deny"}]},
    }
    async with stdio(config, tmp_path, MODERN) as send:
        say = Conversation(send)
        assert "42" in await say("run_python", code="6 * 7")
        await say.fails("run_python", "bad_input", code="")
        await say.fails("run_python", "timeout", code="while True: pass", timeout=1)
        assert "3" in await say("run_javascript", code="1 + 2")
        await say.fails("run_javascript", "timeout", code="for (;;);", timeout=1)
        assert "a b" in await say("run_command", command="echo 'a b' > made.txt; cat made.txt")
        assert (folder / "made.txt").read_text() == "a b\n"
        await say.fails("run_command", "denied", command="git push")
        held = await say.tries("run_command", command="rm made.txt", commit="ask")
        assert held.code is None
        pages = await say.whole("run_command", command="rm made.txt", commit="ask")
        assert len(pages) == 2
        assert not (folder / "made.txt").exists()
        await say.fails("apply_changes", "not_found", id="zzz")
        pages = await say.whole(
            "run_command", command="echo on; sleep 1; echo off", background=True
        )
        assert "off" in pages[-1]
        assert "1 passed" in await say("run_tests", path="tests", runner="unittest")
        await say.fails("run_tests", "not_found", path="nowhere")
        await say.fails("lint_project", "not_found", path="nowhere")
    assert TOOLS - say.used == set()
