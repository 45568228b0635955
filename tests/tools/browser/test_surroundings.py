"""What is wrong around the browser: another program, no room, certificates, a login that ends."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import threading
from http.server import HTTPServer
from pathlib import Path

import pytest

from tests import calls_child
from tests.conftest import absent
from tests.servers.authority import Authority
from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import Desk, opened_to, step
from toolcrib.execution.sandbox.sandbox import candidates
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(170)]


def program(folder: Path, script: str) -> str:
    place = folder / "browser"
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return str(place)


async def test_a_browser_that_is_too_old_is_named(app: WebApp, tmp_path: Path) -> None:
    old = program(tmp_path, "echo 'unknown option: --remote-debugging-pipe' >&2; exit 21")
    async with Toolbox(opened_to(app.url) | {"browser": {"executable": old}}) as box:
        result = await box.call("browser_open", {"url": app.url})
        assert result.error is not None
        assert result.error.code == "unavailable", result.render()
        assert old in result.error.message
        assert "browser.executable" in result.error.hint
        assert (await box.call("browser_close")).error is None


async def test_a_login_that_expires_is_seen(desk: Desk) -> None:
    talk = desk.talk("expires")
    await talk("open", url=f"{desk.url}/login")
    assert "Welcome, ann" in await talk.act(
        "type User = ann", "type Password = s3cret-word", "click Log in"
    )
    await talk("open", url=f"{desk.url}/desk")
    desk.app.pages["/desk"] = (
        "<title>Login</title><p>Your session has expired</p><label>Password "
        "<input type=password></label>"
    )
    try:
        seen = await talk.act("reload")
    finally:
        del desk.app.pages["/desk"]
    assert "Your session has expired" in seen
    assert 'textbox "Password"' in seen
    await talk("close")


async def test_a_client_certificate_is_asked_for(
    browser_program: str, desk: Desk, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    context = authority.context("127.0.0.1")
    context.verify_mode = ssl.CERT_REQUIRED
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # it says at once what it misses
    context.load_verify_locations(authority.ca_file)
    server = HTTPServer(("127.0.0.1", 0), lambda *_: None)  # type: ignore[arg-type,return-value]
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"https://127.0.0.1:{server.server_port}"
    trusting = program(tmp_path, f'exec {browser_program} "$@" --ignore-certificate-errors')
    try:
        async with Toolbox(opened_to(desk.url, url) | {"browser": {"executable": trusting}}) as box:
            result = await box.call("browser_open", {"url": url})
            assert result.error is not None
            assert "client certificate" in result.error.message, result.render()
            assert "Desk" in (await box.call("browser_open", {"url": desk.url})).text
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_no_room_on_the_disk_is_survived(app: WebApp, tmp_path: Path) -> None:
    if not candidates():
        absent("there is no bubblewrap, by which a folder becomes a small disk")
    small = tmp_path / "small"
    small.mkdir()
    settings = opened_to(app.url) | {"browser": {"timeout": 10}}
    arguments = {"url": app.url, "actions": [step("hover Send")]}
    calls = [["browser_open", arguments], ["browser_close", {}], ["list_files", {}]]
    argv = [candidates()[0], "--dev-bind", "/", "/", "--size", "40960", "--tmpfs", str(small)]
    argv += ["--setenv", "TMPDIR", str(small), "--die-with-parent", sys.executable]
    argv += [calls_child.__file__, str(tmp_path), json.dumps(settings), json.dumps(calls)]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=160)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    opened, closed, listed = json.loads(done.stdout)
    assert "Error (internal)" not in opened
    assert 'button "Send"' in opened or "Error (unavailable)" in opened, opened
    assert "small" in listed
    assert closed
