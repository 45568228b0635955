"""What the history says about the tools."""

from __future__ import annotations

import pytest

from toolcrib.toolbox import Toolbox


@pytest.mark.rows("E94")
async def test_usage_stats() -> None:
    async with Toolbox() as box:
        assert (await box.call("usage_stats")).text == "No calls are recorded yet."
        await box.call("list_jobs")
        await box.call("list_jobs")
        await box.call("read_job", {"id": "nothing"})
        result = await box.call("usage_stats", {"sort_by": "calls"})
        head, *lines = result.text.splitlines()
        assert head.startswith("tool  calls  errors")
        assert lines[0].startswith("list_jobs  2  0  ")
        by_name = {line["tool"]: line for line in result.data["tools"]}
        assert by_name["read_job"]["errors"] == 1
        assert by_name["usage_stats"]["calls"] == 1
        one = await box.call("usage_stats", {"limit": 1, "sort_by": "errors"})
        assert [line["tool"] for line in one.data["tools"]] == ["read_job"]
        wrong = await box.call("usage_stats", {"limit": -1})
        assert wrong.error
        assert "from 1 to 100" in wrong.error.message
