"""The context guard: what it keeps, what it saves, what it costs, and how well tokens are counted.

Run: python -m bench.guard [keep] [cost] [prefix] [count] [--seed 1]

Histories are made from a seed. A fact is a sentence of the user; a needle is a line of a tool's
result or of an answer that the last question is about.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import re
import statistics
import time
from base64 import b64encode
from collections.abc import Callable
from random import Random
from typing import Any

from toolcrib.chatflow import token_count
from toolcrib.chatflow.flow import run_stages, select_stages
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin
from toolcrib.state.results import Results

Message = dict[str, Any]
THINGS = ("bridge", "lamp", "valve", "engine", "ferry", "kiosk", "ladder", "orchard", "piano")
KINDS = ("colour", "weight", "owner", "price", "length", "city", "number", "shape", "limit")
TEXT = "the run of this part went on as before and nothing in it was out of the usual way"
FILLER = tuple(TEXT.split())
CHINESE = "系统在处理请求时发生错误需要检查配置文件和日志"
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]


def fact(random: Random, number: int) -> str:
    thing, kind = random.choice(THINGS), random.choice(KINDS)
    return f"The {kind} of {thing} {number} must be {random.choice('abcdef')}{number * 37 % 9973}."


def words(random: Random, count: int) -> str:
    return " ".join(random.choice(FILLER) for _ in range(count))


def lines(random: Random, count: int) -> list[str]:
    return [f"{n:04}: {words(random, 9)} {random.randint(0, 9999)}" for n in range(count)]


def step(random: Random, number: int, result: str) -> list[Message]:
    arguments = json.dumps({"path": f"src/{random.choice(THINGS)}{number}.py"})
    function = {"name": "read_file", "arguments": arguments}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": words(random, 12), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def history(seed: int, turns: int, result_lines: int) -> tuple[list[Message], list[str], list[str]]:
    """A conversation with tools, the facts of its user, and needles elsewhere."""
    random = Random(seed)
    messages: list[Message] = [{"role": "system", "content": "You help with a project."}]
    facts, needles = [], []
    for turn in range(turns):
        facts.append(fact(random, turn))
        text = f"{words(random, 20)} {facts[-1]} {words(random, random.choice((5, 40)))}"
        messages.append({"role": "user", "content": text})
        for inner in range(random.choice((1, 2, 3))):
            found = lines(random, result_lines)
            needles.append(
                f"The secret of {random.choice(THINGS)} {turn}-{inner} is k{turn}{inner}x"
            )
            found.insert(random.randrange(len(found)), needles[-1])
            messages += step(random, turn * 10 + inner, "\n".join(found))
        messages.append({"role": "assistant", "content": words(random, 60)})
    return messages, facts, needles


async def through(
    services: Services, messages: list[Message], names: str = "guard", **more: Any
) -> Prompt:
    stages = select_stages(names.split(), services.config)
    return await run_stages(Prompt(messages, **more), StageContext(services), stages)


def opened(**branches: Any) -> Services:
    return Services(Config.load({"store": {"url": "sqlite://"}} | branches))


async def keep(seed: int) -> None:
    """Facts and needles after compaction without a model, and what is saved."""
    in_prompt = all_facts = readable = gone = found = requested = 0
    before = after = 0
    services = opened()
    for number in range(seed, seed + 30):
        messages, facts, needles = history(number, 30, 40)
        needle = Random(number).choice(needles[: len(needles) // 2])
        name = re.search(r"of (\w+ \d+-\d+)", needle)
        assert name
        messages.append({"role": "user", "content": f"What is the secret of {name[1]}?"})
        window = (16_000, 32_000, 64_000)[number % 3]
        prompt = await through(services, messages, tools=TOOLS, window=window)
        text = json.dumps(prompt.messages, ensure_ascii=False)
        in_prompt += sum(one in text for one in facts)
        all_facts += len(facts)
        found += needle in text
        requested += 1
        stored = await stored_texts(services, prompt)
        lost = [m for m in messages if m["content"] not in text and m not in prompt.messages]
        readable += sum(any(m["content"] in one for one in stored) for m in lost)
        gone += len(lost)
        if prompt.changed:
            before += token_count.count_messages(messages)
            after += token_count.count_messages(prompt.messages)
    print(f"facts of the user in the prompt: {in_prompt}/{all_facts} ({in_prompt / all_facts:.1%})")
    print(f"messages taken out, to be read by a handle: {readable}/{gone} ({readable / gone:.1%})")
    print(f"needles that the last question is about: {found}/{requested} ({found / requested:.0%})")
    print(f"tokens saved: {before:,} -> {after:,} ({1 - after / before:.1%})")
    await services.close()


async def stored_texts(services: Services, prompt: Prompt) -> list[str]:
    text = json.dumps(prompt.messages)
    handles = set(re.findall(r'handle=\\"(\w+)', text))
    results = services.use(Results)
    return [(await results.read(handle, prompt.conversation)).text for handle in handles]


async def cost(seed: int) -> None:
    """CPU of a compaction of 100,000 tokens without a model; counting is told apart."""
    cold, warm = [], []
    for number in range(seed, seed + 9):
        services = opened()
        messages, _, _ = history(number, 58, 55)
        messages.append({"role": "user", "content": "What is the limit of valve 3?"})
        await through(services, messages[:3], tools=TOOLS, window=32_000)
        token_count._cache.clear()  # noqa: SLF001 - nothing was counted yet
        began = time.process_time()
        prompt = await through(services, messages, tools=TOOLS, window=32_000)
        cold.append(time.process_time() - began)
        assert prompt.changed
        await services.close()
        services = opened()
        # As in a real conversation, where each message was counted when it came.
        await through(services, messages[:-1], tools=TOOLS, window=1_000_000)
        gc.collect()
        began = time.process_time()
        prompt = await through(services, messages, tools=TOOLS, window=32_000)
        warm.append(time.process_time() - began)
        tokens = token_count.count_messages(messages)
        await services.close()
    print(f"{tokens:,} tokens, CPU without a model: {statistics.median(warm) * 1000:.0f} ms "
          f"(median of {len(warm)}); {statistics.median(cold) * 1000:.0f} ms where no message "
          "was counted before")  # fmt: skip


async def prefix(seed: int) -> None:
    """What stays of the prefix from one request to the next, stages on."""
    services = opened(stages={"memory_tokens": 200})
    for number in range(40):
        draft = MemoryDraft(fact(Random(number), number), USER)
        await services.use(Memories).save(draft, Origin())
    shares, compactions, requests = [], 0, 0
    for number in range(seed, seed + 4):
        messages, _, _ = history(number, 25, 25)
        previous = None
        for end in range(2, len(messages)):
            if messages[end - 1]["role"] == "assistant":
                continue
            names = "first_turn paths memory hints clock guard"
            prompt = await through(services, messages[:end], names, tools=TOOLS, window=16_000)
            requests += 1
            if prompt.report:
                compactions += 1
            elif previous is not None:
                shares.append(common(previous, prompt.messages))
            previous = prompt.messages
    print(f"common prefix between {len(shares)} requests that do not compact: "
          f"least {min(shares):.1%}, median {statistics.median(shares):.1%} of the tokens before; "
          f"{compactions} of {requests} requests compacted")  # fmt: skip
    await services.close()


def common(before: list[Message], after: list[Message]) -> float:
    same = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        same += token_count.count_message(one)
    return same / token_count.count_messages(before)


async def count(seed: int) -> None:
    """The count against a tokenizer's: before any answer, and after three."""
    import bpe_openai

    samples: dict[str, Callable[[Random], str]] = {
        "tools": lambda random: "\n".join(lines(random, 30)),
        "prose": lambda random: words(random, 300),
        "chinese": lambda random: "".join(random.choice(CHINESE) for _ in range(600)),
        "json": lambda random: json.dumps([random.random() for _ in range(60)]),
        "base64": lambda random: b64encode(random.randbytes(900)).decode(),
        "mixed": lambda random: random.choice(list(samples.values())[:5])(random),
    }
    services = opened()
    calibration = services.use(token_count.Calibration)
    for tokenizer in ("o200k", "cl100k"):
        encoding = bpe_openai.get_encoding(f"{tokenizer}_base")
        first, later = {}, {}
        for kind, make in samples.items():
            random = Random(seed)
            messages: list[Message] = []
            name = f"{tokenizer} {kind}"
            for answers in range(6):
                messages.append({"role": "user", "content": make(random)})
                estimated = token_count.count_messages(messages)
                exact = sum(len(encoding.encode(m["content"])) + 4 for m in messages)
                off = estimated * await calibration.ratio(name, name) / exact - 1
                first.setdefault(kind, off)
                if answers >= 3:
                    later[kind] = max(later.get(kind, 0.0), abs(off))
                prompt = Prompt([], model=name, conversation=name, estimated_tokens=estimated)
                await token_count.learn_usage(prompt, StageContext(services), exact)
        before = ", ".join(f"{kind} {off:+.0%}" for kind, off in first.items())
        after = ", ".join(f"{kind} {off:.1%}" for kind, off in later.items())
        print(f"{tokenizer}: before an answer {before}; after three, at most {after}")
    await services.close()


PARTS = {"keep": keep, "cost": cost, "prefix": prefix, "count": count}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for name in given.parts or PARTS:
        asyncio.run(PARTS[name](given.seed))


if __name__ == "__main__":
    main()
