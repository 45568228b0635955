"""The state of the work: typed, bounded, shared, kept over restarts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput
from toolcrib.memory.work_state import WorkStates
from toolcrib.state.store import Store


def opened(folder: Path, **memory: Any) -> Services:
    url = f"sqlite:///{folder}/state.db"
    return Services(Config.model_validate({"store": {"url": url}, "memory": memory}))


@pytest.mark.rows("C192", "E145")
async def test_a_state_is_kept_merged_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_TEST_PLACE", "/srv/shop")
    monkeypatch.setenv("TOOLCRIB_TEST_TOKEN", "do not show")
    one, other = opened(tmp_path, state_bytes=1024), opened(tmp_path, state_bytes=1024)
    first, second = one.use(WorkStates), other.use(WorkStates)
    first.note("user", {"language": "de", "directory": "/home", "messages": 1})
    first.note("project:1", {"directory": "%TOOLCRIB_TEST_PLACE%/%TOOLCRIB_TEST_TOKEN%"})
    assert (await first.get("project:1", "user")).directory == "/srv/shop/%TOOLCRIB_TEST_TOKEN%"
    await one.close()  # what waits is written
    one = opened(tmp_path, state_bytes=1024)
    first = one.use(WorkStates)
    state = await first.get("project:1", "user")
    assert (state.language, state.messages) == ("de", 1)
    # Two windows add to one state, and neither loses what the other wrote.
    await asyncio.gather(
        *(s.change("user", {"messages": 1, "counters": {"ls": 1}}) for s in (first, second) * 10)
    )
    await first.change("user", {"files": ["/a", "/b"]})
    await second.change("user", {"files": ["/c", "/a"]})
    state = await first.get("user")
    assert (state.messages, state.counters["ls"]) == (21, 20)
    assert state.files == ("/c", "/a", "/b")
    with pytest.raises(BadInput, match=r"State size exceeds maximum \(1024 bytes\)"):
        await first.change("user", {"notes": ["x" * 2000]})
    for wrong in ({"colour": "red"}, {"messages": "many"}, {"messages": True}, {"files": [1]}):
        with pytest.raises(BadInput, match="no field"):
            await first.change("user", wrong)
    assert (await second.get("user")).notes == ()
    assert await first.forget() == 2
    assert (await second.get("project:1", "user")).directory == ""
    await one.close()
    await other.close()


async def test_what_is_being_written_is_seen(tmp_path: Path) -> None:
    services = opened(tmp_path)
    states = services.use(WorkStates)
    for number in range(1, 21):
        states.note("user", {"messages": 1})
        state, _ = await asyncio.gather(states.get("user"), states.flush())
        assert state.messages == number
    await services.close()


@pytest.mark.rows("X18")
async def test_a_broken_store_is_set_aside_and_named(tmp_path: Path) -> None:
    services = opened(tmp_path)
    await services.use(WorkStates).change("user", {"language": "de"})
    await services.close()
    (tmp_path / "state.db").write_bytes(b"no database at all" * 500)
    services = opened(tmp_path)
    await services.use(WorkStates).change("user", {"language": "es"})
    assert (await services.use(WorkStates).get("user")).language == "es"
    (quarantined,) = tmp_path.glob("state.db.corrupt-*")
    assert quarantined.name in services.use(Store).warnings[0]
    await services.close()
