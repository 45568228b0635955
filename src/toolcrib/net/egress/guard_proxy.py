"""`GuardProxy`: a local proxy that puts other programs under the same policy.

A browser, a renderer or a sandboxed program is given its address and one-time
credentials. Each connection it asks for is resolved and judged here, and only the
judged addresses are connected to. One port speaks HTTP (CONNECT and plain) and
SOCKS5, since Chromium knows no SOCKS password and other programs know nothing else.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Self
from weakref import WeakSet

import toolcrib.net.egress.guard_protocol as wire
from toolcrib.core.context import Services
from toolcrib.core.errors import Blocked, Network, TimedOut, ToolError
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_tunnel import Pipe, connect, connect_by_proxy
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.url import Target

# One client of the guard proxy: log in, say where to, be judged, be connected.

HANDSHAKE_SECONDS = 15.0


Login = Callable[[str, str], "Lease | None"]
Dial = Callable[["Lease", Target, Pipe], Awaitable[None]]


class ClientEnd(Pipe):
    """The client's end: a handshake first, in HTTP or SOCKS5, then a relay.

    Args:
        login: from user name and password to the lease they belong to.
        dial: connects a pipe to a target, if the lease's policy allows it.
        run: the lease of the run in whose network it is, where that is known.
    """

    def __init__(self, login: Login, dial: Dial, run: Lease | None = None) -> None:
        super().__init__()
        self._run = run
        self._login = login
        self._dial = dial
        self._buffer = b""
        self._read: Callable[[], bool] | None = self._read_first
        self._lease: Lease | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        super().connection_made(transport)
        if not self.is_admitted(self._run):
            self.close()
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(HANDSHAKE_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Bytes from this end."""
        if self.partner is not None:
            super().data_received(data)
            return
        self._buffer += data
        if self._read is None:
            # Being judged and connected: a client that talks on has to wait.
            if self.transport is not None:
                self.transport.pause_reading()
            return
        try:
            while self._read is not None and self._read():
                pass
        except ValueError:
            self._refuse(wire.http_answer("400 Bad Request"))

    def eof_received(self) -> bool:
        """This end sends no more."""
        if self.partner is None and self._task is None:
            return False  # gone in the middle of the handshake
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """This end is gone."""
        self._stop_timer()
        if self._task is not None:
            self._task.cancel()
        if self._lease is not None:
            self._lease.ends.discard(self)
        super().connection_lost(exc)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    def _refuse(self, data: bytes) -> None:
        self._read = None
        self._send(data)
        if self.transport is not None:
            self.transport.close()

    def _take(self, size: int) -> None:
        self._buffer = self._buffer[size:]

    def _admit(self, credentials: tuple[str, str] | None) -> bool:
        self._lease = self._login(*credentials) if credentials else None
        if self._lease is not None:
            self._lease.ends.add(self)
            self._lease.admitted += 1
        return self._lease is not None

    def _read_first(self) -> bool:
        if not self._buffer:
            return False
        is_socks = self._buffer[0] == wire.SOCKS_VERSION
        self._read = self._read_methods if is_socks else self._read_http
        return True

    def _read_http(self) -> bool:
        request = wire.read_http(self._buffer)
        if request is None:
            return False
        self._take(request.size)
        if not self._admit(request.credentials()):
            realm = 'proxy-authenticate: Basic realm="toolcrib"\r\n'
            self._refuse(wire.http_answer("407 Proxy Authentication Required", extra=realm))
            return False
        self._start(self._serve_http(request))
        return False

    def _read_methods(self) -> bool:
        offer = wire.read_socks_methods(self._buffer)
        if offer is None:
            return False
        methods, size = offer
        self._take(size)
        if wire.USER_PASSWORD not in methods:
            self._refuse(bytes((wire.SOCKS_VERSION, 0xFF)))
            return False
        self._send(bytes((wire.SOCKS_VERSION, wire.USER_PASSWORD)))
        self._read = self._read_login
        return True

    def _read_login(self) -> bool:
        login = wire.read_socks_login(self._buffer)
        if login is None:
            return False
        user, password, size = login
        self._take(size)
        if not self._admit((user, password)):
            self._refuse(b"\x01\x01")
            return False
        self._send(b"\x01\x00")
        self._read = self._read_socks
        return True

    def _read_socks(self) -> bool:
        try:
            request = wire.read_socks_request(self._buffer)
        except ValueError:
            self._refuse(wire.socks_answer(8))
            return False
        if request is None:
            return False
        self._take(request.size)
        if request.command != 1:
            self._refuse(wire.socks_answer(7))
            return False
        self._start(self._serve_socks(request))
        return False

    def _start(self, work: Coroutine[None, None, None]) -> None:
        self._read = None
        self._stop_timer()
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(self._worked)

    def _worked(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        self.close()
        context = {"message": "a proxy connection failed", "exception": task.exception()}
        task.get_loop().call_exception_handler(context)

    async def _serve_http(self, request: wire.HttpRequest) -> None:
        try:
            target = request.target()
            self.allowance = None if request.is_tunnel else request.body_length()
            far = await self._connect(target)
        except ValueError:
            self._refuse(wire.http_answer("411 Length Required"))
            return
        except ToolError as error:
            self._refuse(wire.http_answer(_http_status(error), f"{error.message}\n{error.hint}\n"))
            return
        if request.is_tunnel:
            self._relay(far, reply=b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            self._relay(far, ahead=request.forward(target))

    async def _serve_socks(self, request: wire.SocksRequest) -> None:
        try:
            far = await self._connect(request.target())
        except ToolError as error:
            self._refuse(wire.socks_answer(_socks_code(error)))
            return
        self._relay(far, reply=wire.socks_answer(0))

    async def _connect(self, target: Target) -> Pipe:
        assert self._lease is not None
        far = Pipe(on_read=self._lease.count)
        try:
            await self._dial(self._lease, target, far)
        except Blocked as error:
            error.details.setdefault("port", target.port)
            self._lease.refused(error)
            raise
        except (Network, TimedOut) as error:
            error.details.setdefault("host", target.host)
            self._lease.failed(error)
            raise
        return far

    def _relay(self, far: Pipe, *, reply: bytes = b"", ahead: bytes = b"") -> None:
        assert far.transport is not None
        early, self._buffer = self._buffer, b""
        if self.transport is None or self.transport.is_closing():
            far.transport.abort()
            return
        self._send(reply)
        if ahead:
            far.transport.write(ahead)
        if early:
            self.keep(early)
        self.join(far)


def _http_status(error: ToolError) -> str:
    if isinstance(error, Blocked):
        return "403 Forbidden"
    if isinstance(error, TimedOut):
        return "504 Gateway Timeout"
    return "502 Bad Gateway" if isinstance(error, Network) else "400 Bad Request"


def _socks_code(error: ToolError) -> int:
    if isinstance(error, Blocked):
        return 2
    if error.details.get("reason") == "refused":
        return 5
    return 4 if isinstance(error, Network | TimedOut) else 1


MAX_REFUSALS = 100


class Lease:
    """One program's way out: credentials, a policy, and what was refused to it or failed.

    `admitted` counts the connections that came with its credentials, `received` the bytes
    that came in by them. Where `listener` is not None, the credentials hold there alone.

    Ends with `close` or with the `with` block: its connections are then cut and its
    credentials are worth nothing.
    """

    def __init__(
        self,
        proxy: GuardProxy,
        policy: EgressPolicy,
        session: str = "",
        *,
        only_servers: bool = False,
    ) -> None:
        self._proxy = proxy
        self.policy = policy
        self.session = session
        self.only_servers = only_servers
        self.username = secrets.token_hex(8)
        self.password = secrets.token_hex(16)
        self.ends: set[ClientEnd] = set()
        self.listener: socket.socket | None = None
        self.max_bytes = 0
        self.received = 0
        self.admitted = 0
        self._refusals: deque[Blocked] = deque(maxlen=MAX_REFUSALS)
        self._failures: deque[ToolError] = deque(maxlen=MAX_REFUSALS)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return self._proxy.port

    @property
    def server(self) -> str:
        """The proxy without credentials, for programs that are given those apart."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str:
        """The proxy as `HTTPS_PROXY` takes it."""
        return f"http://{self.username}:{self.password}@127.0.0.1:{self.port}"

    @property
    def refusals(self) -> tuple[Blocked, ...]:
        """What was refused, oldest first; a tool can raise one of these."""
        return tuple(self._refusals)

    @property
    def failures(self) -> tuple[ToolError, ...]:
        """What could not be reached, oldest first."""
        return tuple(self._failures)

    @property
    def exceeded(self) -> bool:
        """Whether more came in than `max_bytes`; 0 is any number."""
        return 0 < self.max_bytes < self.received

    def count(self, size: int) -> None:
        """Note bytes that came in, and cut all connections where they are too many."""
        self.received += size
        if self.exceeded:
            for end in list(self.ends):
                end.close()

    def refused(self, error: Blocked) -> None:
        """Note a refusal."""
        self._refusals.append(error)

    def failed(self, error: ToolError) -> None:
        """Note what could not be reached."""
        self._failures.append(error)

    def close(self) -> None:
        """Cut its connections and forget its credentials."""
        self._proxy.forget(self)
        for end in list(self.ends):
            end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GuardProxy:
    """The proxy server: started with the first lease, on a free port of 127.0.0.1.

    Args:
        egress: where policy and resolver come from.
        config: time limits and the upstream proxy.
    """

    def __init__(self, egress: Egress, config: EgressConfig) -> None:
        self._egress = egress
        self._config = config
        self._leases: dict[str, Lease] = {}
        self._server: asyncio.Server | None = None
        self._others: WeakSet[asyncio.Server] = WeakSet()
        self._starting = asyncio.Lock()
        self.port = 0

    @classmethod
    def open(cls, services: Services) -> Self:
        """The service of a toolbox."""
        return cls(services.use(Egress), services.config.egress)

    async def lease(
        self,
        component: str = "",
        *,
        endpoints: Sequence[str] = (),
        session: str = "",
        only_servers: bool = False,
    ) -> Lease:
        """Open a way out for one program.

        Args:
            component: its branch of the configuration, as for `Egress.policy`.
            endpoints: configured URLs whose hosts and ports are open to it.
            session: a conversation whose own servers are open to it, also those to come.
            only_servers: whether those are all that is.
        """
        async with self._starting:
            if self._server is None:
                loop = asyncio.get_running_loop()
                self._server = await loop.create_server(self._client, "127.0.0.1", 0)
                self.port = self._server.sockets[0].getsockname()[1]
        policy = self._egress.policy(component, endpoints)
        lease = Lease(self, policy, session, only_servers=only_servers)
        self._leases[lease.username] = lease
        return lease

    async def listen(self, listener: socket.socket, lease: Lease) -> asyncio.Server:
        """Answer on a socket that listens elsewhere, such as in the network of a sandbox.

        Args:
            listener: the socket.
            lease: the only one that is taken there, and from now on nowhere else: one run could
                tell its credentials to another.
        """
        lease.listener = listener
        login = partial(self._login, listener)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: ClientEnd(login, self._dial, lease), sock=listener
        )
        self._others.add(server)
        return server

    def forget(self, lease: Lease) -> None:
        """Make a lease's credentials worthless."""
        self._leases.pop(lease.username, None)

    async def close(self) -> None:
        """End every lease and stop listening."""
        for lease in list(self._leases.values()):
            lease.close()
        for server in self._others:
            server.close()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _client(self) -> ClientEnd:
        return ClientEnd(partial(self._login, None), self._dial)

    def _login(self, listener: socket.socket | None, username: str, password: str) -> Lease | None:
        lease = self._leases.get(username)
        lease = lease if lease and lease.listener is listener else None
        expected = lease.password if lease else secrets.token_hex(16)
        matches = hmac.compare_digest(expected.encode(), password.encode())
        return lease if matches else None

    async def _dial(self, lease: Lease, target: Target, pipe: Pipe) -> None:
        seconds = self._config.connect_timeout
        policy = lease.policy
        if lease.session:
            policy = replace(policy, servers=self._egress.servers.ports(lease.session))
        if lease.only_servers and not policy.serves(target):
            raise Blocked(
                f"Destination not allowed: a page of a run's server asks for {target.authority}.",
                hint="Such a page reaches servers of the conversation's runs alone: what a run "
                "may not send, its page may not either.",
                code="blocked_host",
                host=target.host,
            )
        addresses = await self._egress.addresses(target, policy)
        if self._config.proxy and not addresses:
            await connect_by_proxy(pipe, target, self._config.proxy, seconds)
        else:
            await connect(pipe, target, addresses, seconds)
