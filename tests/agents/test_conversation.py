"""Messages: pruned without tearing pairs apart, settled after an interruption."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.agents.conversation import Conversation, as_text, pruned
from toolcrib.agents.loop import Budget, LoopDetector
from toolcrib.agents.outcome import Outcome, Reason, Status

pytestmark = pytest.mark.rows("E119")


def group(number: int, results: int) -> list[dict[str, Any]]:
    calls = [
        {"id": f"{number}-{n}", "function": {"name": "f", "arguments": "{}"}}
        for n in range(results)
    ]
    head: dict[str, Any] = {"role": "assistant", "content": "x"}
    if calls:
        head["tool_calls"] = calls
    return [head, *({"role": "tool", "tool_call_id": c["id"], "content": "r"} for c in calls)]


GROUPS = st.lists(st.integers(0, 6) | st.just(-1), max_size=15).map(
    lambda sizes: [
        message
        for number, size in enumerate(sizes)
        for message in ([{"role": "user", "content": "u"}] if size < 0 else group(number, size))
    ]
)


@given(GROUPS, st.integers(2, 20))
def test_pruning_never_parts_a_call_from_its_result(messages: list[Any], keep: int) -> None:
    stored = pruned(messages, keep)
    assert stored == messages[len(messages) - len(stored) :]
    waiting: set[str] = set()
    for message in stored:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = {c["id"] for c in message.get("tool_calls", ())}
    assert not waiting
    assert len(stored) <= max(keep, 7)
    assert bool(stored) == bool(messages) or messages[-1]["role"] == "tool"


def test_an_interrupted_step_is_settled() -> None:
    talk = Conversation([{"role": "system", "content": "s"}], 10)
    for message in group(1, 3)[:2]:
        talk.add(message)
    talk.close_calls("stopped")
    assert [m["content"] for m in talk.body[1:]] == ["r", "stopped", "stopped"]
    talk.close_calls("stopped")
    assert len(talk.body) == 4


def test_two_words_in_a_row_are_one_turn() -> None:
    talk = Conversation([{"role": "user", "content": "task"}], 10)
    talk.say("and this")
    assert talk.messages() == [{"role": "user", "content": "task\n\nand this"}]
    talk.add({"role": "assistant", "content": "a"})
    talk.say("b")
    talk.say("c")
    assert talk.messages()[-1]["content"] == "b\n\nc"


def test_pairs_in_plain_words() -> None:
    call, result = group(1, 1)
    assert "<tool_call>" in as_text(call)["content"]
    assert as_text(result)["role"] == "user"


def test_shrinking_ends() -> None:
    talk = Conversation([], 16)
    for number in range(10):
        talk.add({"role": "user", "content": str(number)})
    sizes = []
    while talk.shrink():
        sizes.append(len(talk.messages()))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 3


@pytest.mark.rows("C123")
def test_circles() -> None:
    circles = LoopDetector(3)
    counts = [circles.count_call("Read-File", {"a": 1, "b": 2}) for _ in range(2)]
    counts.append(circles.count_call("read_file", {"b": 2, "a": 1}))
    assert counts == [1, 2, 3]
    assert circles.is_last_chance(2)
    assert circles.reaches_limit(3)
    assert circles.count_call("read_file", {"a": 2}) == 1
    going_on = ("read_more", {"handle": "x"})
    for _ in range(5):
        circles.count_result(going_on, "", wrote=False, key=("x", {}))
        assert circles.count_call(*going_on) == 1
    errors = [
        circles.count_result(None, f"There is no '{n}' at {n}.", wrote=False, key=("x", {}))
        for n in range(3)
    ]
    assert errors == [1, 2, 3]
    assert circles.count_result(None, "", wrote=False, key=("x", {})) == 0
    assert circles.count_result(None, "There is no 'x' at 9.", wrote=False, key=("x", {})) == 1


def test_a_write_makes_other_calls_new_and_not_itself() -> None:
    circles = LoopDetector(3)
    for n in range(1, 4):
        assert circles.count_call("run_tests", {}) == 1
        assert circles.count_call("write_file", {"path": "a"}) == n
        circles.count_result(None, "", wrote=True, key=("write_file", {"path": "a"}))


def test_outcomes_survive_the_store_and_add_up() -> None:
    one = Outcome.ended(Reason.ANSWERED, answer="a", steps=1, tokens=5, files_modified=("x",))
    two = Outcome.ended(Reason.TIME_LIMIT, steps=2, tokens=7, files_modified=("x", "y"))
    assert Outcome.of_json(one.to_json()) == one
    both = one.and_then(two)
    assert (both.status, both.answer, both.steps, both.tokens) == (Status.TIMEOUT, "a", 3, 12)
    assert both.files_modified == ("x", "y")
    assert Outcome.ended(Reason.STEP_LIMIT, answered=True).status is Status.COMPLETED
    assert Outcome.ended(Reason.STEP_LIMIT).status is Status.STALLED


def test_a_budget_that_is_used_up() -> None:
    budget = Budget(steps=2, deadline=0.0, calls=1, tokens=10)
    assert budget.exhausted() is Reason.TIME_LIMIT
    budget.deadline = 1e18
    assert budget.exhausted() is Reason.NONE
    budget.used_tokens = 10
    assert budget.exhausted() is Reason.TOKEN_LIMIT
    budget.used_steps = 2
    assert budget.exhausted() is Reason.STEP_LIMIT
