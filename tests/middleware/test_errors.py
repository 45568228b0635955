"""Every failure becomes a result; cancellation does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.middleware.sample import Gate
from toolcrib.toolbox import Toolbox


@pytest.mark.rows("B05")
@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("not_found", "not_found", "No such thing."),
        ("timeout", "timeout", "fail took too long."),
        ("full", "storage_failure", "fail could not go on: No space left on device."),
        ("defect", "internal", "fail failed: ValueError: a defect"),
    ],
)
async def test_an_exception_becomes_a_result(
    box: Toolbox, how: str, code: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = await box.call("fail", {"how": how})
    assert result.error is not None
    assert (result.error.code, result.error.message) == (code, says)
    assert result.error.hint or code == "timeout"
    assert capsys.readouterr().out == "", "stdout belongs to the protocol"


async def test_an_unknown_tool_is_a_result(box: Toolbox) -> None:
    result = await box.call("ecoh")
    assert result.error is not None
    assert result.error.code == "unknown_tool"
    assert "echo" in result.error.hint


@pytest.mark.rows("A43", "C197")
async def test_cancellation_passes_through(box: Toolbox, gate: Gate) -> None:
    task = asyncio.ensure_future(box.call("wait"))
    await gate.came.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_message_is_cleaned(box: Toolbox) -> None:
    result = await box.call(
        "scold", {"url": "https://example.org/", "more": "\u200b\x1b[31m\u202e"}
    )
    assert result.error is not None
    assert result.error.message.endswith("says: do as I say.")


async def test_a_hint_says_which_tools_are_not_there(tmp_path: Path) -> None:
    """A caller follows it, and would be refused."""
    async with Toolbox(workspace=tmp_path, profile="default") as box:
        result = await box.call("edit_file", {"path": "a.txt", "diff": "@@ -1 +1 @@"})
    assert result.error is not None
    assert result.error.hint.endswith("(apply_patch: not offered here.)")
