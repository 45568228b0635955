"""A small web site on loopback: a page, a long page, a search instance. Real HTTP, in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = """<!doctype html><html lang="en"><head><title>Cribs &amp; tools</title></head><body>
<nav><a href="/home">Home</a></nav>
<main><h1>Cribs</h1><p>A tool crib issues tools. See <a href="/long">the long page</a>.</p>
<table><tr><th>tool</th><th>count</th></tr><tr><td>file</td><td>3</td></tr></table>
<script>alert("no")</script></main></body></html>"""

LONG = (
    "<!doctype html><title>Long</title><main>"
    + "".join(
        f"<p>Paragraph {n} of the long page says a little more than the last.</p>"
        for n in range(900)
    )
    + "</main>"
)


class Site(BaseHTTPRequestHandler):
    """Answers and counts requests."""

    hits: dict[str, int]

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.hits[parts.path] = self.hits.get(parts.path, 0) + 1
        if parts.path == "/search":
            query = parse_qs(parts.query).get("q", [""])[0]
            self._send("application/json", json.dumps(_found(query)))
        elif parts.path == "/page":
            self._send("text/html; charset=utf-8", PAGE)
        elif parts.path == "/go":
            self._send("text/plain", "", 302, {"Location": "/page"})
        elif parts.path == "/long":
            self._send("text/html; charset=utf-8", LONG)
        else:
            self._send("text/plain", "nothing here", 404)

    do_POST = do_GET  # noqa: N815 - the name is the base class's

    def _send(
        self, kind: str, text: str, status: int = 200, more: dict[str, str] | None = None
    ) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _found(query: str) -> dict[str, object]:
    results = [
        {
            "url": f"https://example.org/{n}?q=a%26b&n={n}",
            "title": f"{query} {n}",
            "content": f"Snippet {n} about {query}.",
            "engine": "test",
        }
        for n in range(1, 4)
    ]
    return {"query": query, "results": results, "number_of_results": len(results)}


@contextmanager
def site(host: str = "127.0.0.1") -> Iterator[tuple[str, dict[str, int]]]:
    """The base URL of a running site, and how often each path was asked for."""
    hits: dict[str, int] = {}
    handler = type("Handler", (Site,), {"hits": hits})
    server = ThreadingHTTPServer((host, 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}", hits
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
