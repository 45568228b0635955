"""Real clients: they understand the scripted server, and reach our agents over MCP."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent
from tests.servers.model import ModelServer, Turn, model_server

pytestmark = pytest.mark.timeout(150)
FOUND = "The agent says that the word is plum."


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    try:
        import openai  # noqa: F401
        import pydantic_ai  # noqa: F401

        import agents  # noqa: F401
    except ImportError as error:
        absent(f"{error.name} is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.md").write_text("the word is plum\n")
    return folder


@pytest.fixture
def inner() -> Iterator[ModelServer]:
    """The model server of the agent inside."""
    calls = Turn("Looking.", [("read_file", {"path": "notes.md"})], piece=1)
    with model_server(calls, Turn("It is plum.", piece=2)) as server:
        yield server


@pytest.fixture
def outer() -> Iterator[ModelServer]:
    """The model server of the client: it delegates, then tells what came."""
    delegate = Turn(None, [("delegate_task", {"task": "which word is in notes.md?"})], piece=3)
    with model_server(delegate, Turn(FOUND, piece=5)) as server:
        yield server


def serving(inner: ModelServer, root: Path) -> dict[str, Any]:
    """How our MCP server is started."""
    words = ["-m", "toolcrib", "mcp", "--profile", "default,agent", "--workspace", str(root)]
    words += ["--set", f"agent.base_url={inner.url}"]
    return {"command": sys.executable, "args": words, "env": dict(os.environ)}


async def test_openai_understands_the_scripted_server() -> None:
    from openai import AsyncOpenAI

    turn = Turn("grüße", [("read_file", {"path": "ä.txt"})], piece=1)
    ask: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
    with model_server(turn) as server:
        async with AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
            whole = (await client.chat.completions.create(**ask)).choices[0]
            text, arguments = "", ""
            async with client.chat.completions.stream(**ask) as stream:
                async for event in stream:
                    if event.type == "content.delta":
                        text += event.delta
                completed = await stream.get_final_completion()
            models = [model.id async for model in client.models.list()]
    calls = completed.choices[0].message.tool_calls
    assert calls is not None
    arguments = calls[0].function.arguments
    assert whole.message.content == text == "grüße"
    assert whole.message.tool_calls is not None
    for call in (whole.message.tool_calls[0], calls[0]):
        assert call.function.name == "read_file"
    assert json.loads(arguments) == {"path": "ä.txt"}
    assert whole.finish_reason == completed.choices[0].finish_reason == "tool_calls"
    assert models == ["scripted"]


async def test_pydantic_ai_delegates_over_mcp(
    inner: ModelServer, outer: ModelServer, root: Path
) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset, StdioTransport
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=outer.url, api_key="none")
    toolset = MCPToolset(StdioTransport(**serving(inner, root)), read_timeout=60, init_timeout=60)
    agent = Agent(OpenAIChatModel("scripted", provider=provider), toolsets=[toolset])
    async with agent:
        run = await agent.run("which word is it?")
    assert run.output == FOUND
    assert "It is plum." in outer.results()[0]
    assert "completed" in outer.results()[0]
    assert "the word is plum" in inner.results()[0]


async def test_openai_agents_delegates_over_mcp(
    inner: ModelServer, outer: ModelServer, root: Path
) -> None:
    from agents.mcp import MCPServerStdio
    from openai import AsyncOpenAI

    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner
    from agents import set_tracing_disabled as without_tracing

    without_tracing(True)
    params: Any = serving(inner, root)
    async with (
        AsyncOpenAI(base_url=outer.url, api_key="none") as client,
        MCPServerStdio(params, client_session_timeout_seconds=60) as server,
    ):
        agent = Agent(
            name="outer",
            model=OpenAIChatCompletionsModel("scripted", openai_client=client),
            mcp_servers=[server],
            model_settings=ModelSettings(),
        )
        result = await Runner.run(agent, "which word is it?")
    assert result.final_output == FOUND
    assert "It is plum." in str(outer.results()[0])
    assert "the word is plum" in inner.results()[0]
