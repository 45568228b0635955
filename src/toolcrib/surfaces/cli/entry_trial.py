"""A try of an entry: it is started as a host does, and asked for its tools."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO, cast

from toolcrib.core.errors import ToolError, Unavailable

SECONDS = 60.0
ERROR_CHARS = 500


async def listed_tools(command: Sequence[str], seconds: float = SECONDS) -> list[str]:
    """The names of the tools that a stdio server lists, started in the home folder.

    It gets the few variables that hosts pass on, and not those of this shell.

    Raises:
        Unavailable: it does not start, or does not answer in time.
    """
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *words = command
    parameters = StdioServerParameters(command=program, args=words, cwd=Path.home())
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            async with (
                asyncio.timeout(seconds),
                Client(
                    stdio_client(parameters, errlog=cast("TextIO", log)), mode="legacy"
                ) as client,
            ):
                return [tool.name for tool in (await client.list_tools()).tools]
        except TimeoutError:
            raise _failed(f"it did not answer within {seconds:g} s") from None
        except Exception as error:  # noqa: BLE001 - whatever the start of a program brings
            log.seek(0)
            raise _failed(log.read()[-ERROR_CHARS:].strip() or repr(error)) from None


def _failed(why: str) -> ToolError:
    return Unavailable(
        f"The entry was tried and does not start, so nothing was written: {why}",
        hint="toolcrib doctor checks this installation; --print shows the entry all the same.",
    )
