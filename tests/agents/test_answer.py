"""Answers put together from chunks that differ from server to server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.servers.model import Turn
from toolcrib.net.models.completion import MAX_ANSWER_CHARS, Assembly, Completion, error_text

pytestmark = pytest.mark.rows("E127")


def built(*chunks: Any) -> Completion:
    assembly = Assembly()
    for chunk in chunks:
        assembly.add(chunk)
    return assembly.finished()


def delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3)


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.sampled_from(["read_file", "ls"]), ARGUMENTS), max_size=3),
    st.integers(0, 5),
    st.booleans(),
)
def test_pieces_of_any_size_give_the_same(
    text: str, calls: list[tuple[str, Any]], piece: int, indexed: bool
) -> None:
    turn = Turn(text, calls, "why", piece=piece, indexed=indexed)
    answer = built(*(json.loads(e) for e in turn.events() if e != "[DONE]"))
    assert (answer.content, answer.reasoning) == (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if not text.isprintable()
        else text,
        "why",
    )
    assert [(c.name, c.parsed()) for c in answer.calls] == calls
    assert (answer.tokens_in, answer.tokens_out, answer.complete) == (10, 5, True)


@each_case("field", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_by_any_name(field: str) -> None:
    assert built(delta(**{field: "hm"})).reasoning == "hm"


@each_case(
    "chunk",
    [
        None,
        7,
        [],
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        delta(content=None),
        delta(content=None, tool_calls=[]),
        delta(tool_calls=None),
        delta(tool_calls=[None, 3, {}]),
        delta(tool_calls=[{"function": None}]),
        {"usage": {"prompt_tokens": "many"}},
    ],
)
def test_nothing_is_nothing(chunk: Any) -> None:
    answer = built(chunk)
    assert answer.content == ""
    assert not [c for c in answer.calls if c.name]


def test_arguments_as_an_object() -> None:
    function = {"name": "f", "arguments": {"a": 1}}
    answer = built(delta(tool_calls=[{"index": 0, "id": "x", "function": function}]))
    assert answer.calls[0].parsed() == {"a": 1}


def test_arguments_encoded_twice() -> None:
    function = {"name": "f", "arguments": json.dumps('{"a": 1}')}
    assert built(delta(tool_calls=[{"function": function}])).calls[0].parsed() == {"a": 1}


def test_two_calls_under_one_index_are_two() -> None:
    one = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    two = {"index": 0, "id": "b", "function": {"name": "g", "arguments": '{"x": 1}'}}
    answer = built(delta(tool_calls=[one]), delta(tool_calls=[two]))
    assert [(c.name, c.parsed()) for c in answer.calls] == [("f", {}), ("g", {"x": 1})]


def test_the_legacy_form() -> None:
    answer = built(
        delta(function_call={"name": "f", "arguments": '{"a"'}),
        delta(function_call={"arguments": ": 1}"}),
    )
    assert [(c.name, c.parsed()) for c in answer.calls] == [("f", {"a": 1})]


@each_case("text", ['{"a": ', "[1]", "nothing", '{"a": 1} x', "1" * 5000])
def test_half_arguments_are_none(text: str) -> None:
    function = {"name": "f", "arguments": text}
    assert built(delta(tool_calls=[{"function": function}])).calls[0].parsed() is None


def test_a_huge_answer_is_bounded() -> None:
    assembly = Assembly()
    for _ in range(40):
        assembly.add(delta(content="x" * 100_000))
    assert len(assembly.finished().content) == MAX_ANSWER_CHARS
    assert assembly.is_full


@each_case(
    ("error", "text"),
    [
        ("plain", "plain"),
        ({"message": "model\ncrashed"}, "model crashed"),
        ({"error": {"message": "inner"}}, "inner"),
        ({"code": 5}, '{"code": 5}'),
    ],
)
def test_errors_in_words(error: Any, text: str) -> None:
    assert error_text(error) == text
    assert built({"error": error}).failure == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "tool_calls",
                        "function",
                        "name",
                        "arguments",
                        "id",
                        "index",
                        "content",
                        "usage",
                        "error",
                        "message",
                        "finish_reason",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_nothing_that_a_server_sends_raises(chunk: Any) -> None:
    built(chunk, chunk)
