"""toolcrib's tools for LangChain: pip install langchain-core

python examples/langchain_tools.py FOLDER
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from toolcrib import Toolbox


def tools_of(box: Toolbox) -> list[Any]:
    """The tools of a toolbox as LangChain's agents and `bind_tools` take them."""
    from langchain_core.tools import StructuredTool

    def bridge(name: str) -> Any:
        async def call(**arguments: Any) -> str:
            # An error is text too: the model reads what to do next.
            return (await box.call(name, arguments)).render()

        return call

    return [
        StructuredTool.from_function(
            coroutine=bridge(tool.name),
            name=tool.name,
            description=tool.description,
            args_schema=dict(tool.schema),
            infer_schema=False,
        )
        for tool in box.tools()
    ]


async def main(folder: str) -> None:
    async with Toolbox(workspace=folder, profile="default") as box:
        tools = {tool.name: tool for tool in tools_of(box)}
        print(await tools["list_directory"].ainvoke({}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "."))
