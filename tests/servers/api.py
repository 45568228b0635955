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
class Requested:
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
class Reported:
    body: Any = b""
    status: int = 200
    kind: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    hold: threading.Event | None = None


Script = Reported | Callable[[Requested], Reported]


@dataclass
class Api:
    url: str
    script: dict[str, Script] = field(default_factory=dict)
    requested: list[Requested] = field(default_factory=list)

    def __setitem__(self, path: str, reported: Script) -> None:
        self.script[path] = reported

    @property
    def origin(self) -> str:
        return self.url.removeprefix("http://")

    @property
    def last(self) -> Requested:
        return self.requested[-1]

    def paths(self) -> list[str]:
        return [requested.path for requested in self.requested]


class _Handler(BaseHTTPRequestHandler):
    served: Api

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        requested = Requested(self.command, self.path, headers, body)
        self.served.requested.append(requested)
        script = self.served.script.get(requested.path, Reported({"error": "nothing here"}, 404))
        reported = script if isinstance(script, Reported) else script(requested)
        if reported.hold is not None:
            reported.hold.wait(20)
        self._send(reported)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def _send(self, reported: Reported) -> None:
        body, kind = reported.body, reported.kind
        if isinstance(body, str):
            body, kind = body.encode(), kind or "text/plain; charset=utf-8"
        elif not isinstance(body, bytes):
            body, kind = json.dumps(body).encode(), kind or "application/json"
        self.send_response(reported.status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in reported.headers:
            self.send_header(name, value)
        self.send_header(
            "Content-Length", str(len(body) if reported.length is None else reported.length)
        )
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
        for reported in served.script.values():
            if isinstance(reported, Reported) and reported.hold is not None:
                reported.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()


def echo(requested: Requested) -> Reported:
    """What was asked, as JSON."""
    return Reported(
        {
            "method": requested.method,
            "target": requested.target,
            "headers": requested.headers,
            "body": requested.body.decode("utf-8", "replace"),
        }
    )
