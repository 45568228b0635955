"""toolcrib's tools in an agent of pydantic-ai: pip install pydantic-ai-slim[openai]

python examples/pydantic_ai_agent.py FOLDER "What is in here?" http://127.0.0.1:1234/v1 MODEL
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from toolcrib import Toolbox


def tools_of(box: Toolbox) -> list[Any]:
    """The tools of a toolbox as pydantic-ai takes them."""
    from pydantic_ai import Tool

    def bridge(name: str) -> Any:
        async def call(**arguments: Any) -> str:
            # An error is text too: the model reads what to do next.
            return (await box.call(name, arguments)).render()

        return call

    return [
        Tool.from_schema(
            bridge(tool.name),
            name=tool.name,
            description=tool.description,
            json_schema=dict(tool.schema),
        )
        for tool in box.tools()
    ]


async def main(folder: str, question: str, server: str, model: str) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with Toolbox(workspace=folder, profile="default") as box:
        provider = OpenAIProvider(base_url=server, api_key="none")
        agent = Agent(OpenAIChatModel(model, provider=provider), tools=tools_of(box))
        print((await agent.run(question)).output)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:5]))
