"""A toolbox of small tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.middleware.sample import GATES, TOOLS, Gate
from toolcrib.toolbox import Toolbox, installed

Make = Callable[..., Toolbox]


@pytest.fixture(autouse=True)
def gate() -> Iterator[Gate]:
    """Where the calls of `wait` and the held ones of `page` wait in this test."""
    GATES.append(Gate())
    yield GATES[-1]
    GATES.pop()


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Toolboxes that are closed after the test."""
    async with AsyncExitStack() as stack:
        opened: list[Toolbox] = []

        def make_one(**config: Any) -> Toolbox:
            service = [t for t in installed() if t.group in ("meta", "jobs")]
            box = Toolbox(config, tools=[*TOOLS, *service])
            stack.push_async_callback(box.close)
            opened.append(box)
            return box

        yield make_one


@pytest.fixture
def box(make: Make) -> Toolbox:
    return make()
