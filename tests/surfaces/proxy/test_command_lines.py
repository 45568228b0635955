"""Command lines of others through the proxy, at night, unchanged: codex, Claude Code, opencode.

`scripts/install-agents` fetches them. Each gets a home of its own and is told of the proxy in
the way that its own documentation has; the server behind it is scripted.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.proxy.dialect_streams import messages_stream, responses_stream
from tests.surfaces.proxy.proxies import proxied

INSTALLED = Path(__file__).parents[3] / ".cache" / "agents" / "node_modules"
SECONDS = 240
pytestmark = pytest.mark.timeout(SECONDS + 60)


def program(pattern: str) -> str:
    """Where the binary of a package is; without it the test is skipped."""
    found = sorted(path for path in INSTALLED.glob(pattern) if path.is_file())
    if not found:
        pytest.skip(f"no {pattern}: scripts/install-agents fetches it")
    return str(found[-1])


async def run(words: Sequence[str], home: Path, **environment: str) -> str:
    """What a program writes, in a home of its own."""
    (home / "work").mkdir()
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1"}
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=home / "work",
        env=known | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        os.killpg(process.pid, 9)
        out, _ = await process.communicate()
        pytest.fail(f"{words[0]} did not end: {out.decode()[-2000:]}", pytrace=False)
    return out.decode()


async def test_codex(tmp_path: Path) -> None:
    codex = program("@openai/codex*/**/codex")
    with model_server(Raw((responses_stream(["PO", "NG"]),))) as server:
        server.any_path = True
        async with proxied(server.url) as base:
            provider = f'{{name="t",base_url="{base}/v1",wire_api="responses",env_key="K"}}'
            settings = ("-c", "model_provider=t", "-c", f"model_providers.t={provider}")
            words = ("exec", "--skip-git-repo-check", *settings, "-m", "scripted", "Say PONG")
            out = await run([codex, *words], tmp_path, K="k")
    assert "PONG" in out
    kinds = {tool["type"] for body in server.requested for tool in body.get("tools") or ()}
    assert "function" in kinds


async def test_claude_code(tmp_path: Path) -> None:
    claude = program("@anthropic-ai/claude-code-*/claude")
    with model_server(Raw((messages_stream(["PO", "NG"]),))) as server:
        server.any_path = True
        async with proxied(server.url) as base:
            out = await run(
                [claude, "-p", "Say PONG", "--model", "scripted"],
                tmp_path,
                ANTHROPIC_BASE_URL=base,
                ANTHROPIC_AUTH_TOKEN="k",
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            )
    assert "PONG" in out
    assert any(body.get("tools") for body in server.requested)


async def test_opencode(tmp_path: Path) -> None:
    opencode = program("opencode-*/bin/opencode")
    with model_server(Turn("PONG", piece=2)) as server:
        async with proxied(server.url) as base:
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{base}/v1", "apiKey": "k"},
                "models": {"scripted": {}},
            }
            folder = tmp_path / ".config" / "opencode"
            folder.mkdir(parents=True)
            (folder / "opencode.json").write_text(json.dumps({"provider": {"t": provider}}))
            out = await run([opencode, "run", "-m", "t/scripted", "Say PONG"], tmp_path)
    assert "PONG" in out
    assert any(body.get("tools") for body in server.requested)
