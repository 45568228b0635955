"""A loop of your own: a model behind an OpenAI-compatible endpoint uses the tools.

    python examples/own_loop.py http://127.0.0.1:1234/v1 MODEL "What is new in SQLite?"

Nothing but toolcrib and the standard library is needed.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.request import Request, urlopen

from toolcrib import Toolbox

MOST_TURNS = 10


def ask(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """One request to the model: what it says next."""
    request = Request(
        f"{url.rstrip('/')}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=600) as response:
        return json.load(response)["choices"][0]["message"]


def answer(url: str, model: str, question: str) -> str:
    """What the model says once it needs no more tools."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    with Toolbox(profile="default") as box:
        for _ in range(MOST_TURNS):
            body = {"model": model, "messages": messages, "tools": box.as_openai_tools()}
            said = ask(url, body)
            messages.append(said)
            if not said.get("tool_calls"):
                return said.get("content") or ""
            for call in said["tool_calls"]:
                # Arguments may stay JSON text, as the model wrote them.
                function = call["function"]
                result = box.call_sync(function["name"], function["arguments"])
                content = result.render()
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return f"(no answer after {MOST_TURNS} turns)"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(answer(*sys.argv[1:]))
