"""The official conformance suite as a program."""

from __future__ import annotations

import re
from pathlib import Path

from tests.node.tools import TOOLS, Finished, node

SUITE = TOOLS / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


async def conformance(url: str, folder: Path, *arguments: str) -> Finished:
    """Check the server at a URL; what was seen is kept in a folder."""
    return await node(SUITE, "server", "--url", url, "-o", str(folder), *arguments)


def failing(done: Finished) -> set[str]:
    """The scenarios with a failed check."""
    return set(re.findall(r"^✗ ([\w/-]+):", done.out, re.MULTILINE))
