"""Agents of others through the proxy, at night: openai-agents and pydantic-ai."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import absent
from tests.servers.model import ModelServer, Turn, model_server
from tests.surfaces.proxy.proxies import CALL, proxied

pytestmark = pytest.mark.timeout(150)


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    try:
        import pydantic_ai  # noqa: F401

        import agents  # noqa: F401
    except ImportError as error:
        absent(f"{error.name} is not installed")


def weather_of(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"Rain in {city} for {days} days."


def checked(server: ModelServer, answer: Any) -> None:
    assert str(answer) == "It rains."
    assert "Rain in Oslo" in server.results(-1)[0]


async def test_pydantic_ai() -> None:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    with model_server(Turn(CALL), Turn("It rains.")) as server:
        async with (
            proxied(server.url) as base,
            AsyncOpenAI(base_url=f"{base}/v1", api_key="none") as client,
        ):
            provider = OpenAIProvider(openai_client=client)
            agent = Agent(OpenAIChatModel("scripted", provider=provider))
            agent.tool_plain(weather_of, name="get_weather")
            async with agent.run_stream("How is it in Oslo?") as run:
                answer = await run.get_output()
    checked(server, answer)


async def test_openai_agents() -> None:
    from openai import AsyncOpenAI

    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
    from agents import set_tracing_disabled as without_tracing

    without_tracing(True)
    with model_server(Turn(CALL), Turn("It rains.")) as server:
        async with (
            proxied(server.url) as base,
            AsyncOpenAI(base_url=f"{base}/v1", api_key="none") as client,
        ):
            tool = function_tool(weather_of, name_override="get_weather")
            model = OpenAIChatCompletionsModel("scripted", client)
            agent = Agent("helper", tools=[tool], model=model)
            run = Runner.run_streamed(agent, "How is it in Oslo?")
            async for _ in run.stream_events():
                pass
    checked(server, run.final_output)
