"""The MCP surface: cold start, memory, overhead a call, HTTP to stdio, exit. Ratios in one run.

    python bench/mcp.py [--rounds 5] [--calls 300] [--json FILE]

Needs the extra `bench`, for the peer. Servers take turns; each figure is the median of its
rounds, each ratio is against a bare fastmcp server with as many tools in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection, HTTPResponse
from itertools import pairwise
from pathlib import Path
from typing import Self

HERE = Path(__file__).parent
SERVERS = HERE / "servers"
PYTHON = sys.executable
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": HANDSHAKE["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Server:
    """A stdio server, spoken to over plain pipes."""

    def __init__(self, *command: str) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [PYTHON, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.reader = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", 1 << 16)
        self.next = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.reader.close()

    def send(self, method: str, params: dict, *, answered: bool = True) -> int:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if answered:
            self.next += 1
            message["id"] = self.next
        self.process.stdin.write(f"{json.dumps(message)}\n".encode())
        return self.next

    def ask(self, method: str, params: dict) -> dict:
        wanted = self.send(method, params)
        while True:
            line = self.reader.readline()
            if not line:
                raise EOFError(method)
            answer = json.loads(line)
            if answer.get("id") == wanted:
                return answer

    def open(self) -> float:
        """Shake hands and list the tools; seconds since the start."""
        self.ask("initialize", HANDSHAKE)
        self.send("notifications/initialized", {}, answered=False)
        self.tools = self.ask("tools/list", {})["result"]["tools"]
        return time.perf_counter() - self.began

    def call(self, name: str, arguments: dict) -> dict:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def memory(self) -> float:
        """Resident megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def cpu(self) -> float:
        """CPU seconds used so far."""
        return cpu_of(self.process)

    def exit_time(self) -> float:
        """Seconds from the end of stdin to the end of the process."""
        began = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(30)
        return time.perf_counter() - began


def cpu_of(process: subprocess.Popen) -> float:
    """CPU seconds that a process used so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class HttpServer:
    """A server at a port of loopback, spoken to over one connection that stays open."""

    def __init__(self, name: str, *arguments: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [PYTHON, str(SERVERS / name), *arguments, str(self.port)],
            env={**os.environ, "TOOLCRIB_HTTP__PORT": str(self.port)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.headers: dict[str, str] = {}
        self.next = 0
        self.connection = HTTPConnection("127.0.0.1", self.port)
        while True:
            try:
                self.connection.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)

    def post(self, method: str, params: dict, headers: dict[str, str]) -> HTTPResponse:
        """Send a request, read its answer whole."""
        self.next += 1
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}
        accepted = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self.connection.request("POST", "/mcp", json.dumps(message), {**accepted, **headers})
        response = self.connection.getresponse()
        if response.status != 200 or b"result" not in response.read():
            raise ValueError(f"{method}: {response.status}")
        return response

    def open(self) -> None:
        """Shake hands, as revisions before 2026-07-28 do."""
        session = self.post("initialize", HANDSHAKE, {}).headers["mcp-session-id"]
        version = str(HANDSHAKE["protocolVersion"])
        self.headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": version}

    def call(self, name: str, arguments: dict) -> None:
        self.post("tools/call", {"name": name, "arguments": arguments}, self.headers)

    def call_modern(self, name: str, arguments: dict) -> None:
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name}
        params = {"name": name, "arguments": arguments, "_meta": META}
        self.post("tools/call", params, headers)


def product(profile: str) -> tuple[str, ...]:
    return ("-m", "toolcrib", "mcp", "--profile", profile)


def cold(rounds: int) -> dict:
    """Start to `tools/list` answered, CPU used for it, memory, in turns."""
    count = {}
    for profile in ("default", "all"):
        with Server(*product(profile)) as server:
            server.open()
            count[profile] = len(server.tools)
    commands = {}
    for profile, tools in count.items():
        commands[f"toolcrib {profile} ({tools})"] = product(profile)
        commands[f"fastmcp ({tools})"] = (str(SERVERS / "fastmcp_bare.py"), str(tools))
        commands[f"SDK low level ({tools})"] = (str(SERVERS / "sdk_bare.py"), str(tools))
    found = {name: {"ms": [], "cpu_ms": [], "rss_mb": []} for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            with Server(*command) as server:
                found[name]["ms"].append(server.open() * 1000)
                found[name]["cpu_ms"].append(server.cpu() * 1000)
                time.sleep(0.3)
                found[name]["rss_mb"].append(server.memory())
    medians = {n: {k: statistics.median(v) for k, v in f.items()} for n, f in found.items()}
    for name, figures in medians.items():
        peer = found[f"fastmcp {name[name.index('(') :]}"]
        for key in ("ms", "cpu_ms"):
            ratios = [a / b for a, b in zip(found[name][key], peer[key], strict=True)]
            figures[f"{key}_ratio"] = statistics.median(ratios)
    return medians


def overhead(rounds: int, calls: int) -> dict:
    """Milliseconds of an echo, in turns of `calls` on servers that stay up."""
    commands = {
        "toolcrib": (str(SERVERS / "toolcrib_echo.py"),),
        "fastmcp": (str(SERVERS / "fastmcp_bare.py"), "16"),
        "SDK low level": (str(SERVERS / "sdk_bare.py"), "16"),
    }
    servers = {name: Server(*command) for name, command in commands.items()}
    times = {name: [] for name in servers}
    cpu = {}
    for server in servers.values():
        server.open()
        for n in range(30):
            server.call("echo", {"text": f"warm {n}"})
    for name, server in servers.items():
        cpu[name] = server.cpu()
    for turn in range(rounds):
        for name, server in servers.items():
            for n in range(calls):
                began = time.perf_counter()
                server.call("echo", {"text": f"hello {turn} {n}"})
                times[name].append((time.perf_counter() - began) * 1000)
    found = {}
    for name, server in servers.items():
        measured = sorted(times[name])
        found[name] = {
            "p50_ms": statistics.median(measured),
            "p99_ms": measured[int(len(measured) * 0.99)],
            "cpu_ms": (server.cpu() - cpu[name]) * 1000 / len(measured),
            "over_fastmcp_ms": statistics.median(measured) - statistics.median(times["fastmcp"]),
        }
        server.__exit__()
    return found


def over_http(rounds: int, calls: int) -> dict:
    """CPU of an echo over HTTP, in turns with the same server over stdio; and the SDK's own."""
    stdio = {
        "toolcrib": Server(str(SERVERS / "toolcrib_echo.py")),
        "SDK low level": Server(str(SERVERS / "sdk_bare.py"), "16"),
    }
    http = {
        "toolcrib": HttpServer("toolcrib_echo.py", "http"),
        "SDK low level": HttpServer("sdk_bare.py", "16"),
    }
    found = {}
    for name, server in stdio.items():
        other = http[name]
        server.open()
        other.open()
        methods = {
            "stdio": (server.process, server.call),
            "2025-11-25": (other.process, other.call),
            MODERN: (other.process, other.call_modern),
        }
        used: dict[str, list[float]] = {method: [] for method in methods}
        for turn in range(rounds + 1):
            for method, (process, call) in methods.items():
                before = cpu_of(process)
                for n in range(calls):
                    call("echo", {"text": f"hello {turn} {n}"})
                if turn:  # the first warms them up
                    used[method].append((cpu_of(process) - before) * 1000 / calls)
        found[name] = {"stdio_ms": statistics.median(used["stdio"])}
        for method in ("2025-11-25", MODERN):
            pairs = zip(used[method], used["stdio"], strict=True)
            found[name][f"{method}_ratio"] = statistics.median([a / b for a, b in pairs])
        server.__exit__()
        other.process.kill()
        other.process.wait()
    return found


def endings() -> dict:
    """Seconds from the end of stdin to the end of the process, by what runs."""
    found = {}
    for tool in ("", "sleep", "burn", "spawn"):
        with Server(str(SERVERS / "toolcrib_echo.py")) as server:
            server.open()
            if tool:
                server.send("tools/call", {"name": tool, "arguments": {}})
                time.sleep(0.7)
            found[tool or "idle"] = server.exit_time()
    return found


def imports() -> dict:
    """Milliseconds of CPU that the first import of each room takes, one on top of another."""
    steps = (
        *("json, asyncio", "pydantic", "toolcrib.core.config", "toolcrib.toolbox"),
        *("mcp_types", "mcp.server.lowlevel", "toolcrib.surfaces.mcp.stdio"),
    )
    script = "import resource\n"
    for step in steps:
        script += f"import {step}\nprint(sum(resource.getrusage(0)[:2]), flush=True)\n"
    best = None
    for _ in range(3):
        out = subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, check=True)
        at = [0.0, *map(float, out.stdout.split())]
        taken = [(b - a) * 1000 for a, b in pairwise(at)]
        best = taken if best is None or sum(taken) < sum(best) else best
    return dict(zip(steps, best, strict=True))


def show(title: str, rows: dict) -> None:
    print(f"\n{title}")
    for name, figures in rows.items():
        displayed = figures if isinstance(figures, dict) else {"": figures}
        print(f"  {name:28}", "  ".join(f"{k} {v:8.2f}" for k, v in displayed.items()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--only", default="cold,overhead,http,endings,imports")
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ["TOOLCRIB_DATA"] = state
        os.environ["TOOLCRIB_CONFIG"] = f"{state}/config.toml"
        parts = {
            "cold": lambda: cold(options.rounds),
            "overhead": lambda: overhead(options.rounds, options.calls),
            "http": lambda: over_http(options.rounds, options.calls),
            "endings": endings,
            "imports": imports,
        }
        found = {}
        for name in options.only.split(","):
            found[name] = parts[name]()
            show(name, found[name])
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
