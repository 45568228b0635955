"""Arguments: forgiving in form, strict in meaning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib import Toolbox
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import Count, JsonObject, Param, Seconds, tool
from toolcrib.files.paths import Workspace
from toolcrib.middleware.validate import bind


class Edit(TypedDict):
    old: str
    new: Annotated[str, Param("Text that replaces it.")]


@tool(group="test", argument_aliases={"file_path": "path", "max_results": "limit"})
async def sample(
    path: Annotated[str, Param("Which file.")],
    limit: Annotated[Count, Param(maximum=50)] = 10,
    timeout: Seconds = 1.5,
    mode: Literal["head", "tail"] = "head",
    deep: bool = False,
    names: list[str] | None = None,
    edits: list[Edit] | None = None,
    body: JsonObject | None = None,
    places: list[Annotated[str, Param(kind="path")]] | None = None,
    pages: list[Annotated[str, Param(kind="url")]] | None = None,
    fields: list[int] | None = None,
    colors: Annotated[list[str] | None, Param(parted=True)] = None,
    content: str = "",
    *,
    ctx: Any,
) -> Result:
    """Sample.

    For tests.
    """
    del ctx
    given = [path, limit, timeout, mode, deep, names, edits, body, places, pages, fields]
    return Result(data=[*given, colors, content])


class Notes(list[str]):
    """What a call would be warned of, without a folder to look for files in."""

    warn = list.append
    session = SimpleNamespace(directory="")

    def use(self, kind: type[Workspace]) -> Workspace:
        return kind([])


async def bound(given: Any) -> dict[str, Any]:
    return await bind(sample, given, Notes())  # type: ignore[arg-type]


async def test_an_amount_that_is_too_large_is_the_largest() -> None:
    notes = Notes()
    found = await bind(sample, {"path": "a", "limit": "51"}, notes)  # type: ignore[arg-type]
    assert found["limit"] == 50
    assert notes == ["'limit' is at most 50: 50, not 51."]
    await bind(sample, {"path": "a", "limit": 1_234_567}, notes)  # type: ignore[arg-type]
    assert notes[1:] == ["'limit' is at most 50: 50, not 1234567."]


async def test_defaults_are_filled() -> None:
    assert await bound({"path": "a"}) == {
        "path": "a",
        "limit": 10,
        "timeout": 1.5,
        "mode": "head",
        "deep": False,
        "names": None,
        "edits": None,
        "body": None,
        "places": None,
        "pages": None,
        "fields": None,
        "colors": None,
        "content": "",
    }


@each_case(
    ("name", "value", "expected"),
    [
        ("limit", "3", 3),
        ("limit", 3.0, 3),
        ("limit", " 7 ", 7),
        ("limit", 0, 10),
        ("limit", "", 10),
        ("mode", "", "head"),
        ("body", " ", None),
        ("timeout", "2.5", 2.5),
        ("timeout", 2, 2),
        ("timeout", "5s", 5),
        ("timeout", "500 ms", 0.5),
        ("timeout", "2 Minutes", 120),
        ("limit", "#3", 3),
        ("colors", "red, rgb(1, 2, 3)", ["red", "rgb(1, 2, 3)"]),
        ("colors", "red\nblue", ["red", "blue"]),
        ("colors", ["a, b"], ["a, b"]),
        ("content", {"a": 1}, '{\n  "a": 1\n}'),
        ("content", [{"a": 1}], '[\n  {\n    "a": 1\n  }\n]'),
        ("deep", "true", True),
        ("deep", "No", False),
        ("deep", 1, True),
        ("mode", "TAIL", "tail"),
        ("mode", "hea", "head"),
        ("names", "one", ["one"]),
        ("names", "one, two", ["one, two"]),
        ("places", "README.md, src/a.py", ["README.md", "src/a.py"]),
        ("places", "Smith, John.pdf", ["Smith, John.pdf"]),
        ("places", "foo.c,v", ["foo.c,v"]),
        ("pages", "https://a.de/?x=1,2, http://b.de", ["https://a.de/?x=1,2", "http://b.de"]),
        ("fields", "0, 2", [0, 2]),
        ("path", ["a.txt"], "a.txt"),
        ("names", '["a", "b"]', ["a", "b"]),
        ("names", [1, "b"], ["1", "b"]),
        ("names", None, None),
        ("body", '{"a": 1}', {"a": 1}),
        ("body", {"a": 1}, {"a": 1}),
        ("edits", '[{"old": "x", "new": "y"}]', [{"old": "x", "new": "y"}]),
        ("edits", {"old": "x", "new": "y"}, [{"old": "x", "new": "y"}]),
        ("max_results", 4, 4),
        ("maxResults", 4, 4),
        ("Max-Results", 4, 4),
    ],
)
async def test_forgiving_in_form(name: str, value: Any, expected: Any) -> None:
    found = await bound({"path": "a", name: value})
    canonical = name if name in found else "limit"
    assert found[canonical] == expected


@each_case(
    ("given", "says"),
    [
        ({}, "needs 'path' (Which file.)"),
        ({"path": "a", "limit": -1}, "from 1 to 50"),
        ({"path": "a", "limit": 2.5}, "a whole number"),
        ({"path": "a", "limit": "many"}, "a whole number"),
        ({"path": "a", "limit": "5s"}, "a whole number"),
        ({"path": "a", "limit": "80%"}, "a whole number"),
        ({"path": "a", "timeout": "5 km"}, "a number"),
        ({"path": "a", "content": ["a", "b"]}, "a string"),
        ({"path": "a", "edits": "x"}, "'edits[0]' must be an object with old, new, not \"x\""),
        ({"path": "a", "fields": [1, "x"]}, "'fields[1]' must be a whole number"),
        ({"path": "a", "limit": True}, "a whole number"),
        ({"path": "a", "limit": float("nan")}, "a whole number"),
        ({"path": "a", "timeout": -1}, "at least 0"),
        ({"path": "a", "mode": "middle"}, "one of head, tail"),
        ({"path": "a", "mode": "he"}, "one of head, tail"),
        ({"path": "a", "mode": "headline"}, "one of head, tail"),
        ({"path": "a", "deep": "perhaps"}, "true or false"),
        ({"path": ["a", "b"]}, "a string"),
        ({"path": {"a": 1}}, "a string"),
        ({"path": "a", "body": "{broken"}, "not valid JSON"),
        ({"path": "a", "body": "[1]"}, "a JSON object"),
        ({"path": "a", "edits": [{"old": "x"}]}, "needs the field 'new'"),
        ({"path": "a", "edits": [{"old": "x", "new": "y", "z": 1}]}, "no field 'z'"),
        ({"path": "a", "file_path": "b"}, "given twice"),
        ("{broken", "not valid JSON"),
        ("[1]", "must be a JSON object"),
        (7, "must be a JSON object"),
    ],
)
async def test_strict_in_meaning(given: Any, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        await bound(given)
    assert says in caught.value.message


@pytest.mark.rows("B04")
async def test_an_unknown_argument_is_refused_with_the_right_names() -> None:
    with pytest.raises(BadInput) as caught:
        await bound({"path": "a", "limits": 4})
    assert "'limits'" in caught.value.message
    assert "Did you mean 'limit'?" in caught.value.hint
    assert "path, limit?" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "guess"),
    [
        ("limit_to", 4, "limit"),
        ("paths", "a", "path"),
        ("paths", 4, ""),
        ("tmeout", "soon", ""),
        ("limits", "x", ""),
    ],
)
async def test_only_a_near_name_that_fits_the_value_is_guessed(
    name: str, value: object, guess: str
) -> None:
    with pytest.raises(BadInput) as caught:
        await bound({"path": "a", name: value})
    assert caught.value.hint.startswith(f"Did you mean '{guess}'?" if guess else "sample takes")


async def test_what_was_given_twice_is_named_as_it_was_sent() -> None:
    with pytest.raises(BadInput) as caught:
        await bound({"path": "a", "file_path": "b"})
    assert "as 'path' and 'file_path', with different values" in caught.value.message


async def test_json_text_is_an_object_and_nothing_is_none() -> None:
    assert (await bound('{"path": "a"}'))["path"] == "a"
    with pytest.raises(BadInput):
        await bound(None)
    with pytest.raises(BadInput):
        await bound("  ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["path", "limit", "deep", "names", "edits", "body"]), JSON))
async def test_any_json_is_bound_or_refused(given: dict[str, Any]) -> None:
    try:
        found = await bound(given)
    except BadInput as error:
        assert error.message
    else:
        assert isinstance(found["path"], str)
        assert 1 <= found["limit"] <= 50


async def test_deeply_nested_json_text_is_refused() -> None:
    with pytest.raises(BadInput):
        await bound({"path": "a", "body": '{"a":' * 100_000})


async def test_an_empty_choice_is_not_listed() -> None:
    @tool(group="test")
    async def choosing(take: Literal["", "ours", "theirs"] = "", *, ctx: Any) -> Result:
        """Choose.

        For tests.
        """
        del ctx
        return Result(text=take)

    with pytest.raises(BadInput, match="must be one of ours, theirs, not"):
        await bind(choosing, {"take": "both"}, Notes())  # type: ignore[arg-type]


async def test_another_form_of_an_action_is_not_that_action() -> None:
    """Who asks what is installed does not want to install."""
    async with Toolbox({"switches": {"all": True}}, profile="manage_packages") as box:
        for word in ("installed", "updates"):
            call = {"action": word, "packages": ["numpy"]}
            refused = await box.call("manage_packages", call)
            assert refused.error is not None
            assert refused.error.code == "bad_input"
