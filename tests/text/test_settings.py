"""TOML and YAML of others cost no more than their size, or are refused."""

from __future__ import annotations

import tomllib

import pytest

from tests.cases import each_case
from toolcrib.text.toml_values import MAX_CHARS, MAX_KEY_NAMES, toml_value
from toolcrib.text.yaml_events import yaml_events

MANY = 4 * MAX_KEY_NAMES
DOTTED = ".a" * MANY


@each_case(
    "text",
    [
        f"a{DOTTED} = 1",
        f"[a{DOTTED}]",
        f"[[a{DOTTED}]]",
        "a" + " \t. a" * MANY + " = 1",
        '"a"' + '."\\"b.c"' * MANY + " = 1",
        "'a'" + ".'#'" * MANY + " = 1",
        f"x = {{a{DOTTED} = 1}}",
        # Behind strings whose ends are easily missed.
        f"x = ['''\n\"''', {{a{DOTTED} = 1}}]",
        f'x = ["""a"""", {{a{DOTTED} = 1}}]',
        f'x = ["""\\"""#""", {{a{DOTTED} = 1}}]',
        f"x = ['\\', {{a{DOTTED} = 1}}] # '",
        f"x = 1 # don't\na{DOTTED} = 1",
        "x = " + "[" * 100_000,
        "x = 1\n" + "#" * MAX_CHARS,
    ],
)
def test_toml_that_would_grow_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        toml_value(text)
    assert type(refused.value) is ValueError


@each_case(
    "text",
    [
        f"a = 1 # a{DOTTED}",
        f'a = "a{DOTTED}"',
        f"a = 'a{DOTTED}'",
        f'a = """\n"" a{DOTTED} \\""" a{DOTTED}"""',
        f"a = '''\n# '' a{DOTTED}'''",
        ".".join("a" * MAX_KEY_NAMES) + " = 1",
        "a = [" + "1.5, " * 1000 + "]",
        "a.b = 07:32:00.999\r\n[c]\r\nd = 1979-05-27T07:32:00Z",
    ],
)
def test_other_toml_is_read(text: str) -> None:
    assert toml_value(text) == tomllib.loads(text)


@each_case(
    "text", ["a" * 400_000, '"' + '\\"' * 200_000, '"""' + '\\"' * 200_000, "'''" + "''" * 9]
)
def test_what_is_no_toml_says_so(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        toml_value(text)


@each_case("text", ["[" * 100_000, "{a: " * 50_000, "- " * 20_000])
def test_deep_yaml_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="100 levels"):
        list(yaml_events(text))
    assert len(list(yaml_events("[" * 90 + "]" * 90))) == 184
