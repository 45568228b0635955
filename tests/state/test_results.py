"""The rest of long results."""

from __future__ import annotations

import os

import pytest

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import NotFound
from toolcrib.state.results import SCHEMA, Results
from toolcrib.state.store import Store


@pytest.fixture
def results(services: Services) -> Results:
    return services.use(Results)


async def test_what_is_kept_can_be_read_also_elsewhere(
    results: Results, other_services: Services
) -> None:
    text = "grün 🙂 \udcff\n" * 5000
    handle = await results.keep(text, "s1", source="https://example.com/")
    stored = await other_services.use(Results).read(handle.upper(), "s1")
    assert (stored.text, stored.source) == (text, "https://example.com/")


async def test_handles_are_by_content_and_session(results: Results) -> None:
    handle = await results.keep("text", "s1")
    assert await results.keep("text", "s1") == handle
    assert await results.keep("other", "s1") != handle
    assert await results.keep("text", "s2") != handle
    assert await results.keep("text", "s1", source="x") != handle


async def test_a_handle_of_another_session_is_not_readable(results: Results) -> None:
    handle = await results.keep("secret", "s1")
    with pytest.raises(NotFound, match=handle) as caught:
        await results.read(handle, "s2")
    assert "24 hours" in caught.value.hint


async def test_results_expire() -> None:
    services = Services(Config.load({"results": {"keep_seconds": 1}}))
    results = Results(services.use(Store).area(SCHEMA), seconds=-1)
    handle = await results.keep("text", "s1")
    with pytest.raises(NotFound):
        await results.read(handle, "s1")
    await services.close()


async def test_the_oldest_go_when_there_are_too_many_bytes(services: Services) -> None:
    results = Results(services.use(Store).area(SCHEMA), seconds=60, max_bytes=50_000)
    texts = [os.urandom(10_000).hex() for _ in range(8)]  # about 10 kB compressed
    handles = [await results.keep(text, "s1") for text in texts]
    stored = []
    for handle in handles:
        try:
            await results.read(handle, "s1")
        except NotFound:
            continue
        stored.append(handle)
    assert 2 <= len(stored) <= 5
    assert stored == handles[-len(stored) :]


async def test_one_that_is_larger_than_all_room_is_kept_alone(services: Services) -> None:
    results = Results(services.use(Store).area(SCHEMA), seconds=60, max_bytes=1000)
    handle = await results.keep(os.urandom(5000).hex(), "s1")
    assert len((await results.read(handle, "s1")).text) == 10_000


async def test_a_broken_store_keeps_them_here(results: Results) -> None:
    (data_folder() / "toolcrib.db").mkdir(parents=True)
    handles = [await results.keep(f"{n}" * 3_000_000, "s1") for n in range(4)]
    assert (await results.read(handles[-1], "s1")).text[0] == "3"
    with pytest.raises(Exception, match="store"):
        await results.read(handles[0], "s1")  # the oldest had to go
