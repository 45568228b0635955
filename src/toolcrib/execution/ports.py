"""Ports of servers in runs: reached on this machine's loopback, and by runs of the conversation.

Each run has a network namespace of its own, with a loopback that nobody else sees. For a
background run that was started with ports, we listen on 127.0.0.1 for each of them and pass
every connection on, byte by byte, into the namespace. In the namespaces of the other runs of the
conversation, we listen on the same numbers and pass connections on likewise, so that one address
holds everywhere. All of it ends with the run.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

from toolcrib.core.config import Config
from toolcrib.core.context import Services, conversation_of
from toolcrib.core.document_settings import SQL_PORTS
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.execution.interpreters.lmstudio import LMSTUDIO_PORTS
from toolcrib.execution.sandbox.namespace_helper import NamespaceHelper
from toolcrib.execution.sandbox.network import enter_network
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_tunnel import Pipe
from toolcrib.net.egress.policy import SERVER_ADDRESS
from toolcrib.net.egress.url import DEFAULT_PORTS
from toolcrib.system.processes import Processes

if TYPE_CHECKING or sys.platform != "win32":
    import resource

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

MAX_PORTS = 16
"""Ports of one run."""
LISTENER_SHARE = 4
"""A quarter of the descriptors that this process may have is for listening: each run listens on
the ports of all others of its conversation."""
MAX_TRIES = 100
"""Numbers that the system is asked for until one is not expected to be a server of the user's."""
ADDRESS = str(SERVER_ADDRESS)
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: a connection that is closed is told as broken, and not as answered with nothing."""

USUAL_PORTS = {
    **SQL_PORTS,
    **DEFAULT_PORTS,
    "ws": 80,
    "wss": 443,
    **dict.fromkeys(("socks4", "socks4a", "socks5", "socks5h"), 1080),
}
"""By scheme, where an address names none."""
_PORT = re.compile(r":0*(\d{1,5})(?!\d)")
_SCHEME = re.compile(r"([a-z][a-z\d+.-]*)://", re.IGNORECASE)

Dial = Callable[[], Awaitable[socket.socket]]


def checked_ports(ports: Sequence[int]) -> tuple[int, ...]:
    """Port numbers, each once.

    Raises:
        BadInput: one is none, or there are too many.
    """
    found = tuple(dict.fromkeys(ports))
    if len(found) > MAX_PORTS:
        raise BadInput(f"At most {MAX_PORTS} ports for one run, not {len(found):,}.")
    wrong = next((port for port in found if not 1 <= port <= 65_535), None)
    if wrong is not None:
        raise BadInput(f"{wrong} is no port.", hint="Ports are numbers from 1 to 65535.")
    return found


def _expected_ports(config: Config) -> frozenset[int]:
    """Where programs of the user's look for servers of theirs, to which they send keys.

    These are all ports of the configuration's addresses, whatever their host: it may be a name of
    this machine. Those of the defaults count beside what is set: others look there.
    """
    trees = (config, Config())
    text = repr(trees)
    named = map(int, _PORT.findall(text))
    schemes = {scheme.lower() for scheme in _SCHEME.findall(text)}
    usual = (port for scheme, port in USUAL_PORTS.items() if scheme in schemes)
    ours = (port for tree in trees for port in (tree.http.port, tree.proxy.port))
    return frozenset((*named, *usual, *ours, *LMSTUDIO_PORTS))


class _Connection(Pipe):
    """The near end of a passed-on connection."""

    def __init__(self, dial: Dial, ends: set[_Connection]) -> None:
        super().__init__()
        self._dial = dial
        self._ends = ends
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect to the server, if there are not too many."""
        super().connection_made(transport)
        if not self.is_admitted(self._ends):
            self._refuse()
            return
        self._ends.add(self)
        self._task = asyncio.create_task(self._connect())

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._ends.discard(self)
        if self._task is not None:
            self._task.cancel()
        super().connection_lost(exc)

    async def _connect(self) -> None:
        try:
            made = await self._dial()
            far = Pipe()
            await asyncio.get_running_loop().create_connection(lambda: far, sock=made)
        except OSError:
            self._refuse()
        else:
            self.join(far)

    def _refuse(self) -> None:
        if self.transport is not None:
            near = self.transport.get_extra_info("socket")
            with suppress(OSError):
                near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.transport.abort()


class Relay:
    """A listening socket whose connections are passed on."""

    def __init__(self, server: asyncio.Server, ends: set[_Connection]) -> None:
        self._server = server
        self._ends = ends

    @classmethod
    async def on(cls, listener: socket.socket, dial: Dial) -> Self:
        """Serve one that listens already, or is bound."""
        ends: set[_Connection] = set()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(dial, ends), sock=listener)
        return cls(server, ends)

    def close(self) -> None:
        """Listen no more, and cut what goes through it."""
        self._server.close()
        for end in tuple(self._ends):
            end.close()


@dataclass(frozen=True, slots=True)
class ServedPort:
    """A port of a run, and the number under which it is reached on this machine."""

    port: int
    local: int

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{ADDRESS}:{self.local}/"


def _bound(port: int, reserved: AbstractSet[int]) -> socket.socket:
    """A socket on the port, or on another one where that is taken or not for us.

    A server of the user's may be on the other version of IP alone.
    """
    if port not in reserved and not _is_taken(port):
        with suppress(OSError):
            return _listening(port)
    for _ in range(MAX_TRIES):
        made = _listening(0)
        if made.getsockname()[1] not in reserved:
            return made
        made.close()
    raise Unavailable("No port of this machine is free for a run.", hint="Leave 'ports' out.")


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Without a number it would take that from one half of the system's range alone.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, bool(port))
        made.bind((ADDRESS, port))
        made.listen()
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _is_taken(port: int) -> bool:
    """Whether a program listens on the port by version 6 of IP."""
    with suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as other:
        try:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            other.bind(("::1", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


@dataclass(eq=False)
class RunPorts:
    """The ports of one run: those that it serves, and those of others that it reaches.

    Attributes:
        served: those that it serves, as far as they are open.
        namespace: a hold on the run's first process, for a run that goes on; -1 for none.
    """

    owner: Ports
    session: str
    ports: tuple[int, ...]
    offline: bool
    served: list[ServedPort] = field(default_factory=list)
    namespace: Callable[[], int] = lambda: -1
    _sockets: NamespaceHelper | None = None
    _relays: dict[int, Relay] = field(default_factory=dict)
    _reached: dict[int, Relay] = field(default_factory=dict)
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def enter(self, pidfd: int) -> None:
        """Open what can be opened before the program of a run begins.

        Raises:
            Unavailable: the ports that were asked for cannot be reached.
        """
        await self.close()  # it may be a second try, with another boundary
        try:
            self._sockets = await enter_network(self.owner.processes, pidfd)
        except Unavailable:
            if self.ports:
                raise
            return  # it can do without the servers of others
        self.owner.add(self)
        for other in self.owner.of(self.session):
            await self.reach(other)
        for port in self.ports:
            await self._serve(port)

    async def stay(self, namespace: Callable[[], int], *, is_bare: bool) -> None:
        """Go on with a run that goes on: servers to come are to be reached by it too.

        Args:
            namespace: gives a hold on the run's first process; -1 for none.
            is_bare: it has no network of its own, so its ports are this machine's.
        """
        self.namespace = namespace
        self.owner.add(self)
        if is_bare:
            for port in self.ports:
                await self._serve(port)
        for other in self.owner.of(self.session):
            await self.reach(other)

    async def _serve(self, port: int) -> None:
        if self.owner.is_full:
            raise Unavailable(
                "The runs of this server have too many ports open already.",
                hint="Stop jobs that are not needed (list_jobs, stop_job), or ask for fewer ports.",
            )
        own = {port} if self._sockets is None else set[int]()  # the program listens there itself
        listener = _bound(port, self.owner.reserved | own)
        local = int(listener.getsockname()[1])
        self._relays[local] = await Relay.on(listener, partial(self.connected, port))
        self.served.append(ServedPort(port, local))
        self.owner.egress().servers.add(self.session, local, offline=self.offline)
        for other in self.owner.of(self.session):
            await other.reach(self)

    async def connected(self, port: int) -> socket.socket:
        """A connection to a port of the run.

        Raises:
            OSError: nothing listens on it.
        """
        if self._sockets is not None:
            return await self._sockets.connected(port)
        made = socket.socket(socket.AF_INET)
        try:
            made.setblocking(False)
            await asyncio.get_running_loop().sock_connect(made, (ADDRESS, port))
        except BaseException:
            made.close()
            raise
        return made

    async def reach(self, other: RunPorts) -> None:
        """Let this run reach the ports that another one serves.

        If one of them has a network, what is sent to the other may be passed on from there.
        """
        if other is self or not other.served:
            return
        if not (self.offline and other.offline):
            self._go_online()
            other._go_online()
        async with self._busy:
            if self._sockets is None and self.namespace() >= 0:
                with suppress(Unavailable):
                    self._sockets = await enter_network(self.owner.processes, self.namespace())
            if self._sockets is None:
                return
            for served in other.served:
                # Its own program listens on those that it serves itself.
                is_free = served.local not in self._reached and served.local not in self.ports
                if is_free and not self.owner.is_full:
                    await self._listen(self._sockets, other, served)

    def _go_online(self) -> None:
        """What is sent to it may be passed on, by itself or by a run that has a network."""
        self.offline = False
        for served in self.served:
            self.owner.egress().servers.add(self.session, served.local, offline=False)

    @property
    def listeners(self) -> int:
        """On how many sockets we listen for it."""
        return len(self._relays) + len(self._reached)

    async def _listen(self, sockets: NamespaceHelper, other: RunPorts, served: ServedPort) -> None:
        with suppress(OSError):  # it listens there itself
            listener = await sockets.listening(served.local)
            listener.setblocking(False)
            dial = partial(other.connected, served.port)
            self._reached[served.local] = await Relay.on(listener, dial)

    def unreach(self, other: RunPorts) -> None:
        """Let this run reach the ports of another one no longer."""
        for served in other.served:
            relay = self._reached.pop(served.local, None)
            if relay is not None:
                relay.close()

    async def close(self) -> None:
        """Close all of it; a second time does nothing."""
        self.owner.forget(self)
        for local, relay in self._relays.items():
            self.owner.egress().servers.remove(self.session, local)
            relay.close()
        for relay in self._reached.values():
            relay.close()
        self._relays.clear()
        self._reached.clear()
        sockets, self._sockets = self._sockets, None
        if sockets is not None:
            await sockets.close()


class Ports:
    """A service: the ports of all runs of this process, by conversation."""

    def __init__(
        self, processes: Processes, egress: Callable[[], Egress], config: Callable[[], Config]
    ) -> None:
        self.processes = processes
        self.egress = egress
        self._config = config
        self._runs: dict[str, list[RunPorts]] = {}

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is open before a run asks for it."""
        # Asked for anew each time: a part of it changes while the server lives.
        return cls(services.use(Processes), lambda: services.use(Egress), lambda: services.config)

    @property
    def reserved(self) -> frozenset[int]:
        """Ports that no run gets, by the configuration of the moment."""
        return _expected_ports(self._config())

    def of(self, session: str) -> tuple[RunPorts, ...]:
        """The runs of a conversation, its agents' too, that have to do with ports."""
        return tuple(self._runs.get(conversation_of(session), ()))

    @property
    def is_full(self) -> bool:
        """Whether nothing more is listened on, so that descriptors are left for all the rest."""
        total = sum(run.listeners for runs in self._runs.values() for run in runs)
        return total >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // LISTENER_SHARE

    def has_servers(self, session: str) -> bool:
        """Whether a run of the conversation can be reached."""
        return any(run.served for run in self.of(session))

    def of_run(self, session: str, ports: Sequence[int] = (), *, offline: bool) -> RunPorts:
        """The ports of a run that is about to start: entered first, and closed with it.

        Args:
            session: its conversation.
            ports: those that it is to be reached by.
            offline: whether it can send nothing anywhere.

        Raises:
            BadInput: see `checked_ports`.
        """
        return RunPorts(self, session, checked_ports(ports), offline)

    def add(self, run: RunPorts) -> None:
        """Let a run serve others, and be told of their ports."""
        runs = self._runs.setdefault(conversation_of(run.session), [])
        if run not in runs:
            runs.append(run)

    def forget(self, run: RunPorts) -> None:
        """A run is over."""
        conversation = conversation_of(run.session)
        runs = self._runs.get(conversation, [])
        if run in runs:
            runs.remove(run)
            for other in runs:
                other.unreach(run)
        if not runs:
            self._runs.pop(conversation, None)

    async def close(self) -> None:
        """Close what is open."""
        open_runs = [run for runs in self._runs.values() for run in runs]
        await asyncio.gather(*(run.close() for run in open_runs), return_exceptions=True)
