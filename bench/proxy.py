"""CPU of a request through the proxy, over a bare forwarding application in the same run.

    python -m bench.proxy [requests]

A scripted server answers on loopback. Before it stand, in processes of their own, `toolcrib proxy`
with stages off and an application of 20 lines of starlette and httpx2 that only forwards. Requests
go to both by turns; the figures are seconds of CPU of those two processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

CHUNKS = 200
ROUNDS = 6
TICKS = os.sysconf("SC_CLK_TCK")
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


def model_app() -> Starlette:
    """The server: an answer of 200 words, streamed or whole."""
    events = [
        b"data: "
        + json.dumps(
            {
                "id": "c1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": {"content": f" word{n}"}, "finish_reason": None}],
            }
        ).encode()
        + b"\n\n"
        for n in range(CHUNKS)
    ]
    message = {"role": "assistant", "content": " word" * CHUNKS}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    async def chat(request: Request) -> Response:
        body = await request.body()
        if b'"stream": true' not in body and b'"stream":true' not in body:
            return JSONResponse(whole)

        async def stream() -> AsyncIterator[bytes]:
            for event in events:
                yield event
                await asyncio.sleep(0)
            yield b"data: [DONE]\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


def bare_app(origin: str) -> Starlette:
    """An application that forwards, and does nothing else."""
    client = httpx2.AsyncClient(base_url=origin, timeout=None)

    async def forward(request: Request) -> Response:
        headers = [(k, v) for k, v in request.headers.raw if k not in (b"host", b"content-length")]
        sent = client.build_request(
            request.method, request.url.path, headers=headers, content=await request.body()
        )
        reply = await client.send(sent, stream=True)
        skipped = ("content-length", "transfer-encoding", "connection")
        passed = {k: v for k, v in reply.headers.items() if k not in skipped}
        return StreamingResponse(reply.aiter_raw(), reply.status_code, passed)

    methods = ["GET", "POST"]
    return Starlette(routes=[Route("/{path:path}", forward, methods=methods)])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cases() -> dict[str, dict[str, Any]]:
    message = {"role": "user", "content": "word " * 40}
    long = [{"role": "user", "content": "word " * 3000}] * 5
    plain: dict[str, Any] = {"model": "m", "messages": [message]}
    return {
        "whole answer": plain,
        f"stream of {CHUNKS} events": plain | {"stream": True},
        "the same, 76 kB of request": plain | {"messages": long, "stream": True},
        "the same, tools offered": plain | {"tools": [TOOL] * 10, "stream": True},
    }


async def batch(client: httpx2.AsyncClient, base: str, body: bytes, count: int) -> None:
    head = {"content-type": "application/json"}

    async def one() -> None:
        answer = await client.post(f"{base}/v1/chat/completions", content=body, headers=head)
        assert answer.status_code == 200, answer.text

    for _ in range(0, count, 8):
        await asyncio.gather(*(one() for _ in range(8)))


async def up(client: httpx2.AsyncClient, base: str) -> None:
    while True:
        try:
            await client.get(f"{base}/v1/models")
        except httpx2.TransportError:
            await asyncio.sleep(0.1)
        else:
            return


async def measure(count: int, proxy: tuple[int, str], bare: tuple[int, str]) -> None:
    async with httpx2.AsyncClient(timeout=120) as client:
        for _, base in (proxy, bare):
            await up(client, base)
        for name, case in cases().items():
            body = json.dumps(case).encode()
            used: dict[str, list[float]] = {"proxy": [], "bare": []}
            for number in range(ROUNDS + 1):
                for who, (pid, base) in (("proxy", proxy), ("bare", bare)):
                    before = cpu_seconds(pid)
                    await batch(client, base, body, count)
                    if number:  # the first warms up
                        used[who].append((cpu_seconds(pid) - before) / count * 1000)
            ours, theirs = (statistics.median(used[who]) for who in ("proxy", "bare"))
            print(f"{name}: {ours:.2f} ms against {theirs:.2f} ms, {ours / theirs:.2f}x")


def serve(kind: str, port: int, origin: str) -> None:
    app = model_app() if kind == "model" else bare_app(origin)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


async def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    model, bare, ours = free_port(), free_port(), free_port()
    origin = f"http://127.0.0.1:{model}"
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"TOOLCRIB_DATA": folder, "TOOLCRIB_HTTP__ACCESS_LOG": "false"}
        starts = [
            ["-m", "bench.proxy", "--serve", "model", str(model), origin],
            ["-m", "bench.proxy", "--serve", "bare", str(bare), origin],
            ["-m", "toolcrib", "proxy", "--port", str(ours), "--upstream", f"{origin}/v1"],
        ]
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable, *words, env=env, stderr=asyncio.subprocess.DEVNULL
            )
            for words in starts
        ]
        try:
            await measure(
                count,
                (processes[2].pid, f"http://127.0.0.1:{ours}"),
                (processes[1].pid, f"http://127.0.0.1:{bare}"),
            )
        finally:
            for process in processes:
                process.terminate()
            await asyncio.gather(*(process.wait() for process in processes))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        asyncio.run(main())
