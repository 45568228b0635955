"""Prompts, resources and completion, asked for by the official client in both revisions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.servers.asgi import served
from tests.servers.mcp_wire import HANDSHAKE, MODERN, ROOT, Wire
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(60)

LEGACY = "legacy"
WAYS = [(LEGACY, "stdio"), (MODERN, "stdio"), (LEGACY, "http"), (MODERN, "http")]
every_method = pytest.mark.parametrize(
    ("mode", "transport"), WAYS, ids=[f"{transport}, {mode}" for mode, transport in WAYS]
)
both_modes = pytest.mark.parametrize("mode", [LEGACY, MODERN])
FILES, RESULTS, JOBS = (
    "toolcrib://file/{+path}",
    "toolcrib://result/{handle}",
    "toolcrib://job/{id}",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace."""
    place = tmp_path / "ws"
    (place / "src").mkdir(parents=True)
    (place / "notes.txt").write_text("one\ntwo\n")
    (place / "src" / "main part.py").write_text("print('hello')\n")
    (place / "src" / "map.py").write_text("x = 1\n")
    (place / ".env").write_text("TOKEN=hidden\n")
    (place / "long.txt").write_text("".join(f"line {n} of a long file\n" for n in range(9000)))
    (tmp_path / "outside.txt").write_text("outside\n")
    return place


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {"workspace": {"roots": [str(folder)]}, **more}


@asynccontextmanager
async def http(
    mode: str, folder: Path, profile: str = "default", options: Any = None, **more: Any
) -> AsyncIterator[Client]:
    toolbox = Toolbox(settings(folder, **more), profile=profile)
    async with (
        served(create_app(toolbox)) as base,
        Client(f"{base}/mcp", mode=mode, **(options or {})) as client,
    ):
        yield client


@asynccontextmanager
async def connected(mode: str, transport: str, folder: Path) -> AsyncIterator[Client]:
    """A client of the product with the default profile."""
    if transport == "http":
        async with http(mode, folder) as client:
            yield client
        return
    words = ["-m", "toolcrib", "mcp", "--profile", "default", "--workspace", str(folder)]
    parameters = StdioServerParameters(
        command=sys.executable, args=words, env=dict(os.environ), cwd=ROOT
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def text_of(message: Any) -> str:
    return str(message.text)


async def refused(asking: Any) -> types.ErrorData:
    with pytest.raises(MCPError) as caught:
        await asking
    return caught.value.error


@every_method
async def test_what_a_host_finds_and_reads(mode: str, transport: str, folder: Path) -> None:
    async with connected(mode, transport, folder) as client:
        prompts = (await client.list_prompts()).prompts
        assert [p.name for p in prompts] == [
            *("summarize_page", "research", "review_changes", "explain_file", "fix_tests"),
        ]
        filled = await client.get_prompt("explain_file", {"path": "src/map.py"})
        reply = text_of(filled.messages[0].content)
        assert reply.startswith("Explain the file src/map.py.")
        assert "read_file" in reply

        listed = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in listed] == [FILES, RESULTS, JOBS]
        assert (await client.list_resources()).resources == []

        read = (await client.read_resource("toolcrib://file/notes.txt")).contents
        assert text_of(read[0]).startswith("one\ntwo\n")
        spaced = (await client.read_resource("toolcrib://file/src/main%20part.py")).contents
        assert "hello" in text_of(spaced[0])

        reference = types.ResourceTemplateReference(uri=FILES)
        found = await client.complete(reference, {"name": "path", "value": "src/ma"})
        assert found.completion.values == ["src/main part.py", "src/map.py"]


@both_modes
async def test_a_kept_result_and_a_job_are_listed_and_read(mode: str, folder: Path) -> None:
    async with http(mode, folder, results={"max_tokens": 300}) as client:
        cut = await client.call_tool("run_python", {"code": "print('word ' * 9000)"})
        assert "handle" in (cut.meta or {})["toolcrib/next"]["arguments"], cut
        handle = (cut.meta or {})["toolcrib/next"]["arguments"]["handle"]
        begun = await client.call_tool("run_command", {"command": "echo hi", "background": True})
        assert not begun.is_error, begun
        listed = {r.uri: r for r in (await client.list_resources()).resources}
        assert f"toolcrib://result/{handle}" in listed
        job = next(uri for uri in listed if uri.startswith("toolcrib://job/"))

        rest = (await client.read_resource(f"toolcrib://result/{handle}")).contents
        assert text_of(rest[0]).startswith("word word")
        assert "To go on: read_more" in text_of(rest[0])
        output = (await client.read_resource(job)).contents
        assert text_of(output[0]).startswith("Job ")

        reference = types.ResourceTemplateReference(uri=RESULTS)
        found = await client.complete(reference, {"name": "handle", "value": handle[:2]})
        assert handle in found.completion.values
        reference = types.ResourceTemplateReference(uri=JOBS)
        found = await client.complete(reference, {"name": "id", "value": ""})
        assert found.completion.values == [job.rpartition("/")[2]]


async def test_what_is_kept_for_one_conversation_is_not_shown_to_another(folder: Path) -> None:
    toolbox = Toolbox(settings(folder, results={"max_tokens": 300}), profile="default")
    async with served(create_app(toolbox)) as base, Client(f"{base}/mcp", mode=LEGACY) as one:
        cut = await one.call_tool("run_python", {"code": "print('word ' * 9000)"})
        assert "handle" in (cut.meta or {})["toolcrib/next"]["arguments"], cut
        handle = (cut.meta or {})["toolcrib/next"]["arguments"]["handle"]
        async with Client(f"{base}/mcp", mode=LEGACY) as other:
            assert (await other.list_resources()).resources == []
            error = await refused(other.read_resource(f"toolcrib://result/{handle}"))
            assert error.code == -32002


@both_modes
async def test_what_may_not_be_read_by_a_tool_is_no_resource_either(
    mode: str, folder: Path
) -> None:
    policy = {"rules": [{"tool": "read_file", "target": f"{folder}/src/*", "action": "deny"}]}
    async with http(mode, folder, policy=policy) as client:
        for uri, code, reply in (
            ("toolcrib://file/.env", "path_denied", "protected"),
            ("toolcrib://file/../outside.txt", "path_denied", "outside"),
            ("toolcrib://file/%2e%2e/outside.txt", "path_denied", "outside"),
            ("toolcrib://file//etc/hostname", "path_denied", "outside"),
            ("toolcrib://file/src/map.py", "denied", ""),
            ("toolcrib://file/nowhere.txt", "not_found", "nowhere.txt"),
            ("toolcrib://file/%00", "", ""),
            ("toolcrib://file/", "not_found", FILES),
            ("toolcrib://files/notes.txt", "not_found", FILES),
            ("file:///etc/hostname", "not_found", FILES),
            ("toolcrib://file/" + "x" * 9000, "not_found", ""),
            ("toolcrib://job/none", "not_found", "none"),
            ("toolcrib://result/none", "not_found", "none"),
        ):
            error = await refused(client.read_resource(uri))
            assert reply in error.message, (uri, error)
            assert error.data["uri"] == uri[:5000]
            assert error.data["code"] == (code or error.data["code"]), (uri, error)
            assert error.data["code"] != "internal", (uri, error)
            missing = error.data["code"] == "not_found" and mode == LEGACY
            assert error.code == (-32002 if missing else -32602), (uri, error)
            assert "hidden" not in error.message
        reference = types.ResourceTemplateReference(uri=FILES)
        for typed in ("../", "/etc/", "*", "src/[", "nowhere/", "\x00", "x" * 9000):
            found = await client.complete(reference, {"name": "path", "value": typed})
            assert found.completion.values == [], typed


@both_modes
@pytest.mark.parametrize("allow", [True, False])
async def test_a_person_is_asked_before_what_the_policy_asks_for(
    mode: str, allow: bool, folder: Path
) -> None:
    requested = []

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        requested.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": allow})

    policy = {"rules": [{"tool": "read_file", "action": "ask"}]}
    options = {"elicitation_callback": answer}
    async with http(mode, folder, options=options, policy=policy) as client:
        reading = client.read_resource("toolcrib://file/notes.txt")
        if allow:
            assert text_of((await reading).contents[0]).startswith("one")
        else:
            assert (await refused(reading)).data["code"] == "denied"
    assert len(requested) == 1
    assert "notes.txt" in requested[0]


@pytest.mark.parametrize(
    ("profile", "templates", "prompts"),
    [
        ("memory", [RESULTS, JOBS], []),
        ("web", [RESULTS, JOBS], ["summarize_page", "research"]),
        ("files", [FILES, RESULTS, JOBS], ["explain_file"]),
        (
            "search",
            [RESULTS, JOBS],
            ["summarize_page", "research", "review_changes", "explain_file", "fix_tests"],
        ),
    ],
)
async def test_only_what_the_profile_can_do_is_offered(
    profile: str, templates: list[str], prompts: list[str], folder: Path
) -> None:
    async with http(MODERN, folder, profile) as client:
        listed = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in listed] == templates
        assert [p.name for p in (await client.list_prompts()).prompts] == prompts


async def test_a_tool_that_is_denied_takes_its_prompts_and_files_along(folder: Path) -> None:
    policy = {"rules": [{"tool": "read_file", "action": "deny"}]}
    async with http(MODERN, folder, policy=policy) as client:
        listed = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in listed] == [RESULTS, JOBS]
        prompts = [p.name for p in (await client.list_prompts()).prompts]
        assert prompts == ["summarize_page", "research"]
        assert (await refused(client.get_prompt("explain_file", {"path": "a"}))).code == -32602


async def test_prompts_name_tools_as_the_host_is_shown_them(folder: Path) -> None:
    async with http(MODERN, folder, "compat:llm-chat-web,read_file,search_files") as client:
        listed = [t.name for t in (await client.list_tools()).tools]
        filled = await client.get_prompt("summarize_page", {"url": "https://example.org/a"})
        reply = text_of(filled.messages[0].content)
    assert "web_fetch" in listed
    assert "Read it with web_fetch." in reply


@both_modes
async def test_wrong_questions_about_prompts_are_answered(mode: str, folder: Path) -> None:
    async with http(mode, folder) as client:
        for name, arguments, reply in (
            ("sumarize", {}, "summarize_page"),
            ("summarize_page", {}, "needs the argument url"),
            ("summarize_page", {"url": "  "}, "needs the argument url"),
            ("summarize_page", {"url": "u", "uri": "u"}, "has no argument uri"),
            ("research", {"question": "x" * 30_000}, "20,000"),
        ):
            error = await refused(client.get_prompt(name, arguments))
            assert (error.code, reply in error.message) == (-32602, True), error
        braces = await client.get_prompt("research", {"question": "{url} {0} {"})
        assert "{url} {0} {" in text_of(braces.messages[0].content)
        prompt = types.PromptReference(name="research")
        found = await client.complete(prompt, {"name": "depth", "value": "th"})
        assert found.completion.values == ["thorough"]
        assert (await client.complete(prompt, {"name": "question", "value": "x"})) is not None
        for reference, argument in (
            (prompt, "url"),
            (types.PromptReference(name="none"), "url"),
            (types.ResourceTemplateReference(uri="x://{y}"), "y"),
            (types.ResourceTemplateReference(uri=FILES), "y"),
        ):
            error = await refused(client.complete(reference, {"name": argument, "value": ""}))
            assert error.code == -32602


async def test_branches_are_completed(folder: Path) -> None:
    for words in (
        ("init", "-q", "-b", "main"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"),
        ("branch", "feature/one"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    async with http(MODERN, folder, "git,files") as client:
        prompt = types.PromptReference(name="review_changes")
        found = await client.complete(prompt, {"name": "base", "value": "fea"})
        assert found.completion.values == ["feature/one"]


async def test_a_picture_is_read_as_bytes(folder: Path) -> None:
    from tests.servers.conformance_content import PNG, PNG_TEXT

    (folder / "dot.png").write_bytes(PNG)
    async with http(MODERN, folder) as client:
        read = (await client.read_resource("toolcrib://file/dot.png")).contents
    blobs = [part for part in read if isinstance(part, types.BlobResourceContents)]
    assert [(b.mime_type, b.blob) for b in blobs] == [("image/png", PNG_TEXT)]


async def test_a_long_file_is_cut_and_names_the_call_that_goes_on(folder: Path) -> None:
    async with http(MODERN, folder) as client:
        read = (await client.read_resource("toolcrib://file/long.txt")).contents
    assert "line 0 of" in text_of(read[0])
    assert "To go on: read_file" in text_of(read[0])
    assert len(text_of(read[0])) < 60_000


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_hints_for_caches_are_in_the_newer_revision_alone(
    revision: str, folder: Path
) -> None:
    server = await Wire.start(
        *(sys.executable, "-m", "toolcrib", "mcp", "--workspace", str(folder))
    )
    try:
        await server.open(revision)
        for method, params, seconds in (
            ("tools/list", {}, 3600),
            ("prompts/list", {}, 3600),
            ("resources/templates/list", {}, 3600),
            ("resources/list", {}, 0),
            ("resources/read", {"uri": "toolcrib://file/notes.txt"}, 0),
        ):
            result = (await server.ask(method, params))["result"]
            hint = (result.get("ttlMs"), result.get("cacheScope"))
            assert hint == ((seconds * 1000, "private") if revision == MODERN else (None, None))
        requested = "server/discover" if revision == MODERN else "ping"
        assert "result" in await server.ask(requested)
    finally:
        await server.finish()
