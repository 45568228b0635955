"""Allow, ask or deny."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.result import Result
from toolcrib.core.settings import PolicyConfig
from toolcrib.core.tool import ERASE, MACHINE, NET, READ, SEND, WRITE, Right, Tool, decide, tool


@tool(group="files", rights=READ)
async def read_file(*, ctx: Any) -> Result:
    """Read."""
    del ctx
    return Result()


def having(rights: Right) -> Tool:
    return replace(read_file, rights=rights)


@each_case(
    ("rights", "action"),
    [(READ, "allow"), (NET, "allow"), (WRITE, "allow"), (NET | SEND, "ask"), (MACHINE, "ask")],
)
def test_without_rules_the_rights_decide(rights: Right, action: str) -> None:
    decision = decide(PolicyConfig(), having(rights), [])
    assert decision.action == action
    assert not decision.explicit


@pytest.mark.rows("D32")
@each_case(
    ("rules", "targets", "action"),
    [
        ([{"action": "deny", "tool": "READ_*"}], [], "deny"),
        ([{"action": "deny", "group": "web"}], [], "allow"),
        ([{"action": "ask", "rights": "read,write"}], [], "ask"),
        ([{"action": "ask", "rights": "send"}], [], "allow"),
        ([{"action": "deny", "target": "*/secret/*"}], ["/w/secret/a"], "deny"),
        ([{"action": "deny", "target": "*/Secret/*"}], ["/w/open/a", "/w/secret/a"], "deny"),
        ([{"action": "deny", "target": "*/secret/*"}], ["/w/open/a"], "allow"),
        ([{"action": "deny", "target": "*/secret/*"}], [], "allow"),
        ([{"action": "allow"}, {"action": "deny"}], [], "allow"),
    ],
)
def test_the_first_rule_that_matches_decides(rules: Any, targets: list[str], action: str) -> None:
    policy = PolicyConfig.model_validate({"rules": rules})
    assert decide(policy, read_file, targets).action == action


def test_the_default_holds_where_no_rule_matches() -> None:
    policy = PolicyConfig.model_validate(
        {"default": "deny", "rules": [{"action": "allow", "tool": "read_*"}]}
    )
    assert decide(policy, read_file, []).action == "allow"
    assert decide(policy, replace(read_file, name="other"), []).action == "deny"


@each_case(
    ("rights", "action"),
    [
        (["write"], "ask"),
        (["write", "erase"], "allow"),
        (["ERASE"], "allow"),
        (["read"], "ask"),
        ([], "allow"),
    ],
)
def test_allowing_a_right_does_not_allow_another_that_is_asked_about(
    rights: list[str], action: str
) -> None:
    policy = PolicyConfig.model_validate({"rules": [{"action": "allow", "rights": rights}]})
    assert decide(policy, having(READ | WRITE | ERASE), []).action == action
    assert decide(policy, having(READ | WRITE | ERASE), [], READ | WRITE).action == "allow"


def test_a_rule_that_forbids_needs_one_right_only() -> None:
    for reply in ("deny", "ask"):
        policy = PolicyConfig.model_validate({"rules": [{"action": reply, "rights": ["write"]}]})
        assert decide(policy, having(WRITE | ERASE | SEND), []).action == reply


def test_one_allowed_target_speaks_for_itself_alone() -> None:
    policy = PolicyConfig.model_validate({"rules": [{"action": "allow", "target": "https://a/*"}]})
    for targets in (["https://a/1", "https://b/1"], ["https://b/1", "https://a/1"]):
        assert not decide(policy, read_file, targets).explicit
    assert decide(policy, read_file, ["https://a/1", "https://a/2"]).explicit
    assert not decide(PolicyConfig(default="allow"), read_file, []).explicit


def test_a_call_that_uses_fewer_rights_is_judged_by_those() -> None:
    sending = having(NET | SEND)
    assert decide(PolicyConfig(), sending, [], NET).action == "allow"
    rules = PolicyConfig.model_validate({"rules": [{"action": "deny", "rights": ["send"]}]})
    assert decide(rules, sending, [], NET).action == "allow"
    assert decide(rules, sending, []).action == "deny"


def test_narrowing_never_adds_a_right() -> None:
    narrowed = replace(
        having(NET), effective_rights=lambda given: NET | SEND if given else Right.NONE
    )
    assert narrowed.rights_for({"x": 1}) == NET
    assert narrowed.rights_for({}) == Right.NONE
    assert having(NET).rights_for({}) == NET
