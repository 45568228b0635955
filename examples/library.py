"""Call tools from a program of your own: python examples/library.py FOLDER"""

from __future__ import annotations

import asyncio
import sys

from toolcrib import Toolbox


async def main(folder: str) -> None:
    async with Toolbox(workspace=folder) as box:
        listing = await box.call("list_directory", {})
        print(listing.render())
        if listing.error is not None:
            return
        for entry in listing.data["entries"]:
            if entry["kind"] != "file":
                continue
            # An error is part of the result: a code for programs, words for the reader.
            result = await box.call("read_file", {"path": entry["path"], "lines": 3})
            print(f"\n{entry['path']}")
            print(result.text if result.error is None else f"({result.error.message})")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "."))
