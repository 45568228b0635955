"""Run by ssh as its ProxyCommand: its bytes go through the guard's proxy to HOST and PORT.

Where the proxy is, and how to log in there, stands in the variable TOOLCRIB_TUNNEL.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

BLOCK = 65_536
MAX_ANSWER = 8_192
SECONDS = 30.0


def connect(host: str, port: str) -> socket.socket:
    """A connection to HOST and PORT that the proxy has judged."""
    place, _, login = os.environ.get("TOOLCRIB_TUNNEL", "").partition(":")
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    proxy = socket.create_connection(("127.0.0.1", int(place)), SECONDS)
    request = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
    proxy.sendall(f"{request}Proxy-Authorization: Basic {login}\r\n\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        data = proxy.recv(1)
        if not data or len(answer) > MAX_ANSWER:
            raise OSError("the proxy closed the connection")
        answer += data
    if b" 200 " not in answer.split(b"\r\n", 1)[0]:
        raise OSError(answer.split(b"\r\n", 1)[0].decode("ascii", "replace"))
    proxy.settimeout(None)
    return proxy


def pass_on(proxy: socket.socket) -> None:
    """From ssh to the proxy."""
    while data := os.read(0, BLOCK):
        proxy.sendall(data)
    proxy.shutdown(socket.SHUT_WR)


def main() -> int:
    """Relay until the other end closes."""
    try:
        proxy = connect(sys.argv[1], sys.argv[2])
    except OSError as error:
        sys.stderr.write(f"toolcrib: {error}\n")
        return 1
    threading.Thread(target=pass_on, args=(proxy,), daemon=True).start()
    while data := proxy.recv(BLOCK):
        while data:
            data = data[os.write(1, data) :]
    return 0


if __name__ == "__main__":
    sys.exit(main())
