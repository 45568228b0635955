"""Run as a program: calls tools one after the other, and prints what each answered, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from toolcrib import Toolbox


async def main(folder: Path, config: str, calls: str) -> None:
    texts = []
    async with Toolbox(json.loads(config), workspace=folder) as box:
        for name, arguments in json.loads(calls):
            texts.append((await box.call(name, arguments)).render())
    sys.stdout.write(json.dumps(texts))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
