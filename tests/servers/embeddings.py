"""A server of embeddings on loopback: texts with the same words get vectors that are near."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONG = 60.0
MEANINGS: Mapping[str, str] = {
    "leuchtturm": "lighthouse", "tür": "door", "blau": "blue", "faro": "lighthouse",
    "cottage": "house", "dwelling": "house",
}  # fmt: skip
"""Words that mean the same to this server."""


@dataclass
class EmbeddingServer:
    """A running server.

    `dims` are the values of a vector, `mode` is `ok`, `error`, `stall` or `junk`; `calls` are
    the bodies of the requests, `headers` theirs.
    """

    origin: str
    dims: int = 64
    mode: str = "ok"
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> dict[str, Any]:
        """A configuration that uses this server."""
        return {"use": "server", "base_url": f"{self.origin}/v1", "model": "words"}

    @property
    def texts(self) -> list[str]:
        """All that was embedded."""
        return [text for body in list(self.calls) for text in body["input"]]


def vector_of(text: str, dims: int) -> list[float]:
    """The sum of a direction for each word."""
    total = [0.0] * dims
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.blake2b(MEANINGS.get(word, word).encode(), digest_size=64).digest()
        for place in range(dims):
            total[place] += digest[place % 64] / 127.5 - 1 + 0.01 * (place // 64)
    return total


def _answer(server: EmbeddingServer, texts: Sequence[str]) -> Any:
    if server.mode == "junk":
        return {"data": [{"embedding": ["NaN"]}]}
    rows = [
        {"object": "embedding", "index": n, "embedding": vector_of(text, server.dims)}
        for n, text in enumerate(texts)
    ]
    return {"object": "list", "data": rows[::-1], "model": "words"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        served = self.served
        served.calls.append(body)
        served.headers.append({name.lower(): value for name, value in self.headers.items()})
        served.reached.set()
        if served.mode == "stall":
            served.over.wait(LONG)
            self.close_connection = True
            return
        failed = served.mode == "error" or self.path != "/v1/embeddings"
        content = {"error": {"message": "no"}} if failed else _answer(served, body["input"])
        data = json.dumps(content).encode()
        self.send_response(500 if failed else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def embedding_server(dims: int = 64) -> Iterator[EmbeddingServer]:
    """A running server."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    served = EmbeddingServer(f"http://127.0.0.1:{server.server_address[1]}", dims)
    handler.served = served
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
