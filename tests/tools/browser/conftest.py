"""A toolbox with a browser, one for all these tests of a worker, and apps on loopback.

To start a browser costs as much as 20 pages, so every test that can takes `desk`, and where
it needs pages of its own, a conversation of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.conftest import absent
from tests.servers.forbidden_host import ForbiddenHost
from tests.servers.web_app import WebApp, web_app
from toolcrib.browser.program import find_program
from toolcrib.core.context import Caller, Question
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox


@dataclass
class Desk:
    """The apps, and a toolbox whose browser may use them, with somebody who says yes.

    Attributes:
        app: the apps.
        box: the toolbox.
        folder: its workspace.
        questions: what somebody was asked, and said yes to.
        session: the conversation of the calls.
    """

    app: WebApp
    box: Toolbox
    folder: Path
    questions: list[str]
    session: str = "desk"

    @property
    def url(self) -> str:
        """Where the apps are."""
        return self.app.url

    def talk(self, session: str) -> Desk:
        """The same in a conversation of its own."""
        return replace(self, session=session)

    async def call(self, name: str, /, **arguments: Any) -> Result:
        """A call, whatever comes of it."""

        async def ask(question: Question) -> bool:
            self.questions.append(question.reason)
            return True

        caller = Caller("test", ask=ask)
        return await self.box.call(name, arguments, session=self.session, caller=caller)

    async def __call__(self, name: str, /, **arguments: Any) -> Result:
        """A call that works."""
        result = await self.call(f"browser_{name}", **arguments)
        assert result.error is None, result.render()
        return result

    async def act(self, *steps: str, **arguments: Any) -> str:
        """Steps written as `action target = value`; what the call answered."""
        result = await self("act", actions=[step(text) for text in steps], **arguments)
        return result.text

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """A call that does not work, and what it says."""
        result = await self.call(f"browser_{name}", **arguments)
        assert result.error is not None, result.render()
        return result.render()


def step(text: str) -> dict[str, str]:
    """`click Send`, `type Name = Ann`: a step as the tool takes it."""
    head, _, value = text.partition(" = ")
    action, _, target = head.partition(" ")
    made = {"action": action, "target": target, "value": value}
    return {name: part for name, part in made.items() if part}


def opened_to(*urls: str) -> dict[str, Any]:
    """Settings that open servers of the tests to the browser, with nothing kept on disk."""
    hosts = [urlsplit(url).netloc for url in urls]
    return {
        "web": {"fetch": {"allow_hosts": hosts}},
        "egress": {"allow_hosts": hosts},
        "store": {"url": "sqlite://"},
    }


@pytest.fixture(scope="session", autouse=True)
def browser_program() -> str:
    """The browser of this machine; without one these tests cannot run."""
    pytest.importorskip("playwright")
    try:
        return str(find_program(""))
    except ToolError as error:
        absent(error.message)
        raise


@pytest.fixture(scope="session")
def app() -> Iterator[WebApp]:
    with web_app() as served:
        yield served


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def desk(app: WebApp, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    secrets = {
        "desk": {"env": "DESK_PASSWORD", "origins": [app.url]},
        "elsewhere": {"env": "DESK_PASSWORD", "origins": ["https://example.com"]},
    }
    settings = opened_to(app.url) | {"browser": {"secrets": secrets}}
    settings["web"]["providers"] = {"bing_browser": {"base_url": app.url}}
    folder = tmp_path_factory.mktemp("desk")
    async with Toolbox(settings, workspace=folder) as box:
        yield Desk(app, box, folder, [])


@pytest.fixture
def forbidden() -> Iterator[ForbiddenHost]:
    host = ForbiddenHost()
    yield host
    host.close()
