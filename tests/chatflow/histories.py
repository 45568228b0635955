"""Histories of conversations, made from a seed, and what must hold of any that is compacted."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random
from typing import Any

TEXT = (
    "the build of package station river lamp parser window table error index cache token fails "
    "when server answers with empty body and retries three times before it gives up on socket"
)
WORDS = tuple(TEXT.split())
CJK = "系统在处理请求时发生错误需要检查配置文件和日志然后重新启动服务器以便继续"
Message = dict[str, Any]


def sentence(random: Random, words: int) -> str:
    if random.random() < 0.08:
        return "".join(random.choice(CJK) for _ in range(words))
    return " ".join(random.choice(WORDS) for _ in range(words))


def lines(random: Random, count: int) -> str:
    return "\n".join(f"{n}: {sentence(random, random.randint(3, 12))}" for n in range(count))


def result(random: Random) -> str:
    kind = random.random()
    if kind < 0.1:
        return "Error: " + sentence(random, 10)
    if kind < 0.2:
        return json.dumps({"rows": [sentence(random, 5) for _ in range(random.randint(1, 80))]})
    if kind < 0.25:
        return ""
    if kind < 0.3:
        return "x" * random.randint(10, 6_000)
    return lines(random, random.choice((1, 3, 10, 40, 100)))


def user_message(random: Random) -> Message:
    text = sentence(random, random.choice((3, 20, 60, 400)))
    if random.random() < 0.1:
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        return {"role": "user", "content": [{"type": "text", "text": text}, image]}
    return {"role": "user", "content": text}


def steps(random: Random, ids: list[int]) -> list[Message]:
    """An assistant's message with calls and their results, in their order or another."""
    calls = []
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        ids[0] += 1
        # Some servers use the same ids again and again.
        call_id = f"call_{ids[0]}" if ids[1] else f"call_{len(calls)}"
        name = random.choice(("read_file", "run_command", "web_search"))
        arguments = json.dumps({"path": f"src/{random.randint(1, 5)}.py"})
        calls.append(
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        )
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": result(random)} for call in calls
    ]
    if random.random() < 0.3:
        random.shuffle(results)
    content = sentence(random, 8) if random.random() < 0.5 else None
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *results]


def history(seed: int) -> list[Message]:
    """A legal conversation: turns of a user, with calls of tools in them, of any size."""
    random = Random(seed)
    messages: list[Message] = []
    if random.random() < 0.8:
        messages.append({"role": "system", "content": sentence(random, random.choice((5, 100)))})
    ids = [0, random.random() < 0.7]
    for _ in range(random.choice((1, 2, 4, 8))):
        messages.append(user_message(random))
        for _ in range(random.choice((0, 1, 2, 6))):
            messages += steps(random, ids)
        messages.append({"role": "assistant", "content": sentence(random, random.randint(1, 200))})
    ending = random.random()
    if ending < 0.5:
        messages.append(user_message(random))
    elif ending < 0.8:
        messages += [user_message(random), *steps(random, ids)]
    else:  # calls in flight, some of them answered
        messages += [user_message(random), *steps(random, ids), *steps(random, ids)]
        while messages[-1]["role"] == "tool" and random.random() < 0.7:
            messages.pop()
    return messages


def damaged(messages: list[Message], random: Random) -> list[Message]:
    """The same with orphans: some calls or results are gone, or stand elsewhere."""
    stored = []
    for message in messages:
        if message["role"] == "tool" and random.random() < 0.15:
            continue
        if message.get("tool_calls") and random.random() < 0.15:
            continue
        stored.append(message)
    return stored


def problems(sent: list[Message], after: list[Message], *, legal: bool = True) -> list[str]:
    """What is wrong with a compacted conversation, beside the one that was sent."""
    found = orphans(after)
    systems = [m for m in sent if m["role"] in ("system", "developer")]
    if [m for m in after if m["role"] in ("system", "developer")] != systems:
        found.append("the system part is another")
    users = [m for m in sent if m["role"] == "user"]
    if users and legal and users[-1] not in after:
        found.append("the last message of the user is not there")
    if users and legal and [m for m in after if m["role"] == "user"][:1] == []:
        found.append("no message of a user is left")
    if legal and doubled(after) > doubled(sent):
        found.append("roles do not alternate")
    if sent and sent[-1].get("tool_calls") and legal:
        calls = [call["id"] for call in sent[-1]["tool_calls"]]
        if [call["id"] for call in after[-1].get("tool_calls") or ()] != calls:
            found.append("calls in flight are gone")
    return found


def orphans(messages: list[Message]) -> list[str]:
    found = []
    at = 0
    while at < len(messages):
        message = messages[at]
        if message["role"] == "tool":
            found.append(f"the result at {at} has no call")
        at += 1
        wanted = [call["id"] for call in message.get("tool_calls") or ()]
        if not wanted:
            continue
        given = []
        while at < len(messages) and messages[at]["role"] == "tool":
            given.append(messages[at]["tool_call_id"])
            at += 1
        if at < len(messages) and sorted(given) != sorted(wanted):
            found.append(f"calls before {at} lack results: {wanted} {given}")
        if any(call not in wanted for call in given):
            found.append(f"results before {at} have no call")
    return found


def doubled(messages: list[Message]) -> int:
    """How often two messages of one role stand side by side, but for results."""
    roles = [m["role"] for m in messages if m["role"] != "system"]
    roles = [role for at, role in enumerate(roles) if role != "tool"]
    pairs = pairwise(roles)
    return sum(a == b == "user" for a, b in pairs)
