"""Bare repositories over HTTP, by git's own `http-backend` behind a small server."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        server: GitServer = self.server  # type: ignore[assignment]
        server.hits.append(f"{self.command} {self.path}")
        body = self._body()
        split = urlsplit(self.path)
        if split.path.startswith("/flood"):
            self._flood()
            return
        if split.path.startswith("/away/"):
            self.send_response(302)
            self.send_header("location", server.leads_to + self.path.removeprefix("/away"))
            self.send_header("content-length", "0")
            self.end_headers()
            return
        wanted = base64.b64encode(server.login.encode()).decode()
        if server.login and self.headers.get("authorization") != f"Basic {wanted}":
            self.send_response(401)
            self.send_header("www-authenticate", 'Basic realm="git"')
            self.send_header("content-length", "0")
            self.end_headers()
            return
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": split.path,
            "QUERY_STRING": split.query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            "REMOTE_USER": "ann",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(
            line.split(": ", 1) for line in head.decode("latin-1").splitlines() if ": " in line
        )
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _flood(self) -> None:
        """More than anybody wants, in the shape of an answer."""
        self.send_response(200)
        self.send_header("content-type", "application/x-git-upload-pack-advertisement")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        line = b"003d" + b"a" * 40 + b" refs/heads/branch\n"
        try:
            self.wfile.write(b"001e# service=git-upload-pack\n0000")
            while True:
                self.wfile.write(line[:61] * 1000)
        except OSError:
            pass


class GitServer(ThreadingHTTPServer):
    """Serves a folder of repositories; `hits` are the requests, `login` is `user:password`."""

    daemon_threads = True

    def __init__(self, root: Path, login: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.login = login
        self.leads_to = ""
        self.hits: list[str] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@contextmanager
def git_server(root: Path, login: str = "") -> Iterator[GitServer]:
    server = GitServer(root, login)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
