"""The guard proxy with real clients, over TCP and over a unix socket."""

from __future__ import annotations

import asyncio
import base64
import shutil
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from tests.conditions import settled, until
from tests.conftest import absent
from tests.servers.authority import Authority
from tests.servers.wire import Requested, WireServer, reply
from toolcrib.core.config import Config
from toolcrib.core.errors import Blocked
from toolcrib.net.egress import guard_tunnel
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease

NAMES = {
    "public.test": ["127.0.0.2"],
    "internal.test": ["127.0.0.1"],
    "mixed.test": ["127.0.0.2", "127.0.0.1"],
    "dead.test": ["127.0.0.4", "127.0.0.2"],
}
INSIDE = ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "internal.test", "mixed.test"]


async def lookup(host: str) -> list[str]:
    if host not in NAMES:
        raise OSError(host)
    return NAMES[host]


def config(**egress: object) -> Config:
    return Config.load({"egress": {"allow_networks": ["127.0.0.2/32", "127.0.0.4/32"], **egress}})


@pytest.fixture
async def guard() -> AsyncIterator[GuardProxy]:
    egress = Egress(config(), lookup=lookup)
    proxy = GuardProxy(egress, config().egress)
    yield proxy
    await proxy.close()
    await egress.close()


@pytest.fixture
async def lease(guard: GuardProxy) -> AsyncIterator[Lease]:
    with await guard.lease() as lease:
        yield lease


async def get(lease: Lease, url: str, context: ssl.SSLContext | bool = True) -> tuple[int, bytes]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, proxy=lease.http_url, ssl=context) as answer,
    ):
        return answer.status, await answer.read()


async def socks(lease: Lease, host: bytes, port: int, password: str = "") -> tuple[int, bytes]:
    """The reply code, and what a GET gives."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lease.port)
    try:
        writer.write(b"\x05\x02\x00\x02")
        assert await reader.readexactly(2) == b"\x05\x02"
        user, word = lease.username.encode(), (password or lease.password).encode()
        writer.write(b"\x01" + bytes([len(user)]) + user + bytes([len(word)]) + word)
        if (await reader.readexactly(2))[1]:
            return -1, await reader.read()
        writer.write(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + port.to_bytes(2, "big"))
        code = (await reader.readexactly(10))[1]
        if code == 0:
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return code, await reader.readuntil(b"public")
        return code, await reader.read()
    finally:
        writer.close()


async def raw(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    with suppress(ConnectionResetError):
        answer = await asyncio.wait_for(reader.read(), 20)
    writer.close()
    return answer


def basic(lease: Lease) -> bytes:
    token = base64.b64encode(f"{lease.username}:{lease.password}".encode())
    return b"Proxy-Authorization: Basic " + token + b"\r\n"


async def test_http_in_plain_and_by_tunnel(
    lease: Lease, public: WireServer, tmp_path: Path
) -> None:
    assert await get(lease, public.url("/", "public.test")) == (200, b"public")
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    async with WireServer(
        {"/": reply(b"secure")}, context=authority.context("public.test")
    ) as secure:
        assert await get(lease, secure.url("/", "public.test"), trusting) == (200, b"secure")
    assert lease.refusals == ()


async def test_socks(lease: Lease, public: WireServer) -> None:
    code, answer = await socks(lease, b"public.test", public.port)
    assert code == 0
    assert answer.endswith(b"public")


@pytest.mark.rows("X4", "A37")
@pytest.mark.parametrize("host", INSIDE)
async def test_the_inside_is_refused_by_every_way(
    lease: Lease, internal: WireServer, host: str
) -> None:
    status, text = await get(lease, f"http://{host}:{internal.port}/")
    assert status == 403
    assert b"Destination not allowed" in text
    with pytest.raises(aiohttp.ClientHttpProxyError) as caught:
        await get(lease, f"https://{host}:{internal.port}/")
    assert caught.value.status == 403
    assert (await socks(lease, host.encode(), internal.port))[0] == 2
    assert len(lease.refusals) == 3
    assert all(isinstance(refusal, Blocked) for refusal in lease.refusals)
    assert lease.refusals[0].details["host"] in text.decode()


@pytest.mark.parametrize("kind", [1, 4])
async def test_socks_addresses_are_judged(lease: Lease, internal: WireServer, kind: int) -> None:
    address = b"\x7f\x00\x00\x01" if kind == 1 else bytes(10) + b"\xff\xff\x7f\x00\x00\x01"
    login = b"\x05\x01\x02\x01" + bytes([16]) + lease.username.encode()
    login += bytes([32]) + lease.password.encode()
    call = b"\x05\x01\x00" + bytes([kind]) + address + internal.port.to_bytes(2, "big")
    assert (await raw(lease.port, login + call))[4:6] == b"\x05\x02"


async def test_other_ports_are_refused(lease: Lease) -> None:
    assert (await socks(lease, b"public.test", 22))[0] == 2
    assert lease.refusals[-1].stable_code == "blocked_port"


async def test_credentials_are_needed(lease: Lease, public: WireServer) -> None:
    line = f"GET {public.url()} HTTP/1.1\r\n".encode()
    wrong = b"Proxy-Authorization: Basic " + base64.b64encode(b"a:b") + b"\r\n"
    for header in (b"", wrong, b"Proxy-Authorization: Basic !!\r\n", b"Proxy-Authorization: x\r\n"):
        answer = await raw(lease.port, line + header + b"\r\n")
        assert answer.startswith(b"HTTP/1.1 407")
        assert b"proxy-authenticate: Basic" in answer
    assert (await socks(lease, b"public.test", public.port, "wrong"))[0] == -1
    assert await raw(lease.port, b"\x05\x01\x00") == b"\x05\xff"
    assert not public.requested


async def test_credentials_end_with_the_lease(guard: GuardProxy, public: WireServer) -> None:
    lease = await guard.lease()
    assert (await get(lease, public.url()))[0] == 200
    lease.close()
    assert (await get(lease, public.url()))[0] == 407
    other = await guard.lease()
    assert other.password != lease.password
    assert other.port == lease.port


async def test_the_end_of_a_lease_cuts_its_connections(
    guard: GuardProxy, public: WireServer
) -> None:
    async def hang(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nfirst")
        await asyncio.Event().wait()

    public.answers["/hang"] = hang
    lease = await guard.lease()
    reader, writer = await asyncio.open_connection("127.0.0.1", lease.port)
    head = f"GET {public.url('/hang')} HTTP/1.1\r\n".encode()
    writer.write(head + basic(lease) + b"\r\n")
    await reader.readuntil(b"first")
    assert lease.ends
    lease.close()
    with suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), 20) == b""
    writer.close()
    assert not lease.ends


async def test_one_lease_may_reach_more_than_another(guard: GuardProxy) -> None:
    async with WireServer({"/": reply(b"inside")}, host="127.0.0.1") as inside:
        wide = await guard.lease(endpoints=[inside.url()])
        narrow = await guard.lease()
        assert await get(wide, inside.url()) == (200, b"inside")
        assert (await get(narrow, inside.url()))[0] == 403
        assert wide.refusals == ()


async def test_one_connection_carries_one_judged_request(
    lease: Lease, public: WireServer, internal: WireServer
) -> None:
    first = f"GET {public.url()} HTTP/1.1\r\n".encode() + basic(lease) + b"\r\n"
    second = f"GET {internal.url()} HTTP/1.1\r\n".encode() + basic(lease) + b"\r\n"
    await raw(lease.port, first + second)
    assert len(public.requested) <= 1
    assert "proxy-authorization" not in (public.requested[0].headers if public.requested else {})


async def test_bodies_go_through(lease: Lease, public: WireServer) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(public.url(), data=b"x" * 500_000, proxy=lease.http_url) as answer,
    ):
        assert answer.status == 200
    assert public.requested[-1].body == b"x" * 500_000
    head = f"POST {public.url()} HTTP/1.1\r\n".encode() + basic(lease)
    refused = await raw(lease.port, head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    assert refused.startswith(b"HTTP/1.1 411")


async def test_large_answers_wait_for_a_slow_reader(lease: Lease, public: WireServer) -> None:
    size = 40_000_000
    written = 0

    async def pour(requested: Requested, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while written < size:
            writer.write(b"x" * 100_000)
            await writer.drain()
            written += 100_000

    public.answers["/pour"] = pour
    async with (
        aiohttp.ClientSession() as session,
        session.get(public.url("/pour"), proxy=lease.http_url) as answer,
    ):
        assert await settled(lambda: written) < size, "held back: nobody reads"
        body = 0
        async for chunk in answer.content.iter_any():
            body += len(chunk)
    assert body == size


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02",
        b"GET\r\n\r\n",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
        b"nonsense" * 20_000,
        b"\x16\x03\x01 a TLS hello \r\n\r\n",
    ],
)
async def test_junk_is_answered_and_closed(
    lease: Lease, guard: GuardProxy, public: WireServer, data: bytes
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", lease.port)
    writer.write(data)
    writer.write_eof()
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), 20)
    writer.close()
    assert (await get(lease, public.url()))[0] == 200


async def test_socks_knows_only_connect(lease: Lease, public: WireServer) -> None:
    login = b"\x05\x01\x02\x01" + bytes([16]) + lease.username.encode()
    login += bytes([32]) + lease.password.encode()
    for command in (2, 3):
        call = bytes([5, command, 0, 1, 127, 0, 0, 2]) + public.port.to_bytes(2, "big")
        assert (await raw(lease.port, login + call))[4:6] == b"\x05\x07"
    odd_address = await raw(lease.port, login + b"\x05\x01\x00\x09\x00\x00\x00\x00")
    assert odd_address[4:6] == b"\x05\x08"


async def test_failures_have_their_status(lease: Lease, public: WireServer) -> None:
    assert (await get(lease, "http://nowhere.test/"))[0] == 502
    assert (await socks(lease, b"nowhere.test", 80))[0] == 4
    async with WireServer() as closed:
        pass
    assert (await get(lease, closed.url()))[0] == 502
    assert (await socks(lease, b"public.test", closed.port))[0] == 5
    assert lease.refusals == ()


async def test_the_next_address_is_tried(lease: Lease, public: WireServer) -> None:
    assert await get(lease, public.url("/", "dead.test")) == (200, b"public")


async def test_a_server_that_speaks_first(lease: Lease) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome")
        writer.write_eof()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    head = f"CONNECT 127.0.0.2:{port} HTTP/1.1\r\n".encode() + basic(lease) + b"\r\n"
    answer = await raw(lease.port, head)
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nwelcome"
    server.close()


async def test_half_closed_connections_go_on(lease: Lease) -> None:
    async def sum_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"%d" % len(await reader.read()))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(sum_up, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", lease.port)
    writer.write(f"CONNECT 127.0.0.2:{port} HTTP/1.1\r\n".encode() + basic(lease) + b"\r\n")
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"x" * 12_345)
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), 20) == b"12345"
    writer.close()
    server.close()
    await until(lambda: not lease.ends)


async def test_a_socket_that_listens_elsewhere(
    guard: GuardProxy, lease: Lease, public: WireServer
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    server = await guard.listen(listener, lease)
    reader, writer = await asyncio.open_connection(*address)
    line = f"GET {public.url()} HTTP/1.1\r\n".encode()
    writer.write(line + basic(lease) + b"\r\n")
    assert (await asyncio.wait_for(reader.read(), 20)).endswith(b"public")
    writer.close()
    # One run may tell another its credentials: they hold where its own listens, and only there.
    other = await guard.lease()
    for place, login in (
        (address, b""),
        (address, basic(other)),
        (("127.0.0.1", lease.port), basic(lease)),
    ):
        reader, writer = await asyncio.open_connection(*place)
        writer.write(line + login + b"\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 407")
        writer.close()
    server.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*address)


async def test_one_run_leaves_connections_to_the_others(
    guard: GuardProxy, monkeypatch: pytest.MonkeyPatch, public: WireServer
) -> None:
    monkeypatch.setattr(guard_tunnel, "MAX_INCOMING", 16)
    held, closed = [], 0
    places, leases = [], []
    for _ in range(2):
        listener = socket.create_server(("127.0.0.1", 0))
        places.append(listener.getsockname())
        leases.append(await guard.lease())
        await guard.listen(listener, leases[-1])
    for _ in range(12):
        held.append(await asyncio.open_connection(*places[0]))
    for reader, _ in held:
        with suppress(TimeoutError):
            closed += await asyncio.wait_for(reader.read(), 0.2) == b""
    assert closed == 4, "of 16, one run has half"
    reader, writer = await asyncio.open_connection(*places[1])
    writer.write(f"GET {public.url()} HTTP/1.1\r\n".encode() + basic(leases[1]) + b"\r\n")
    assert (await asyncio.wait_for(reader.read(), 20)).endswith(b"public")
    for _, each in [*held, (reader, writer)]:
        each.close()


async def test_starts_with_the_first_lease_and_ends_cleanly(public: WireServer) -> None:
    egress = Egress(config(), lookup=lookup)
    proxy = GuardProxy(egress, config().egress)
    assert proxy.port == 0
    await proxy.close()
    first, second = await asyncio.gather(proxy.lease(), proxy.lease())
    assert first.port == second.port != 0
    await get(first, public.url())
    await proxy.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", first.port)
    await egress.close()


async def test_through_the_configured_proxy(public: WireServer) -> None:
    """Guard behind guard: the upstream here is a second one with rules of its own."""
    upstream_egress = Egress(config(), lookup=lookup)
    upstream = GuardProxy(upstream_egress, config().egress)
    outer = await upstream.lease()
    settings = config(proxy=outer.http_url)
    egress = Egress(settings, lookup=lookup)
    guard = GuardProxy(egress, settings.egress)
    lease = await guard.lease()
    assert await get(lease, public.url("/", "public.test")) == (200, b"public")
    assert (await get(lease, "http://internal.test/"))[0] == 403
    assert (await get(lease, "http://nowhere.test/"))[0] == 502
    assert len(lease.refusals) == 1
    outer.close()
    assert (await get(lease, public.url()))[0] == 502
    for each in (guard, upstream, egress, upstream_egress):
        await each.close()


def socks_url(lease: Lease) -> str:
    return f"socks5h://{lease.username}:{lease.password}@127.0.0.1:{lease.port}"


CURL = shutil.which("curl")
Ways = Callable[[Lease], list[str]]
WAYS: dict[str, Ways] = {
    "http": lambda lease: ["--proxy", lease.http_url],
    "tunnel": lambda lease: ["--proxytunnel", "--proxy", lease.http_url],
    "socks": lambda lease: ["--proxy", socks_url(lease)],
}


@pytest.mark.parametrize("method", sorted(WAYS))
async def test_curl(lease: Lease, public: WireServer, internal: WireServer, method: str) -> None:
    if CURL is None:
        absent("curl is not installed")

    async def curl(url: str) -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            str(CURL), "-sS", "--noproxy", "", *WAYS[method](lease), url, "-w", "|%{http_code}",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        output, _ = await process.communicate()
        return process.returncode, output

    assert await curl(public.url("/", "public.test")) == (0, b"public|200")
    await curl(internal.url("/", "internal.test"))
    assert lease.refusals[-1].details["host"] == "internal.test"


async def test_wreq_as_a_socks_client(lease: Lease, public: WireServer) -> None:
    wreq = pytest.importorskip("wreq")
    client = wreq.Client(proxies=[wreq.Proxy.all(socks_url(lease))])
    answer = await client.get(public.url("/", "public.test"))
    assert bytes(await answer.bytes()) == b"public"
    client.close()
