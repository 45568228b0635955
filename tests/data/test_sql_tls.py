"""TLS to database servers: what is not trusted is refused before anything secret is sent."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.servers.authority import Authority
from toolcrib.core.config import Config
from toolcrib.toolbox import Toolbox

pytest.importorskip("pg8000")
pytest.importorskip("pymysql")
PASSWORD = "the-secret-of-the-shop"
GREETING = b"\x0a11.4.2-MariaDB\0" + struct.pack("<I", 7) + b"a" * 8 + b"\0"
"""The first packet of MariaDB, up to what it can; what comes behind the lower half of that: """
REST = b"\x2d\x02\0" + struct.pack("<H", 0x81FF) + b"\x15" + b"\0" * 10 + b"b" * 12 + b"\0"
REST += b"mysql_native_password\0"
TLS_BIT = 0x0800


def packet(number: int, content: bytes) -> bytes:
    return struct.pack("<I", len(content))[:3] + bytes([number]) + content


def postgresql(client: socket.socket, context: ssl.SSLContext | None, seen: list[bytes]) -> None:
    """The start of the protocol, up to a refused password."""
    assert client.recv(8) == struct.pack("!II", 8, 80877103)
    client.sendall(b"S" if context else b"N")
    if context is None:
        seen.append(client.recv(4096))
        return
    with context.wrap_socket(client, server_side=True) as secure:
        assert b"reader" in secure.recv(4096)
        secure.sendall(b"R" + struct.pack("!II", 8, 3))  # it wants the password as it is
        seen.append(secure.recv(4096))
        fields = b"SFATAL\0C28P01\0Mno entry\0\0"
        secure.sendall(b"E" + struct.pack("!I", len(fields) + 4) + fields)


def mariadb(client: socket.socket, context: ssl.SSLContext | None, seen: list[bytes]) -> None:
    """The same of MariaDB."""
    able = struct.pack("<H", 0xF7FF | (TLS_BIT if context else 0))
    client.sendall(packet(0, GREETING + able + REST))
    if context is None:
        seen.append(client.recv(4096))
        return
    assert len(client.recv(36)) == 36  # the request for TLS, which names nobody
    with context.wrap_socket(client, server_side=True) as secure:
        seen.append(secure.recv(4096))
        secure.sendall(packet(3, b"\xff" + struct.pack("<H", 1045) + b"#28000no entry"))


@contextmanager
def serving(dialect: str, context: ssl.SSLContext | None) -> Iterator[tuple[int, list[bytes]]]:
    """A port that speaks the start of a protocol, and what came over it beyond that."""
    talk = {"postgresql": postgresql, "mariadb": mariadb}[dialect]
    seen: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)

    def serve() -> None:
        with suppress(OSError):  # a client that does not trust us hangs up
            client, _ = listener.accept()
            with client:
                client.settimeout(60)
                talk(client, context, seen)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], seen
    finally:
        thread.join()
        listener.close()


@pytest.mark.parametrize("dialect", ["postgresql", "mariadb"])
async def test_only_a_trusted_server_gets_the_password(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    for name in ("ours", "stranger", "ws"):
        (tmp_path / name).mkdir()
    ours, stranger = Authority(tmp_path / "ours"), Authority(tmp_path / "stranger")
    past = datetime(2020, 1, 1, tzinfo=UTC)
    for context, code, text in (
        (ours.context("127.0.0.1"), "connection_failed", "does not let this source in: no entry"),
        (stranger.context("127.0.0.1"), "tls_failure", "unable to get local issuer certificate"),
        (ours.context("shop.test", "127.0.0.9"), "tls_failure", "not valid for '127.0.0.1'"),
        (ours.context("127.0.0.1", ends=past), "tls_failure", "certificate has expired"),
        (None, "tls_failure", "SSL"),
    ):
        with serving(dialect, context) as (port, seen):
            url = f"{dialect}://reader@127.0.0.1:{port}/shop"
            source = {"url": url, "password_env": "SHOP_PASSWORD", "tls": True}
            config = Config.model_validate(
                {"sql": {"sources": {"shop": source}}, "egress": {"ca_file": str(ours.ca_file)}}
            )
            async with Toolbox(config, workspace=tmp_path / "ws") as box:
                found = await box.call("query_database", {"source": "shop", "sql": "SELECT 1"})
        assert found.error is not None
        assert (found.error.code, text in found.render()) == (code, True), found.render()
        assert bool(b"".join(seen)) is (code == "connection_failed"), seen
