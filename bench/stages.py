"""What the stages `memory` and `documents` add to a request, over many indexed passages.

    python -m bench.stages [--passages 100000] [--memories 1000] [--requests 60]

Files of made-up prose are indexed as a user would, memories are saved, and new messages are sent
through the stages in this process: the time that a request waits for them, and its CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

from toolcrib.chatflow.flow import run_stages, select_stages
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.documents.library import Library
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin
from toolcrib.toolbox import Toolbox

PASSAGES_A_FILE = 200
WORDS_A_PASSAGE = 150
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]


def vocabulary(random_: random.Random) -> list[str]:
    """Words of which few are frequent, as in any language."""
    return ["".join(random_.choices(SYLLABLES, k=random_.randint(2, 4))) for _ in range(20_000)]


def prose(random_: random.Random, words: list[str], count: int) -> str:
    """So many words; small numbers come often."""
    places = (int(len(words) * random_.random() ** 3) for _ in range(count))
    return " ".join(words[place] for place in places)


async def fill(box: Toolbox, folder: Path, words: list[str], options: argparse.Namespace) -> int:
    """Index the files and save the memories; how many passages there are."""
    random_ = random.Random(7)
    for number in range(options.passages // PASSAGES_A_FILE):
        parts = [prose(random_, words, WORDS_A_PASSAGE) for _ in range(PASSAGES_A_FILE)]
        (folder / f"{number}.txt").write_text("\n\n".join(parts))
    result = await box.call("index_documents", {"paths": ["."]})
    assert result.error is None, result.render()
    files = options.passages // PASSAGES_A_FILE
    while (await box.use(Library).index.status()).entries < files:  # it goes on as a job
        await asyncio.sleep(1)
    drafts = [
        MemoryDraft(f"{prose(random_, words, 8)} {number}", USER)
        for number in range(options.memories)
    ]
    await box.use(Memories).save_all(drafts, Origin(source="bench"))
    return (await box.use(Library).index.status()).chunks


async def measure(
    box: Toolbox, names: list[str], words: list[str], count: int
) -> tuple[float, float, float]:
    """Median and 95th percentile of the time that is added, and CPU a request, in ms."""
    random_ = random.Random(11)
    stages = select_stages(names, box.config)
    took, used = [], []
    for number in range(count + 5):
        question = f"What do you know of {prose(random_, words, 6)}?"
        prompt = Prompt([{"role": "user", "content": question}], model="m", window=32_768)
        start, cpu = time.perf_counter(), time.process_time()
        await run_stages(prompt, StageContext(box.services), stages)
        if number >= 5:  # the first ones open what is used
            took.append((time.perf_counter() - start) * 1_000)
            used.append((time.process_time() - cpu) * 1_000)
    ordered = sorted(took)
    return statistics.median(took), ordered[int(len(took) * 0.95)], statistics.median(used)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--requests", type=int, default=60)
    options = parser.parse_args()
    words = vocabulary(random.Random(3))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "work"
        folder.mkdir()
        store = f"sqlite:///{(folder.parent / 'state.db').as_posix()}"
        limits = {"index_bytes": 1_000_000_000, "index_files": 10_000}
        config = {"store": {"url": store}, "documents": limits}
        async with Toolbox(config, "documents", workspace=folder) as box:
            began = time.process_time()
            found = await fill(box, folder, words, options)
            print(f"{found:,} passages, {time.process_time() - began:.0f} s of CPU to index")
            for names in (["guard"], ["memory"], ["documents"], ["memory", "documents", "guard"]):
                median, late, cpu = await measure(box, names, words, options.requests)
                print(
                    f"{', '.join(names):26} {median:6.1f} ms median, {late:6.1f} ms at 95 %, "
                    f"{cpu:6.1f} ms of CPU"
                )


if __name__ == "__main__":
    asyncio.run(main())
