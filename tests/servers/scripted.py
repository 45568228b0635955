"""A web server on loopback that answers as it was told, and notes what it was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    form: dict[str, str]
    body: str = ""


@dataclass(frozen=True)
class Answer:
    body: bytes | str = b""
    status: int = 200
    kind: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


Script = Answer | Callable[[Request], Answer]


@dataclass
class Scripted:
    """The server: `script` maps paths to answers; `asked` is what came in."""

    url: str
    script: dict[str, Script] = field(default_factory=dict)
    requested: list[Request] = field(default_factory=list)

    def __setitem__(self, path: str, answer: Script) -> None:
        self.script[path] = answer

    def count(self, path: str) -> int:
        return sum(request.path == path for request in self.requested)

    @property
    def origin(self) -> str:
        """Host and port, as `egress.allow_hosts` takes them."""
        return self.url.removeprefix("http://")


class _Handler(BaseHTTPRequestHandler):
    served: Scripted

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        request = Request(
            self.command,
            parts.path,
            _first(parts.query),
            {name.lower(): value for name, value in self.headers.items()},
            _first(body),
            body,
        )
        self.served.requested.append(request)
        script = self.served.script.get(parts.path, Answer("nothing here", 404, "text/plain"))
        answer = script if isinstance(script, Answer) else script(request)
        if answer.hold is not None:
            answer.hold.wait(20)
        self._send(answer)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - the base class's

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        if answer.kind is not None:
            self.send_header("Content-Type", answer.kind)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def _first(query: str) -> dict[str, str]:
    return {k: v[0] for k, v in parse_qs(query, keep_blank_values=True).items()}


class Crowd:
    """Counts who is served at once, and lets nobody go before `expected` are there."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.now = self.peak = 0
        self.changed = threading.Condition()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While one is served."""
        with self.changed:
            self.now += 1
            self.peak = max(self.peak, self.now)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.peak >= self.expected, 20)
        try:
            time.sleep(0.05)  # one more than may come would be seen by now
            yield
        finally:
            with self.changed:
                self.now -= 1

    def answer(self, _: Request) -> Answer:
        """A page."""
        with self.inside():
            return Answer("<p>words")


@contextmanager
def scripted() -> Iterator[Scripted]:
    """A running server."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    served = handler.served = Scripted(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        for answer in served.script.values():
            if isinstance(answer, Answer) and answer.hold is not None:
                answer.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
