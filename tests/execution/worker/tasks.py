"""What children do in the tests of workers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from toolcrib.core.errors import MissingExtra, NotFound

prepared: list[str] = []


def prepare() -> None:
    prepared.append(str(os.getpid()))


def echo(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    sys.stdout.write("a library that talks\n")
    return {**request, "pid": os.getpid(), "prepared": prepared}, data[::-1]


def act(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Whatever can go wrong, by name."""
    return {"ok": ACTS[request["act"]](data)}, b""


def _spin(data: bytes) -> None:
    while True:
        pass


def _nap(data: bytes) -> None:
    time.sleep(60)


def _hoard(data: bytes) -> int:
    blocks = [bytes(50_000_000) for _ in range(100)]
    return len(blocks)


def _die(data: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _leave(data: bytes) -> None:
    os._exit(3)


def _complain(data: bytes) -> None:
    raise NotFound("No such thing.", hint="Look elsewhere.", near=["a"])


def _lack(data: bytes) -> None:
    raise MissingExtra("thing", "This")


def _err(data: bytes) -> None:
    raise KeyError("odd")


def _deep(data: bytes) -> int:
    return _deep(data) + 1


def _open(data: bytes) -> str:
    try:
        os.open(data.decode(), os.O_RDONLY)
    except OSError as error:
        return error.strerror
    return "open"


def _write(data: bytes) -> str:
    try:
        os.open(data.decode(), os.O_WRONLY | os.O_CREAT)
    except OSError as error:
        return error.strerror
    return "open"


def _connect(data: bytes) -> str:
    try:
        socket.create_connection(("127.0.0.1", int(data)), 2)
    except OSError as error:
        return error.strerror or str(error)
    return "open"


def _start(data: bytes) -> str:
    try:
        subprocess.run(["/bin/true"], check=True)
    except OSError as error:
        return error.strerror
    return "ran"


def _environment(data: bytes) -> dict[str, str]:
    return dict(os.environ)


def _modules(data: bytes) -> list[str]:
    return sorted(name for name in sys.modules if name.startswith("toolcrib"))


ACTS = {
    "spin": _spin,
    "nap": _nap,
    "hoard": _hoard,
    "die": _die,
    "leave": _leave,
    "complain": _complain,
    "lack": _lack,
    "err": _err,
    "deep": _deep,
    "open": _open,
    "write": _write,
    "connect": _connect,
    "start": _start,
    "environment": _environment,
    "modules": _modules,
}


def flood(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    return {"text": "x" * request["text"]}, bytes(request["data"])


def grow(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Need much memory once, and be fine."""
    blocks = b"x" * (request["megabytes"] << 20)
    return {"pid": os.getpid(), "size": len(blocks)}, b""
