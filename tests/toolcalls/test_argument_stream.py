"""Arguments as they stream: right ones byte for byte, wrong ones mended, never invented."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.toolcalls.argument_stream import ArgumentStream, mended_arguments
from toolcrib.toolcalls.tool_schemas import ToolSchemas

KINDS = {"n": "integer", "s": "string", "b": "boolean", "a": "array", "o": "object"}
TOOL = {"name": "f", "parameters": {"properties": {k: {"type": v} for k, v in KINDS.items()}}}
OFFERS = ToolSchemas([TOOL])


def streamed(text: str, cuts: list[int]) -> str:
    stream, start, out = ArgumentStream(OFFERS, "f"), 0, ""
    for end in [*sorted(min(cut, len(text)) for cut in cuts), len(text)]:
        out += stream.feed(text[start:end])
        start = end
    return out + stream.close()


WRONG = [
    ('{"n": "5", "s": 3, "b": "true"}', '{"n": 5, "s": "3", "b": true}'),
    ('{"a": "[1,2]", "o": "{\\"k\\":1}"}', '{"a": [1, 2], "o": {"k": 1}}'),
    ("{'n': 5, s: 'it\"s', b: True,}", '{"n": 5, "s": "it\\"s", "b": true}'),
    ('"{\\"n\\": \\"7\\"}"', '{"n": 7}'),
    ("", "{}"),
    ("null", "{}"),
    ('{"s": "a\nb\\d"}', '{"s": "a\\nb\\\\d"}'),
    ('{"n": 5}}', '{"n": 5}'),
    ('{"s": {"a": [1, "x}"]}, "n": 2.0}', '{"s": "{\\"a\\": [1, \\"x}\\"]}", "n": 2.0}'),
    ('{"b": 1, "a": 4}', '{"b": true, "a": [4]}'),
]
AS_THEY_ARE = [
    *('{"n": 12', '{"s": "abc', '{"n": 5 "s": 3}', "garbage", '{"n": }', "[1]", '{"n": null}'),
    *('{"x": "1", "n": 5, "s": "\\u00e4"}', " { } ", '{"s":"a\\\\"}', '{"n": -1.5e3}'),
]


@each_case(("text", "wanted"), WRONG)
def test_what_is_wrong_is_mended(text: str, wanted: str) -> None:
    assert mended_arguments(text, OFFERS, "f") == wanted
    json.loads(wanted)
    assert streamed(text, list(range(len(text)))) == wanted


@each_case("text", AS_THEY_ARE)
def test_what_is_right_or_cannot_be_read_stays(text: str) -> None:
    assert mended_arguments(text, OFFERS, "f") == text
    assert streamed(text, list(range(len(text)))) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.lists(st.integers(0, 200)))
def test_json_stays_byte_for_byte(value: dict[str, object], plain: bool, cuts: list[int]) -> None:
    value = {name: item for name, item in value.items() if name not in KINDS}
    text = json.dumps(value, ensure_ascii=plain)
    assert streamed(text, cuts) == text


@given(st.text(alphabet="{}[]\"',:\\n1e-.tTruefalsN xä\n`"), st.lists(st.integers(0, 60)))
def test_any_text_in_any_cuts(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts) == mended_arguments(text, OFFERS, "f")


@given(VALUES.filter(lambda value: value is not None), st.sampled_from(sorted(KINDS)))
def test_types_are_those_of_the_schema_or_stay(value: object, name: str) -> None:
    text = json.dumps({name: value})
    found = json.loads(streamed(text, list(range(0, len(text), 2))))
    assert set(found) == {name}
