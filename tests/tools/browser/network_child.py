"""Run as a program in a network of its own: a page that asks for names, by DNS, DoH and QUIC.

Prints as JSON what arrived at the servers here; see `test_network.py`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from playwright.async_api import async_playwright

from tests.conditions import settled
from tests.servers.web_app import web_app
from tests.tools.browser.conftest import opened_to
from toolcrib.toolbox import Toolbox

FORBIDDEN = "127.0.0.2"
DOH = "127.0.0.3"
QUIC_PORT = 8443
OWN = "192.0.2.2"
"""Of the interface that is made here where that can be: no STUN server is asked by loopback."""
STUN_PORT = 3478
PAGE = f"""<title>Names</title><body><script>
const tries = [
  () => fetch('http://fetched.test/x', {{mode: 'no-cors'}}).catch(() => 0),
  () => fetch('https://quic.test:{QUIC_PORT}/x', {{mode: 'no-cors'}}).catch(() => 0),
  () => new WebTransport('https://transport.test:{QUIC_PORT}/').ready.catch(() => 0),
  () => {{ const l = document.createElement('link'); l.rel = 'dns-prefetch';
    l.href = '//prefetched.test'; document.head.append(l); }},
  () => {{ const l = document.createElement('link'); l.rel = 'preconnect';
    l.href = 'https://preconnected.test'; document.head.append(l); }},
  () => {{ const urls = 'stun:stun.test:{STUN_PORT}';
    const r = new RTCPeerConnection({{iceServers: [{{urls}}]}});
    r.createDataChannel('x'); r.createOffer().then(o => r.setLocalDescription(o)); }},
];
for (const each of tries) try {{ each(); }} catch (e) {{ console.log(String(e)); }}
setTimeout(() => document.body.append('Tried'), 3000);
</script>"""


class Servers:
    """The servers of this network: what arrived there."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.packets = 0
        self.stun = 0
        self.connections: dict[str, int] = {FORBIDDEN: 0, DOH: 0}
        dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dns.bind(("127.0.0.53", 53))
        quic = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        quic.bind((FORBIDDEN, QUIC_PORT))
        self._serve(self._names, dns)
        stun = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stun.bind(("0.0.0.0", STUN_PORT))
        self._serve(self._quic, quic)
        self._serve(self._stun, stun)
        for host, port in ((FORBIDDEN, 80), (FORBIDDEN, 443), (FORBIDDEN, QUIC_PORT), (DOH, 443)):
            self._serve(self._accept, socket.create_server((host, port)), host)

    @property
    def all(self) -> int:
        return len(self.names) + self.packets + self.stun + sum(self.connections.values())

    def _serve(self, work: object, *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _names(self, dns: socket.socket) -> None:
        while True:
            query, sender = dns.recvfrom(4096)
            parts, at = [], 12
            while size := query[at]:
                parts.append(query[at + 1 : at + 1 + size].decode("latin-1"))
                at += size + 1
            self.names.add(".".join(parts))
            question, kind = query[12 : at + 5], query[at + 1 : at + 3]
            is_address = kind == b"\0\1"
            head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_address else b"\0\0") + b"\0\0\0\0"
            address = socket.inet_aton(OWN if parts[0] == "stun" else FORBIDDEN)
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + address if is_address else b""
            dns.sendto(head + question + answer, sender)

    def _quic(self, quic: socket.socket) -> None:
        while True:
            quic.recvfrom(4096)
            self.packets += 1

    def _stun(self, stun: socket.socket) -> None:
        while True:
            stun.recvfrom(4096)
            self.stun += 1

    def _accept(self, listener: socket.socket, host: str) -> None:
        while True:
            connection, _ = listener.accept()
            self.connections[host] += 1
            connection.close()


async def by_tools(url: str, program: str, folder: Path) -> None:
    settings = opened_to(url)
    settings["browser"] = {"executable": program, "timeout": 30}
    async with Toolbox(settings, workspace=folder) as box:
        arguments = {"url": f"{url}/names", "wait_for": "Tried"}
        result = await box.call("browser_open", arguments)
        assert result.error is None, result.render()


async def bare(url: str, program: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        page = await browser.new_page()
        await page.goto(f"{url}/names")
        await page.get_by_text("Tried").wait_for()
        await browser.close()


def make_interface() -> bool:
    """An interface beside loopback, where this system lets one be made."""
    commands = ("link add tests0 type dummy", f"addr add {OWN}/24 dev tests0", "link set tests0 up")
    program = shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin")
    return program is not None and all(
        subprocess.run([program, *words.split()], check=False, capture_output=True).returncode == 0
        for words in commands
    )


async def main(mode: str, program: str, folder: Path) -> None:
    has_interface = make_interface()
    servers = Servers()
    with web_app() as app:
        app.pages["/names"] = PAGE
        if mode == "bare":
            await bare(app.url, program)
        else:
            await by_tools(app.url, program, folder)
        await settled(lambda: servers.all)
    found = {
        "names": sorted(name for name in servers.names if name.endswith(".test")),
        "quic": servers.packets > 0,
        "tcp": servers.connections[FORBIDDEN] > 0,
        "stun": servers.stun > 0,
        "interface": has_interface,
        "doh": servers.connections[DOH] > 0,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
