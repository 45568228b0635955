"""The OpenAPI surface, spoken to as a stranger would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from openapi_spec_validator import validate

from tests.cases import each_case
from tests.contract.doors import serving

JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "notes.txt").write_text("one\n")
    config = {"profile": "default", "workspace": {"roots": [str(tmp_path / "workspace")]}}
    async with serving(config) as base, httpx2.AsyncClient(base_url=base) as found:
        yield found


async def test_the_description_is_valid_and_every_operation_is_there(
    client: httpx2.AsyncClient,
) -> None:
    document = (await client.get("/openapi.json")).json()
    validate(document)
    assert document["openapi"].startswith("3.1")
    operations = [item["post"]["operationId"] for item in document["paths"].values()]
    assert {"web_search", "fetch_url", "read_file", "list_directory"} <= set(operations)
    for path in document["paths"]:
        answer = await client.post(path, json={"no_such_argument": 1})
        assert answer.status_code == 422
        assert answer.json()["error"]["code"] == "bad_input"


async def test_text_alone_for_those_who_ask_for_it(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/tools/read_file", json={"path": "notes.txt"}, headers={"Accept": "text/plain"}
    )
    assert answer.headers["content-type"].startswith("text/plain")
    assert "one" in answer.text


@each_case(("body", "code"), [("{broken", "bad_input"), ("[1]", "bad_input"), ("", "bad_input")])
async def test_bad_bodies(client: httpx2.AsyncClient, body: str, code: str) -> None:
    answer = await client.post("/tools/read_file", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == code


async def test_a_tool_outside_the_profile_is_not_served(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/tools/usage_stats", json={})
    assert answer.json()["error"]["code"] == "tool_disabled"
    assert "--profile default,usage_stats" in answer.json()["error"]["hint"]


async def test_a_body_without_end_is_cut_off(client: httpx2.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b"x" * 65536

    try:
        answer = await client.post("/tools/read_file", content=endless(), headers=JSON)
        assert answer.status_code == 413
    except httpx2.TransportError:
        pass  # closed while we were still sending
    assert (await client.get("/health")).status_code == 200


@each_case(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
async def test_strangers_are_refused(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    answer = await client.post("/tools/read_file", content="{}", headers=headers)
    assert answer.status_code == status


async def test_a_client_that_leaves_ends_its_call(tmp_path: Path) -> None:
    config = {"profile": "all", "workspace": {"roots": [str(tmp_path)]}}
    async with serving(config) as base, httpx2.AsyncClient(base_url=base) as client:
        slow = asyncio.ensure_future(
            client.post("/tools/read_job", json={"id": "none", "wait": "exit"}, timeout=30)
        )
        await asyncio.sleep(0.1)  # whether it has come or not, leaving does no harm
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        assert (await client.get("/health")).status_code == 200


async def test_the_structured_form_only_where_it_is_asked_for(client: httpx2.AsyncClient) -> None:
    without = await client.post("/tools/read_file", json={"path": "notes.txt"})
    beside = await client.post("/tools/read_file?data", json={"path": "notes.txt"})
    assert without.json()["data"] is None
    assert beside.json()["data"]["path"] == "notes.txt"


async def test_nothing_sent_means_no_arguments(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/tools/list_directory")
    assert answer.status_code == 200
    assert "notes.txt" in answer.json()["text"]


async def test_the_first_page_says_where_things_are(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/")
    assert "/openapi.json" in answer.text
    assert "/mcp" in answer.text
    assert "/docs" in answer.text


async def test_a_header_keeps_conversations_apart(client: httpx2.AsyncClient) -> None:
    for name in ("a", "b"):
        headers = {"X-Toolcrib-Session": name}
        answer = await client.post("/tools/read_file", json={"path": "notes.txt"}, headers=headers)
        assert answer.json()["error"] is None
    first, second = ({"X-Toolcrib-Session": "x" * 200 + end} for end in "12")
    await client.post("/tools/read_file", json={"path": "notes.txt"}, headers=first)
    given = {"path": "notes.txt", "content": "new"}
    for headers, code in ((second, None), (first, "conflict")):  # who has read what was there
        error = (await client.post("/tools/write_file", json=given, headers=headers)).json()[
            "error"
        ]
        assert (error and error["code"]) == code, error
    assert "X-Toolcrib-Session".lower() in (await client.get("/openapi.json")).text
