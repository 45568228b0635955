"""A page server for benchmarks, in a process of its own: nginx where it is installed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import trustme

HOST = "127.0.0.2"
PAGE_BYTES = 50_000

NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; default_type text/html; keepalive_requests 10000000;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen {host}:{plain}; root {folder}/www; }}
  server {{ listen {host}:{tls} ssl http2; root {folder}/www;
    ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key; }}
}}
"""


@dataclass
class Pages:
    """Where the page is served. `kind` names the server."""

    kind: str
    plain: str
    tls: str
    ca_file: str


@contextlib.contextmanager
def pages() -> Iterator[Pages]:
    """Serve one page of 50 KB, in plain and over TLS, until the block ends."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        _fill(folder)
        plain, tls = _free_port(), _free_port()
        nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if nginx:
            text = NGINX.format(folder=folder, host=HOST, plain=plain, tls=tls)
            (folder / "nginx.conf").write_text(text)
            command = [
                nginx,
                "-c",
                str(folder / "nginx.conf"),
                "-p",
                name,
                "-e",
                f"{name}/error.log",
            ]
        else:
            command = [sys.executable, __file__, name, str(plain), str(tls)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            _wait_for(plain)
            _wait_for(tls)
            yield Pages(
                "nginx" if nginx else "asyncio (nginx is not installed)",
                f"http://{HOST}:{plain}/page.html",
                f"https://{HOST}:{tls}/page.html",
                str(folder / "ca.pem"),
            )
        finally:
            process.terminate()
            process.wait()


def _fill(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    server = authority.issue_cert(HOST)
    server.private_key_pem.write_to_path(folder / "server.key")
    for number, blob in enumerate(server.cert_chain_pems):
        blob.write_to_path(folder / "server.pem", append=number > 0)
    (folder / "www").mkdir()
    words = random.Random(1).choices(["alpha", "beta", "gamma", "delta"], k=PAGE_BYTES)
    (folder / "www" / "page.html").write_text(f"<p>{' '.join(words)}"[:PAGE_BYTES])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError("the page server did not start")


def _serve(folder: Path, plain: int, tls: int) -> None:
    import asyncio
    import ssl

    page = (folder / "www" / "page.html").read_bytes()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    answer += b"Content-Length: %d\r\n\r\n" % len(page) + page

    class Page(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport

        def data_received(self, data):
            self.transport.write(answer * data.count(b"\r\n\r\n"))

    async def run() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        loop = asyncio.get_running_loop()
        await loop.create_server(Page, HOST, plain)
        await loop.create_server(Page, HOST, tls, ssl=context)
        await asyncio.Event().wait()

    asyncio.run(run())


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
