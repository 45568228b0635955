"""Errors of git that quote a file: what stands there may be a link of a run to any other one."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Toolbox

SECRET = "KEY moss-7431"


@pytest.mark.parametrize("name", ["shallow", "packed-refs", "objects/info/alternates"])
@pytest.mark.parametrize("tool", ["git_log", "git_status", "git_fetch"])
async def test_no_line_of_such_a_file_is_shown(
    box: Toolbox, repo: Path, tool: str, name: str
) -> None:
    (repo / ".git" / name).write_text(f"{SECRET}\n")
    result = await box.call(tool, {})
    assert "moss" not in result.text
    assert result.error is None or "moss" not in f"{result.error.message} {result.error.hint}"
