"""Servers in runs: reached by the user, by tools and by other runs, through ports of ours."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import socket
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.boxes import box_of
from tests.servers.listening import free_port
from tests.servers.model import Turn, model_server
from tests.servers.scripted import Answer, scripted
from toolcrib import Result, Toolbox
from toolcrib.core.context import Caller, Question
from toolcrib.execution.interpreters.lmstudio import LMSTUDIO_PORTS
from toolcrib.execution.jobs import Jobs
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy
from toolcrib.state.approvals import Approvals
from toolcrib.system.processes import Processes

pytestmark = [pytest.mark.rows("E33"), pytest.mark.timeout(120)]
SERVER = """
import asyncio, sys
async def handle(reader, writer):
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    line = head.split(b"\\r\\n")[0].decode()
    if b"upgrade: websocket" in head.lower():
        writer.write(b"HTTP/1.1 101 Switching Protocols\\r\\n\\r\\n")
        while data := await reader.read(65536):
            writer.write(data[::-1])
            await writer.drain()
    elif "/away" in line:
        head = f"302 Found\\r\\nContent-Length: 0\\r\\nLocation: {sys.argv[2]}"
        writer.write(f"HTTP/1.1 {head}\\r\\n\\r\\n".encode())
    else:
        body = open("page.html").read() if "page" in line else line
        writer.write(f"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n{body}".encode())
    writer.close()
async def main():
    server = await asyncio.start_server(handle, sys.argv[3], int(sys.argv[1]))
    print("ready", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
FETCH = "python3 -c \"import urllib.request as u; print(u.urlopen('{}').read().decode())\""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "server.py").write_text(SERVER)
    (made / "page.html").write_text("<p>first edition</p>")
    return made


def box_on(folder: Path, **settings: Any) -> Toolbox:
    store = {"url": f"sqlite:///{folder.parent}/s.db"}
    return Toolbox({"store": store, **settings}, workspace=folder)


@pytest.fixture
async def box(folder: Path, strong: None) -> AsyncIterator[Toolbox]:
    del strong
    async with box_on(folder) as made:
        yield made


async def fine(box: Toolbox, name: str, /, session: str = "one", **arguments: Any) -> Result:
    result = await box.call(name, arguments, session=session)
    assert result.error is None, result.render()
    return result


async def started(
    box: Toolbox,
    port: int = 8000,
    session: str = "one",
    away: str = "/",
    host: str = "127.0.0.1",
) -> tuple[str, str]:
    """A server that listens: its job, and its address."""
    command = f"python3 server.py {port} {away} {host}"
    result = await fine(box, "run_command", session, command=command, ports=[port])
    job = str(result.data["id"])
    url = str(result.data["ports"][str(port)])
    assert url in result.text
    view = await fine(box, "read_job", session, id=job, wait="text", text="ready", timeout=30)
    assert "ready" in view.text
    return job, url


def fetched(url: str, *handlers: urllib.request.BaseHandler) -> str:
    """As a program of the user's reads it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)
    with opener.open(url, timeout=20) as response:
        return str(response.read().decode())


def port_of(url: str) -> int:
    return int(url.rstrip("/").rpartition(":")[2])


async def code_of(box: Toolbox, url: str, session: str = "one") -> str:
    error = (await box.call("fetch_url", {"url": url}, session=session)).error
    return "" if error is None else error.code


async def test_everybody_of_the_conversation_reaches_a_server(box: Toolbox, folder: Path) -> None:
    before = await fine(box, "start_terminal", command="echo; cat")  # it runs on, and reads nothing
    shell = await fine(box, "start_terminal")
    # Beside it, other tests have servers on a usual port, and here one is to be closed.
    job, url = await started(box, free_port())
    page = f"{url}page"

    assert "first edition" in await asyncio.to_thread(fetched, page)
    assert "first edition" in (await fine(box, "fetch_url", url=page)).text
    named = page.replace("127.0.0.1", "localhost").removeprefix("http://")
    assert "first edition" in (await fine(box, "fetch_url", url=named)).text
    sent = await fine(box, "http_request", url=f"{url}form", method="POST", body="a=1")
    assert "POST /form" in sent.text
    assert "first edition" in (await fine(box, "run_command", command=FETCH.format(page))).text
    keys = FETCH.format(page) + "<Enter>"
    typed = await fine(
        box, "send_terminal", id=shell.data["id"], keys=keys, text="first edition</p>"
    )
    assert typed.data["came"], typed.text

    await fine(box, "edit_file", path="page.html", old="first", new="second")
    assert "second edition" in (await fine(box, "fetch_url", url=page)).text

    await fine(box, "stop_job", id=job)
    assert await code_of(box, page) == "blocked_address"
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(fetched, page)
    assert "refused" in (await fine(box, "run_command", command=FETCH.format(page))).text
    for terminal in (before, shell):
        await fine(box, "stop_job", id=terminal.data["id"])
    assert box.use(Processes).running == 0


async def test_a_terminal_has_ports_and_ipv6_alone_is_reached(box: Toolbox) -> None:
    command = "python3 server.py 8000 / ::1"
    opened = await fine(box, "start_terminal", command=command, ports=[8000])
    terminal = opened.data["id"]
    await fine(box, "read_terminal", id=terminal, wait="text", text="ready", timeout=30)
    assert "GET /x" in await asyncio.to_thread(fetched, f"{opened.data['ports']['8000']}x")
    await fine(box, "stop_job", id=terminal)


async def test_an_upgraded_connection_goes_both_ways(box: Toolbox) -> None:
    _, url = await started(box)
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
    writer.write(b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    for word in (b"abc", b"defg"):
        writer.write(word)
        assert await reader.readexactly(len(word)) == word[::-1]
    flood = os.urandom(3_000_000)
    writer.write(flood)
    writer.write_eof()
    back = await reader.read(-1)
    assert sorted(back) == sorted(flood)
    writer.close()


async def test_two_conversations_and_a_taken_port(folder: Path, strong: None) -> None:
    del strong
    async with box_on(folder, policy={"taint": False}) as box:
        await two_conversations(box)


async def two_conversations(box: Toolbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        _, first = await started(box, port)
        _, second = await started(box, port, "two")
        assert len({first, second, f"http://127.0.0.1:{port}/"}) == 3
        again = await fine(box, "run_command", command="sleep 99", ports=[port])
        assert "taken" in again.text
        for session, own, other in (("one", first, second), ("two", second, first)):
            assert "GET /x" in (await fine(box, "fetch_url", session, url=f"{own}x")).text
            assert await code_of(box, other, session) == "blocked_address"
            run = await fine(box, "run_command", session, command=FETCH.format(f"{other}x"))
            assert "refused" in run.text
            run = await fine(box, "run_command", session, command=FETCH.format(f"{own}x"))
            assert "GET /x" in run.text


async def gets_others(box: Toolbox, *ports: int) -> None:
    """No run listens on these ports of this machine: it gets others, and says so."""
    opened = await fine(box, "run_command", command="sleep 99", ports=list(ports))
    for port in ports:
        assert f"127.0.0.1:{port}/" not in opened.text
    assert opened.text.count("taken") == len(ports)
    await fine(box, "stop_job", id=opened.data["id"])


async def test_where_lm_studio_is_looked_for_no_run_listens(box: Toolbox) -> None:
    """`toolcrib lmstudio` would call its user's tools as what answers there says."""
    await gets_others(box, *LMSTUDIO_PORTS)


async def test_where_model_servers_and_toolcrib_usually_are_no_run_listens(
    folder: Path, strong: None
) -> None:
    """Other programs look for them there, wherever those of this configuration are."""
    del strong
    elsewhere = {"http": {"port": 18_722}, "proxy": {"port": 18_723}}
    models = {"servers": ["http://127.0.0.1:18734/v1"]}
    async with box_on(folder, agent=models, **elsewhere) as box:
        await gets_others(box, 1234, 11_434, 8080, 8722, 8723)
        await gets_others(box, 18_734, 18_722, 18_723)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "LOCALHOST", "me:key@localhost", "[::1]", "[::ffff:7f00:1]", "127.1", "0"),
        *("2130706433", "localhost.localdomain", "x.localhost", "name.example"),
    ],
)
async def test_where_a_server_of_the_user_is_expected_no_run_listens(
    folder: Path, strong: None, host: str
) -> None:
    """A key goes there: of a model server, say, that is not started yet."""
    del strong
    async with box_on(folder, agent={"base_url": f"http://{host}:18734/v1"}) as box:
        await gets_others(box, 18_734)


async def test_a_host_that_is_opened_is_a_server_of_the_user(folder: Path, strong: None) -> None:
    del strong
    async with box_on(folder, egress={"allow_hosts": ["127.0.0.1:18734"]}) as box:
        await gets_others(box, 18_734)


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("postgresql://reader@127.0.0.1/shop", 5432),
        ("postgres://reader@/shop", 5432),
        ("MariaDB://reader@localhost/shop", 3306),
    ],
)
async def test_an_address_without_a_port_means_the_usual_one(
    folder: Path, strong: None, url: str, port: int
) -> None:
    """A database is sent a password."""
    del strong
    async with box_on(folder, sql={"sources": {"shop": {"url": url}}}) as box:
        await gets_others(box, port)


async def test_a_number_that_is_none_of_its_own_is_free_too(folder: Path, strong: None) -> None:
    """The system gives out those of its range by chance."""
    del strong
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    expected = range(first, last - (last - first) // 4)
    servers = [f"http://127.0.0.1:{port}/v1" for port in expected]
    async with box_on(folder, agent={"servers": servers}) as box:
        ports = list(expected[:8])
        opened = await fine(box, "run_command", command="sleep 99", ports=ports)
        assert not {port_of(url) for url in opened.data["ports"].values()} & set(expected)


async def test_a_secret_that_is_added_meanwhile_has_its_port(folder: Path, strong: None) -> None:
    del strong
    file = folder.parent / "toolcrib.toml"
    settings = f'[store]\nurl = "sqlite:///{folder.parent}/s.db"\n'
    file.write_text(settings)
    async with Toolbox(file, workspace=folder) as box:
        await fine(box, "start_terminal", command="echo; cat", ports=[18_733])
        hosts = 'env = "HOME_KEY"\nhosts = ["127.0.0.1:18734"]\n'
        file.write_text(f"{settings}[web.requests.secrets.home]\n{hosts}")
        await gets_others(box, 18_734)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_no_run_is_sent_a_secret(
    folder: Path, strong: None, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """Also where the user opened the host, and to the run of another conversation."""
    del strong
    monkeypatch.setenv("HOME_KEY", "key-of-the-user")
    secrets = {"home": {"env": "HOME_KEY", "hosts": [host]}}
    settings = {
        "web": {"requests": {"secrets": secrets}},
        "egress": {"allow_hosts": [host]},
        "policy": {"rules": [{"action": "allow", "group": "http"}]},
    }
    async with box_on(folder, **settings) as box:
        _, url = await started(box)
        url = url.replace("127.0.0.1", host)
        for session in ("one", "two"):
            sent = await box.call("http_request", {"url": url, "auth": "home"}, session=session)
            assert sent.error is not None
            assert sent.error.code == "denied"
            assert "stop_job" in sent.error.hint
            await fine(box, "http_request", session, url=url)


async def test_where_nothing_listens_a_connection_breaks_at_once(
    folder: Path, strong: None
) -> None:
    del strong
    async with box_on(folder, egress={"retry": {"retries": 0}}) as box:
        result = await fine(box, "start_terminal", command="echo; cat", ports=[8000])
        url = result.data["ports"]["8000"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        writer.close()
        assert await code_of(box, url) == "connection_failed"


async def test_no_redirect_leads_out_of_a_run_or_into_it(folder: Path, strong: None) -> None:
    del strong
    with scripted() as outside:
        outside["/"] = Answer("<p>outside</p>")
        opened = {"fetch": {"allow_hosts": [outside.origin]}}
        async with box_on(folder, web=opened, policy={"taint": False}) as box:
            _, url = await started(box, away=f"{outside.url}/secret")
            outside["/in"] = Answer("", status=302, headers={"Location": f"{url}page"})
            assert "outside" in (await fine(box, "fetch_url", url=outside.url)).text
            assert await code_of(box, f"{url}away") == "blocked_host"
            assert outside.count("/secret") == 0
            assert await code_of(box, f"{outside.url}/in") == "blocked_host"


async def test_what_the_user_denies_stays_denied(folder: Path, strong: None) -> None:
    del strong
    async with box_on(folder, egress={"deny_hosts": ["127.0.0.1"]}) as box:
        _, url = await started(box)
        assert await code_of(box, url) == "blocked_address"


async def test_a_browser_gets_the_servers_of_its_conversation(box: Toolbox) -> None:
    proxy = box.use(GuardProxy)
    with await proxy.lease("web.fetch", session="one") as lease:
        handler = urllib.request.ProxyHandler({"http": lease.http_url})
        _, url = await started(box)  # after the browser
        assert "GET /x" in await asyncio.to_thread(fetched, f"{url}x", handler)
    with await proxy.lease("web.fetch", session="two") as lease:
        handler = urllib.request.ProxyHandler({"http": lease.http_url})
        with pytest.raises(OSError, match="403"):
            await asyncio.to_thread(fetched, f"{url}x", handler)


@pytest.mark.parametrize("ports", [[0], [65_536], [-1], list(range(1, 10_001)), ["x"]])
async def test_bad_ports(box: Toolbox, ports: list[Any]) -> None:
    for name in ("run_command", "start_terminal"):
        result = await box.call(name, {"command": "sleep 60", "ports": ports})
        assert result.error is not None
        assert result.error.code == "bad_input"
    assert box.use(Processes).running == 0


async def test_a_job_that_ends_takes_its_ports_with_it(box: Toolbox) -> None:
    result = await fine(box, "run_command", command="exit 3", ports=[8000])
    await fine(box, "read_job", id=result.data["id"], wait="exit", timeout=30)
    assert not box.use(Egress).servers.ports("one")
    assert box.use(Processes).running == 0


@pytest.mark.parametrize("profile", ["default", "all"])
async def test_how_a_server_is_stopped_is_said_and_works(
    folder: Path, strong: None, profile: str
) -> None:
    settings = {"store": {"url": f"sqlite:///{folder.parent}/s.db"}}
    async with Toolbox(settings, profile=profile, workspace=folder) as box:
        begun = await fine(
            box, "run_command", command="python3 server.py 8000 / 127.0.0.1", ports=[8000]
        )
        job = str(begun.data["id"])
        command = f"kill {job}"
        assert (command in begun.text) is (profile == "default"), begun.text
        tried = await box.call("run_command", {"command": "pkill -f server.py"}, session="one")
        assert ("kill JOB" if profile == "default" else "stop_job") in tried.text, tried.text
        other = await box.call("run_command", {"command": command}, session="two")
        assert other.error is not None
        assert box.use(Jobs).running == (job,)
        ended = await fine(box, "run_command", command=command)
        assert ended.text == f"Job {job} (python3 server.py 8000 / 127.0.0.1): stopped."
        assert box.use(Jobs).running == ()


HOLD = """
import socket, sys, time
held = []
for _ in range(900):
    try:
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5))
    except OSError:
        break
print("held", flush=True)
time.sleep(60)
"""


MANY = """
import os, signal, socket
reader, writer = os.pipe()
for first in range(10_000, 20_000, 2_500):
    if os.fork() == 0:
        held = [socket.create_server(("127.0.0.1", n)) for n in range(first, first + 2_500)]
        os.write(writer, b"x")
        signal.pause()
for _ in range(4):
    os.read(reader, 1)
print("all listen", flush=True)
signal.pause()
"""


async def test_a_job_that_listens_on_ten_thousand_ports(box: Toolbox, folder: Path) -> None:
    (folder / "many.py").write_text(MANY)
    before = len(os.listdir("/proc/self/fd"))
    ports = [8000, 10_000, 19_999]
    command = "python3 many.py & exec python3 server.py 8000 / 127.0.0.1"
    job = (await fine(box, "run_command", command=command, ports=ports)).data
    for text in ("ready", "all listen"):
        await fine(box, "read_job", id=job["id"], wait="text", text=text, timeout=40)
    assert "GET /x" in await asyncio.to_thread(fetched, f"{job['ports']['8000']}x")
    with socket.create_connection(("127.0.0.1", port_of(job["ports"]["19999"])), 20):
        pass
    assert len(os.listdir("/proc/self/fd")) < before + 40
    assert "works" in (await fine(box, "run_command", command="echo works")).text
    await fine(box, "stop_job", id=job["id"])
    assert not box.use(Egress).servers.ports("one")
    assert box.use(Processes).running == 0


async def test_what_a_server_may_pass_on_is_asked_about(box: Toolbox) -> None:
    """One without a network reaches another that has one."""
    _, url = await started(box)
    post = {"url": f"{url}form", "method": "POST", "body": "a=1"}
    assert (await box.call("http_request", post, session="one")).error is None
    online = {"command": "sleep 60", "ports": [9100], "network": ["example.com"]}
    request = await box.call("run_command", online, session="one")
    assert request.error is not None
    await box.use(Approvals).grant(str(request.error.details["id"]))
    await fine(box, "run_command", **online)
    refused = await box.call("http_request", post, session="one")
    assert refused.error is not None
    assert refused.error.code == "needs_approval"


@pytest.mark.parametrize(
    ("first", "command", "background"),
    [("server", "true", False), ("server", "sleep 99", True), ("reader", "sleep 99", True)],
)
async def test_what_another_run_may_read_from_a_server_and_pass_on_is_asked_about(
    box: Toolbox, first: str, command: str, background: bool
) -> None:
    """A run with a network reaches a server that has none."""
    reader = {"command": command, "background": background, "network": ["example.com"]}
    request = await box.call("run_command", reader, session="one")
    assert request.error is not None
    await box.use(Approvals).grant(str(request.error.details["id"]))
    if first == "reader":
        await fine(box, "run_command", **reader)
    _, url = await started(box)
    post = {"url": f"{url}form", "method": "POST", "body": "a=1"}
    if first == "server":
        assert (await box.call("http_request", post, session="one")).error is None
        await fine(box, "run_command", **reader)
    refused = await box.call("http_request", post, session="one")
    assert refused.error is not None
    assert refused.error.code == "needs_approval"
    _, other = await started(box, session="two")
    assert (await box.call("http_request", {**post, "url": other}, session="two")).error is None


async def test_many_ports_leave_descriptors_for_all_else(box: Toolbox) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
    try:
        refused = None
        for first in range(21_000, 21_200, 16):
            ports = list(range(first, first + 16))
            call = {"command": "sleep 60", "ports": ports}
            refused = refused or (await box.call("run_command", call, session="one")).error
        assert refused is not None
        assert "too many ports" in refused.message
        assert len(os.listdir("/proc/self/fd")) < 300
        assert "works" in (await fine(box, "run_command", command="echo works")).text
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("through", ["port", "proxy"])
async def test_connections_do_not_use_up_our_descriptors(
    box: Toolbox, folder: Path, through: str
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    (folder / "hold.py").write_text(HOLD)
    resource.setrlimit(resource.RLIMIT_NOFILE, (800, hard))
    try:
        _, url = await started(box)
        port, more = str(port_of(url)), dict[str, Any]()
        if through == "proxy":
            port, more = "3128", {"network": ["example.com"]}
        command = f"python3 hold.py {port}"
        arguments = {"command": command, "background": True, **more}
        job = await box.call("run_command", arguments, session="one")
        if through == "proxy":
            assert job.error is not None
            await box.use(Approvals).grant(str(job.error.details["id"]))
            job = await box.call("run_command", arguments, session="one")
        await fine(box, "read_job", id=job.data["id"], wait="text", text="held", timeout=40)
        assert len(os.listdir("/proc/self/fd")) < 400
        assert "works" in (await fine(box, "run_command", command="echo works")).text
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_level_without_networks_says_so(folder: Path) -> None:
    async with box_on(folder, run={"level": "kernel"}) as box:
        result = await box.call("run_command", {"command": "true", "ports": [8000]})
        assert result.error is not None
        assert result.error.code == "unavailable"
        assert "strong" in result.error.message


HELD = {"command": "echo x > AGENTS.md"}
WEB_SERVER = {"command": "python3 -u -m http.server 8000 --bind 127.0.0.1", "ports": [8000]}


async def yes(question: Question) -> bool:
    del question
    return True


async def test_what_an_agent_began_belongs_to_the_conversation(
    tmp_path: Path, strong: None
) -> None:
    """What its run held can be applied, its server be reached, and its job be ended."""
    del strong
    (tmp_path / "work").mkdir()
    turns = [
        Turn("", [("run_command", HELD)]),
        Turn("", [("run_command", WEB_SERVER)]),
        Turn("It is there."),
    ]
    with model_server(*turns) as server:
        async with box_of(server, tmp_path / "work") as box:
            result = await box.call("delegate_task", {"task": "do it"}, session="one")
            assert result.data["status"] == "completed", result.text
            held = re.search(r"held back as (\w+)", server.results()[0])
            url = re.search(r"\[port 8000: (http://127.0.0.1:\d+/)", server.results()[1])
            assert held and url, server.results()
            apply = {"id": held[1]}
            other = await box.call("apply_changes", apply, session="two")
            assert other.error is not None and other.error.code == "denied"
            person = Caller("test", ask=yes)
            made = await box.call("apply_changes", apply, session="one", caller=person)
            assert made.error is None, made.render()
            assert (tmp_path / "work/AGENTS.md").exists()

            page = {"url": url[1]}
            async with asyncio.timeout(60):
                while (await box.call("fetch_url", page, session="one")).error is not None:
                    await asyncio.sleep(0.1)
            closed = await box.call("fetch_url", page, session="two")
            assert closed.error is not None and closed.error.code == "blocked_address", (
                closed.render()
            )
            jobs = (await box.call("list_jobs", {}, session="one")).data["jobs"]
            (job,) = [str(job["id"]) for job in jobs if job["state"] == "running"]
            denied = await box.call("stop_job", {"id": job}, session="two")
            assert denied.error is not None and denied.error.code == "denied"
            ended = await box.call("stop_job", {"id": job}, session="one")
            assert ended.error is None, ended.render()


async def test_the_port_of_the_guard_is_no_servers(box: Toolbox, strong: None) -> None:
    del strong
    arguments = {"command": "true", "ports": [3128], "network": ["plain.example"]}
    person = Caller("test", ask=yes)
    refused = await box.call("run_command", arguments, caller=person)
    assert refused.error is not None
    assert "another number" in refused.render()


async def test_two_servers_of_a_conversation_have_one_number_each_for_itself(
    box: Toolbox, strong: None
) -> None:
    del strong
    arguments = {"command": "python3 -u -m http.server 8000", "ports": [8000]}
    urls = []
    for _ in range(2):
        begun = await box.call("run_command", arguments, session="one")
        assert begun.error is None, begun.render()
        found = re.search(r"\[port 8000: (http://127.0.0.1:\d+/)", begun.text)
        assert found, begun.text
        urls.append(found[1])
    assert urls[0] != urls[1]
    async with asyncio.timeout(60):
        for url in urls:
            while (await box.call("fetch_url", {"url": url}, session="one")).error is not None:
                await asyncio.sleep(0.1)


@pytest.mark.usefixtures("strong")
async def test_a_port_within_a_job_is_said_to_be_in_its_network(box: Toolbox) -> None:
    port = free_port()
    alone = (await box.call("check_port", {"port": port})).text
    assert alone.endswith("nothing listens on it.")
    job = await box.call("run_command", {"command": "sleep 60", "background": True})
    inside = (await box.call("check_port", {"port": port})).text
    assert inside.endswith(
        f"The job {job.data['id']} has a network of its own: a server in it is reached from "
        f"outside where run_command started it with ports=[{port}]."
    )
    await box.call("stop_job", {"id": job.data["id"]})
