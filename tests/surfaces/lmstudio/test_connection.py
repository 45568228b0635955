"""The connection to LM Studio: refused, lost, found again, and flooded with what is no message."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.conditions import until
from tests.servers.listening import free_port
from tests.servers.lmstudio_host import LmStudioHost
from tests.surfaces.lmstudio.plugins import hosted, plugged
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, ConnectionFailed, Denied, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.lmstudio.host import Credentials, find_host, http_address


async def test_it_is_found_at_one_of_its_ports() -> None:
    services = Services(Config.load())
    egress = services.use(Egress)
    async with LmStudioHost().running() as host, LmStudioHost(greets=False).running() as other:
        ports = [free_port(), int(other.url.rpartition(":")[2]), int(host.url.rpartition(":")[2])]
        found = await find_host(services.config, egress, ports=ports)
        assert found == http_address(host.url)
        with pytest.raises(Unavailable, match="does not answer"):
            await find_host(services.config, egress, other.url)
    with pytest.raises(Unavailable) as gone:
        await find_host(services.config, egress, ports=ports)
    assert "start" in gone.value.hint.lower()
    await services.close()


@each_case(
    ("named", "address"),
    [
        ("ws://127.0.0.1:41343", "http://127.0.0.1:41343"),
        ("127.0.0.1:41343/", "http://127.0.0.1:41343"),
        ("wss://host.example:1", "https://host.example:1"),
        ("http://[::1]:5", "http://[::1]:5"),
    ],
)
def test_addresses(named: str, address: str) -> None:
    assert http_address(named) == address


@each_case("named", ["", "ftp://x:1", "ws://x:99999999", "ws://x:1/path", "ws://"])
def test_addresses_that_are_none(named: str) -> None:
    with pytest.raises(BadInput):
        http_address(named)


async def test_wrong_credentials() -> None:
    host = LmStudioHost(passkeys={"plugin:toolcrib/toolcrib": "right"})
    wrong = Credentials("plugin:toolcrib/toolcrib", "wrong")
    async with host.running(), plugged(host, credentials=wrong) as task:
        with pytest.raises(Denied, match="Invalid passkey") as refused:
            await task
    assert "toolcrib lmstudio" in refused.value.hint


async def test_credentials_that_lm_studio_gave() -> None:
    host = LmStudioHost(passkeys={"plugin:toolcrib/toolcrib": "right"})
    right = Credentials("plugin:toolcrib/toolcrib", "right")
    async with hosted(host=host, credentials=right) as plugin:
        assert plugin.identifier == "plugin:toolcrib/toolcrib"
        assert host.registered == 0
        assert "read_file" in await plugin.open_session()


async def test_plugins_that_are_switched_off() -> None:
    host = LmStudioHost(takes_plugins=False)
    async with host.running(), plugged(host) as task:
        with pytest.raises(Unavailable, match="Plugins are switched off") as refused:
            await task
    assert "toolcrib install lmstudio" in refused.value.hint


async def test_nobody_there() -> None:
    host = LmStudioHost()
    async with host.running():
        pass
    async with plugged(host) as task:
        with pytest.raises(Unavailable, match="does not answer"):
            await task


async def test_it_waits_for_lm_studio_and_comes_back_after_its_end() -> None:
    host, reported = LmStudioHost(), []
    async with host.running():
        pass
    async with plugged(host, reported=reported, wait=True):
        await until(lambda: any("Waiting for LM Studio" in line for line in reported))
        await host.start()
        first = await host.plugin(1)
        assert "read_file" in await first.open_session()
        await host.stop()
        await until(lambda: first.ended)
        host.passkeys.clear()
        await host.start()
        second = await host.plugin(2)
        assert "read_file" in await second.open_session()
        assert host.registered == 2
        await host.stop()


async def test_what_answers_at_another_port_after_the_end_is_not_taken_for_lm_studio() -> None:
    """It may be any program."""
    first, other, reported = LmStudioHost(), LmStudioHost(), list[str]()
    async with first.running(), other.running():
        ports = [int(host.url.rpartition(":")[2]) for host in (first, other)]
        async with plugged(first, reported=reported, address="", ports=ports):
            plugin = await first.plugin(1)
            await first.stop()
            await until(lambda: plugin.ended)
            async with LmStudioHost(greets=False, _port=ports[0]).running() as between:
                await until(lambda: between.greetings > 1 or other.registered)
            assert other.greetings == 1
            assert other.registered == 0
            assert any(f"again at {http_address(first.url)}" in line for line in reported)
            await first.start()
            assert "read_file" in await (await first.plugin(2)).open_session()


async def test_the_registration_ends_with_the_program() -> None:
    host = LmStudioHost()
    async with host.running():
        async with plugged(host):
            await host.plugin()
        registrar = next(p for p in host.plugins if "registerDevelopmentPlugin" in p.channels)
        await until(lambda: registrar.ended)
        assert registrar.heard("end")


async def test_what_is_no_message_of_the_protocol() -> None:
    reported: list[str] = []
    host = LmStudioHost()
    async with host.running(), plugged(host, reported=reported):
        plugin = await host.plugin()
        number = plugin.channels["setToolsProvider"]
        bad: list[Any] = [
            "not json",
            "[1, 2]",
            b"\x00\xff",
            "[" * 5_000,
            {"type": "rpcResult", "callId": 10**9},
            {"type": "rpcError", "callId": "x"},
            {"type": "channelSend", "channelId": 999, "message": {}},
            {"type": "channelSend", "channelId": number, "message": "text"},
            {"type": "channelSend", "channelId": number, "message": {"type": "news"}},
            {"type": "channelSend", "channelId": number, "message": {"type": "initSession"}},
            {"type": "channelSend", "channelId": number, "message": {"type": "abortToolCall"}},
            {"type": "channelClose"},
            {"type": "communicationWarning", "warning": "careful\x1b[2J"},
            {"type": None},
        ]
        for message in bad:
            await plugin.raw(message)
        for _ in range(300):
            await plugin.raw({"type": "somethingNew"})
        acked = {"type": "initSession", "sessionId": "s9"}
        await plugin.raw({"type": "channelSend", "channelId": number, "message": acked, "ackId": 5})
        await plugin.hears("sessionInitialized", sessionId="s9")
        assert "read_file" in await plugin.open_session()
    assert any("careful" in line for line in reported)
    assert not any("\x1b" in line for line in reported)
    assert len(reported) < 30


async def test_a_channel_that_is_closed_is_opened_again() -> None:
    host = LmStudioHost()
    async with host.running(), plugged(host):
        plugin = await host.plugin(1)
        closed = {"type": "channelClose", "channelId": plugin.channels["setToolsProvider"]}
        await plugin.raw(closed)
        again = await host.plugin(2)
        assert "read_file" in await again.open_session()


async def _started(*words: str, stdin: int = asyncio.subprocess.DEVNULL, **env: str) -> Any:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolcrib", "lmstudio", *words),
        env={**os.environ, **env},
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_the_command_registers_and_ends_by_a_signal(tmp_path: Path) -> None:
    async with LmStudioHost().running() as host:
        process = await _started("--url", host.url, "--workspace", str(tmp_path))
        plugin = await host.plugin()
        assert "read_file" in await plugin.open_session()
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert "Registered with LM Studio" in err.decode()
        registrar = next(p for p in host.plugins if "registerDevelopmentPlugin" in p.channels)
        await until(lambda: registrar.ended)
        assert registrar.heard("end")


async def test_the_command_says_what_to_do() -> None:
    process = await _started("--url", f"ws://127.0.0.1:{free_port()}")
    _, err = await process.communicate()
    assert process.returncode == 1
    assert "Start LM Studio" in err.decode()
    assert "Traceback" not in err.decode()
    half = await _started(LMS_PLUGIN_CLIENT_IDENTIFIER="a")
    _, err = await half.communicate()
    assert half.returncode == 2
    assert "LMS_PLUGIN_CLIENT_PASSKEY" in err.decode()


async def test_a_host_that_hangs_up_in_the_middle() -> None:
    async def hang_up(connection: Any) -> None:
        await connection.recv()

    host = LmStudioHost()
    host._talk = hang_up  # type: ignore[method-assign]
    async with host.running(), plugged(host) as task:
        with pytest.raises(ConnectionFailed, match="before it answered"):
            await task
    assert json.dumps(host.plugins) == "[]"
