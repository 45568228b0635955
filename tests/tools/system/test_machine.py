"""What the machine is and does: facts, figures, processes, variables, listeners, checksums."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cases import each_case
from tests.servers.forbidden_host import ForbiddenHost
from tests.tools.system.conftest import Machine
from toolcrib.toolbox import Toolbox


@pytest.mark.rows("C100", "C104", "E80")
async def test_facts_name_the_system_its_shell_and_commands(machine: Machine) -> None:
    found = await machine("system_info")
    assert found.data["threads"] == os.cpu_count()
    assert "run_command uses " in found.text
    assert "commands: ls" in found.text
    assert found.data["memory"] > 1_000_000


@pytest.mark.rows("C101")
async def test_figures_of_now(machine: Machine) -> None:
    metrics = ["cpu", "memory", "disk", "network"]
    found = await machine("system_info", metrics=metrics)
    assert list(found.data) == metrics
    assert 0 <= found.data["cpu"]["percent"] <= 100
    assert found.data["disk"][0]["place"] == str(machine.folder.resolve())
    assert "lo" in {one["name"] for one in found.data["network"]}
    assert "bad_input" in await machine.refused("system_info", metrics=["heat"])


@pytest.mark.rows("C102")
async def test_processes_by_a_part_of_their_command_and_without_secrets(machine: Machine) -> None:
    code = "import sys; print(1, flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", code, "quokka-7281", "--password", "hunter2-hunter2"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        found = await machine("process_list", filter="QUOKKA-7281")
        assert [one["pid"] for one in found.data["processes"]] == [child.pid]
        assert "hunter2" not in found.render() + str(found.data)
        assert "[redacted]" in found.data["processes"][0]["command"]
        assert str(child.pid) in await machine.text("process_list", filter=str(child.pid))
        child.communicate()
    assert (await machine("process_list", filter="QUOKKA-7281")).data["processes"] == []
    assert len((await machine("process_list", sort="memory", limit=3)).data["processes"]) == 3


async def test_a_command_is_cut_but_never_within_the_mark_of_a_secret(machine: Machine) -> None:
    code = "import sys; print(1, flush=True); sys.stdin.read()"
    displayed = set()
    # Whatever the length of the interpreter's path, some of these cut within the mark.
    for padding in range(0, 110, 5):
        words = [sys.executable, "-c", code, "quokka-7281" + "x" * padding]
        words += ["--password", "hunter2-hunter2"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            line = (await machine("process_list", filter="QUOKKA-7281")).text.splitlines()[1]
            child.communicate()
        displayed.add(line.partition("--password ")[2])
    assert "[redacted]" in displayed
    assert displayed <= {"", "[redacted]"}, displayed


@pytest.mark.rows("C103")
async def test_variables_without_their_secrets(ws: object, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = {
        "SOME_API_KEY": "abc",
        "PGPASSWORD": "easy",
        "MODEL_ACCESS": "plainwords",
        "DATABASE_URL": "postgres://ann:s3cr3tpass@db/x",
        "OPAQUE": "aK39sLp20xQmZ81nTb47",
    }
    for name, value in hidden.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PLAIN_THING", "to be seen")
    config = {"agent": {"api_key_env": "MODEL_ACCESS"}, "store": {"url": "sqlite://"}}
    async with Toolbox(config, workspace=str(ws)) as box:
        found = await box.call("list_env")
        assert found.error is None, found.render()
        displayed = found.render() + str(found.data)
        for name, value in hidden.items():
            assert name in displayed
            secret = "s3cr3tpass" if name == "DATABASE_URL" else f"={value}"
            assert secret not in displayed, name
        assert "PLAIN_THING=to be seen" in found.text
        one = await box.call("env_inspect", {"prefix": "PLAIN_TH"})
        assert list(one.data["variables"]) == ["PLAIN_THING"]
        begins = await box.call("env_inspect", {"prefix": "THING"})
        assert begins.data["variables"] == {}, "a prefix is where a name begins"
        part = await box.call("list_env", {"filter": "in_th"})
        assert list(part.data["variables"]) == ["PLAIN_THING"]


@contextmanager
def listening() -> Iterator[tuple[int, socket.socket]]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1], server


@pytest.mark.rows("C114")
async def test_a_port_here_is_read_and_not_connected_to(machine: Machine) -> None:
    with listening() as (port, server):
        found = await machine("check_port", port=port)
        assert found.data["state"] == "open"
        assert found.data["listeners"][0]["pid"] == os.getpid()
        assert "this machine alone" in found.text
        named = await machine("check_port", port=port, host=socket.gethostname())
        assert named.data["state"] == "open"
        other = await machine("check_port", port=port, host="::1")
        assert other.data["state"] == "closed"
        assert f"127.0.0.1:{port}" in other.text
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert (await machine("check_port", port=port, host="127.0.0.1")).data["state"] == "closed"


async def test_a_port_elsewhere_goes_through_the_guard(ws: object) -> None:
    host = "127.0.0.2"  # not one of the names of this machine: the guard judges it
    with listening() as (closed, _):
        pass
    with socket.socket() as server:
        server.bind((host, 0))
        server.listen()
        port = server.getsockname()[1]
        config = {"egress": {"allow_hosts": [host]}, "store": {"url": "sqlite://"}}
        async with Toolbox(config, workspace=str(ws)) as box:
            found = await box.call("check_port", {"port": port, "host": host})
            assert found.error is None, found.render()
            assert found.data["state"] == "open"
            refused = await box.call("check_port", {"port": closed, "host": host})
            assert refused.data["state"] == "closed"
    async with Toolbox({"store": {"url": "sqlite://"}}, workspace=str(ws)) as box:
        refused = await box.call("check_port", {"port": port, "host": host})
        assert refused.error
        assert refused.error.code == "blocked_address"


async def test_a_forbidden_host_is_not_connected_to(machine: Machine) -> None:
    forbidden = ForbiddenHost()
    try:
        for host in ("169.254.169.254", "10.0.0.1", "127.0.0.3", "0x7f.3", "[fe80::1]"):
            assert "blocked" in await machine.refused("check_port", port=80, host=host)
        for host in ("a/b", "a@b", "a b", "x" * 300 + ".org", "-"):
            await machine.refused("check_port", port=80, host=host)
        for port in (0, 65_536, -1):
            assert "bad_input" in await machine.refused("check_port", port=port)
    finally:
        forbidden.close()


@pytest.mark.rows("C110")
@each_case("algorithm", ["sha256", "md5", "sha1", "sha512", "blake2b"])
async def test_checksums(machine: Machine, algorithm: str) -> None:
    content = os.urandom(3_000_001)
    (machine.folder / "a.bin").write_bytes(content)
    wanted = hashlib.new(algorithm, content).hexdigest()
    found = await machine("hash_file", path="a.bin", algorithm=algorithm, expected=wanted.upper())
    assert found.data["hash"] == wanted
    assert found.data["matches"] is True
    other = await machine(
        "hash_file", file_path="a.bin", algorithm=algorithm, expected="0" * len(wanted)
    )
    assert "NOT as expected" in other.text


async def test_checksums_of_what_is_no_file(machine: Machine) -> None:
    (machine.folder / ".env").write_text("A=b")
    os.mkfifo(machine.folder / "pipe")
    for path, code in ((".", "bad_input"), ("nothing", "not_found"), (".env", "path_denied")):
        assert code in await machine.refused("hash_file", path=path)
    await machine.refused("hash_file", path="pipe")
    (machine.folder / "empty").touch()
    assert (await machine("hash_file", path="empty")).data["bytes"] == 0
    assert "checksum, which has 64" in await machine.refused(
        "hash_file", path="empty", expected="zz"
    )
