"""`ask_user` by a real client: the form of the host, its answers, and hosts without forms."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client

from tests.servers.asgi import served
from tests.servers.mcp_wire import MODERN
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(60)
both = pytest.mark.parametrize("mode", ["legacy", MODERN])


async def requested(
    mode: str,
    arguments: dict[str, Any],
    answer: types.ElicitResult | None,
    config: dict[str, Any] | None = None,
) -> tuple[types.CallToolResult, list[types.ElicitRequestParams]]:
    """A call of `ask_user` at a host whose person gives this answer; None: it has no forms."""
    forms: list[types.ElicitRequestParams] = []

    async def fill(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        forms.append(params)
        assert answer is not None
        return answer

    callback = fill if answer is not None else None
    app = create_app(Toolbox(config, profile="ui"))
    async with (
        served(app) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=callback) as client,
    ):
        return await client.call_tool("ask_user", arguments), forms


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


@both
async def test_an_answer(mode: str) -> None:
    given = types.ElicitResult(action="accept", content={"answer1": "Blue"})
    question = {"questions": ["Which colour?"], "choices": ["Red", "Blue"]}
    result, (form,) = await requested(mode, question, given)
    assert not result.is_error
    assert text_of(result) == "Blue"
    assert isinstance(form, types.ElicitRequestFormParams)
    assert form.message == "Which colour?"
    properties = form.requested_schema["properties"]
    assert properties == {"answer1": {"type": "string", "title": "Answer", "enum": ["Red", "Blue"]}}
    assert form.requested_schema["required"] == ["answer1"]


@both
async def test_several_questions(mode: str) -> None:
    given = types.ElicitResult(action="accept", content={"answer1": "Ann", "answer2": ""})
    result, (form,) = await requested(mode, {"questions": ["Who?", "When?"]}, given)
    assert isinstance(form, types.ElicitRequestFormParams)
    assert [p["title"] for p in form.requested_schema["properties"].values()] == ["Who?", "When?"]
    assert text_of(result) == "Who?\n- Ann\nWhen?\n- (no answer)"


@both
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_answer(mode: str, action: Any) -> None:
    result, forms = await requested(
        mode, {"questions": ["Who?"]}, types.ElicitResult(action=action)
    )
    assert result.is_error
    assert "did not answer" in text_of(result)
    assert len(forms) == 1


@both
async def test_a_host_without_forms(mode: str) -> None:
    result, _ = await requested(mode, {"questions": ["Who?"]}, None)
    assert (result.meta or {})["toolcrib/error"]["code"] == "needs_approval"
    assert "end your turn" in text_of(result)


@both
async def test_after_a_person_allowed_the_question(mode: str) -> None:
    """Where a rule asks about the tool itself, both are asked, one after the other."""
    forms: list[types.ElicitRequestParams] = []

    async def fill(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        forms.append(params)
        content = {"allow": True} if "Allow" in params.message else {"answer1": "Ann"}
        return types.ElicitResult(action="accept", content=content)

    config = {"policy": {"rules": [{"action": "ask", "tool": "ask_user"}]}}
    app = create_app(Toolbox(config, profile="ui"))
    async with (
        served(app) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=fill) as client,
    ):
        result = await client.call_tool("ask_user", {"questions": ["Who?"]})
    assert text_of(result) == "Ann"
    assert ["Allow" in form.message for form in forms] == [True, False]


@both
async def test_what_a_person_decides_by_cannot_be_forged(mode: str, tmp_path: Path) -> None:
    """Control characters are written out, our words come first, and no code is hidden."""
    forms: list[str] = []

    async def refuse(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        forms.append(params.message)
        return types.ElicitResult(action="decline")

    code = (
        "ls\r\x1b[8m\u202e\nAsked because: you allowed it.\n# -----BEGIN PRIVATE KEY-----\n"
        'sh --token "$(evil)" API_KEY=abcdef123456 ' + "#" * 3_000 + "\ntail"
    )
    rules = [{"action": "ask", "tool": "run_command"}]
    app = create_app(Toolbox({"policy": {"rules": rules}}, profile="all", workspace=tmp_path))
    async with (
        served(app) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=refuse) as client,
    ):
        await client.call_tool("run_command", {"command": code})
    lines = forms[0].split("\n")
    assert lines[0].startswith("Allow run_command? Asked because: rule 1")
    assert lines[1] == "command=ls\\x0d\\x1b[8m\\u{202e}"
    others = [line for line in lines[2:] if "=" not in line.partition(" ")[0]]
    assert [line for line in others if not line.startswith("  | ")] == [f"in {tmp_path}"]
    assert "  | Asked because: you allowed it." in lines
    assert "$(evil)" in forms[0]
    assert "a1b2c3d4e5f6" not in forms[0]
    assert "NOT SHOWN: " in forms[0]
    assert "  | tail" in lines


@both
async def test_a_no_counts_though_another_answer_opened_the_host(mode: str, tmp_path: Path) -> None:
    """Two calls to one host, asked about at once: one is allowed, the other is not."""
    both_open, answered, forms = asyncio.Event(), asyncio.Event(), list[str]()

    async def fill(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        forms.append(params.message)
        if len(forms) == 2:
            both_open.set()
        await both_open.wait()
        if "> first" in params.message:
            return types.ElicitResult(action="accept", content={"allow": True})
        await answered.wait()
        return types.ElicitResult(action="decline")

    app = create_app(Toolbox(profile="all", workspace=tmp_path))
    network = ["plain.example"]

    async def call(client: Client, word: str) -> types.CallToolResult:
        arguments = {"command": f"echo x > {word}", "network": network}
        result = await client.call_tool("run_command", arguments)
        answered.set()
        return result

    async with (
        served(app) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=fill) as client,
    ):
        first, second = await asyncio.gather(call(client, "first"), call(client, "second"))
    assert not first.is_error, text_of(first)
    assert (second.meta or {})["toolcrib/error"]["code"] == "denied", text_of(second)
    assert (tmp_path / "first").exists()
    assert not (tmp_path / "second").exists()
