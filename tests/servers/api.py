"""A web service on loopback: any method, answers as it was told, notes what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Told:
    body: Any = b""
    status: int = 200
    kind: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    hold: threading.Event | None = None


Script = Told | Callable[[Asked], Told]


@dataclass
class Api:
    url: str
    script: dict[str, Script] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def __setitem__(self, path: str, told: Script) -> None:
        self.script[path] = told

    @property
    def origin(self) -> str:
        return self.url.removeprefix("http://")

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]


class _Handler(BaseHTTPRequestHandler):
    served: Api

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body)
        self.served.asked.append(asked)
        script = self.served.script.get(asked.path, Told({"error": "nothing here"}, 404))
        told = script if isinstance(script, Told) else script(asked)
        if told.hold is not None:
            told.hold.wait(20)
        self._send(told)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def _send(self, told: Told) -> None:
        body, kind = told.body, told.kind
        if isinstance(body, str):
            body, kind = body.encode(), kind or "text/plain; charset=utf-8"
        elif not isinstance(body, bytes):
            body, kind = json.dumps(body).encode(), kind or "application/json"
        self.send_response(told.status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in told.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if told.length is None else told.length))
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def api(host: str = "127.0.0.1") -> Iterator[Api]:
    """A running service."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer((host, 0), handler)
    server.daemon_threads = True
    served = handler.served = Api(f"http://{host}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        for told in served.script.values():
            if isinstance(told, Told) and told.hold is not None:
                told.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()


def echo(asked: Asked) -> Told:
    """What was asked, as JSON."""
    return Told(
        {
            "method": asked.method,
            "target": asked.target,
            "headers": asked.headers,
            "body": asked.body.decode("utf-8", "replace"),
        }
    )
