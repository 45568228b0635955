"""Ask the web and print the passages with their sources. It needs the network.

    python examples/web_research.py "How do lichens survive on bare rock?"

Providers, keys and limits come from the configuration, as for every surface: docs/web.md.
"""

from __future__ import annotations

import asyncio
import sys

from toolcrib import Toolbox


async def main(question: str) -> int:
    async with Toolbox() as box:
        result = await box.call("web_research", {"question": question, "max_tokens": 1500})
        if result.error is not None:
            print(f"{result.error.code}: {result.error.message}\n{result.error.hint}")
            return 1
        for source in result.data["sources"]:
            print(f"[{source['number']}] {source['title']} {source['published'][:10]}")
            print(f"    {source['url']}")
            for passage in source["passages"]:
                place = " > ".join(passage["headings"])
                print(f"    {place}: {' '.join(passage['text'].split())[:200]}")
        for page in result.data["failed"]:
            print(f"not read: {page['url']} ({page['code']})")
        # What a model would be given instead is `result.render()`.
        return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(sys.argv[1])))
