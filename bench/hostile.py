"""How soon a hostile answer is given up, and how much memory it takes by then.

    python bench/hostile.py

A 300 MB gzip bomb, the same in br and zstd, 200,000 empty gzip members, an endless
stream and an endless coded stream, with the default caps (5 MB on the wire, 10 MB
decoded), by each transport. Each fetch runs in a fresh process; the server is another.
Time is from the call of `fetch` to its error; memory is the growth of the peak
resident set over what the process had after one ordinary fetch.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import subprocess
import sys
import time
import zlib
from pathlib import Path

from toolcrib.core.config import Config
from toolcrib.core.errors import ConnectionFailed, TooLarge
from toolcrib.net.egress.client import Egress

HOST = "127.0.0.2"
BOMB = 300_000_000
CASES = ("gzip", "br", "zstd", "members", "stream", "coded-stream")
SECONDS_AIM = 0.2


def bomb(coding: str) -> bytes:
    """300 MB of zeros, packed piece by piece."""
    piece = bytes(1_000_000)
    if coding == "gzip":
        packer = zlib.compressobj(9, wbits=31)
        parts = [packer.compress(piece) for _ in range(BOMB // len(piece))]
        return b"".join([*parts, packer.flush()])
    if coding == "br":
        import brotli

        compressor = brotli.Compressor(quality=5)
        parts = [compressor.process(piece) for _ in range(BOMB // len(piece))]
        return b"".join([*parts, compressor.finish()])
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    zstandard = zstd.ZstdCompressor()
    parts = [zstandard.compress(piece) for _ in range(BOMB // len(piece))]
    return b"".join([*parts, zstandard.flush()])


async def serve() -> None:
    bombs = {f"/{name}": (name, bomb(name)) for name in ("gzip", "br", "zstd")}
    bombs["/members"] = ("gzip", gzip.compress(b"") * 200_000)
    # After a full flush nothing refers back, so the same block may follow for ever.
    packer = zlib.compressobj(6, wbits=-15)
    words = " ".join(random.Random(1).choices(["alpha", "beta", "gamma"], k=40_000)).encode()
    block = packer.compress(words) + packer.flush(zlib.Z_FULL_FLUSH)
    start = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
            coding, body = bombs.get(path, ("", b"an ordinary page"))
            head = f"content-encoding: {coding}\r\n" if coding else ""
            if path.endswith("stream"):
                head = "content-encoding: gzip\r\n" if path == "/coded-stream" else ""
                writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + start * bool(head))
                while True:
                    writer.write(block if head else b"x" * 65_536)
                    await writer.drain()
            head += f"content-length: {len(body)}\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(client, HOST, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


def resident(field: str) -> int:
    """A figure of this process in bytes: VmRSS or VmHWM (its peak)."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


async def measure(transport: str, base: str, case: str) -> dict[str, float]:
    settings = {"allow_networks": [f"{HOST}/32"], "transport": transport}
    egress = Egress(Config.load({"egress": settings}))
    await egress.fetch(f"{base}/")
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    started = time.perf_counter()
    try:
        await egress.fetch(f"{base}/{case}")
    except (TooLarge, ConnectionFailed):
        seconds = time.perf_counter() - started
    else:
        raise RuntimeError("it was not stopped")
    growth = resident("VmHWM") - before
    await egress.close()
    return {"seconds": seconds, "growth": growth}


def run() -> None:
    me = [sys.executable, __file__]
    caps = Config().egress
    maximum = 2 * caps.max_decoded_bytes
    server = subprocess.Popen([*me, "serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base = f"http://{HOST}:{server.stdout.readline().strip()}"
        print(f"aims: stopped within {SECONDS_AIM} s, memory at most +{maximum / 1e6:.0f} MB")
        for transport in ("wreq", "aiohttp"):
            for case in CASES:
                command = [*me, "measure", transport, base, case]
                runs = [json.loads(subprocess.check_output(command)) for _ in range(3)]
                seconds = sorted(each["seconds"] for each in runs)[1]
                growth = max(each["growth"] for each in runs)
                met = seconds <= SECONDS_AIM and growth <= maximum
                print(
                    f"  {transport:8} {case:13} {seconds:6.3f} s  +{growth / 1e6:5.1f} MB  "
                    f"{'met' if met else 'NOT met'}"
                )
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(serve())
        case ["measure", transport, base, case]:
            print(json.dumps(asyncio.run(measure(transport, base, case))))
        case _:
            run()


if __name__ == "__main__":
    main()
