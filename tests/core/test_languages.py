"""What people read in their language: which one, and that every text has its translation."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from toolcrib.core.languages import (
    ENGLISH,
    LABELS,
    LANGUAGES,
    label,
    nearest_language,
    tool_title,
    translated,
)
from toolcrib.core.package_data import package_table
from toolcrib.surfaces.lmstudio.panel import FIELDS, GLOBAL_FIELDS, PanelField
from toolcrib.system.language import chosen_language
from toolcrib.toolbox import installed

MAX_UNTRANSLATED = 20
"""A new tool may come before its translations."""
OTHERS = [language for language in LANGUAGES if language != ENGLISH]


def english() -> dict[str, Any]:
    """All that is translated, as the sources have it."""
    tools = installed()
    return {
        "groups": {tool.group: tool.group for tool in tools},
        "titles": {tool.name: tool_title(tool.name, ENGLISH) for tool in tools},
        "descriptions": {tool.name: tool.description for tool in tools},
        "labels": LABELS,
        "panel": {field.key: of_field(field) for field in (*FIELDS, *GLOBAL_FIELDS)},
    }


def of_field(field: PanelField) -> dict[str, Any]:
    found = {"title": field.title, "hint": field.hint, "options": dict(field.options or {})}
    return {key: value for key, value in found.items() if value}


def texts(table: Mapping[str, Any], *above: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield (*above, key), value
        else:
            yield from texts(value, *above, key)


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.rows("C195", "E147")
@pytest.mark.parametrize("language", OTHERS)
def test_every_text_has_its_translation(language: str, hint: Callable[[str], None]) -> None:
    source = dict(texts(english()))
    found = dict(texts(package_table(f"translations/{language}.toml")))
    assert set(found) <= set(source)
    missing = set(source) - set(found)
    assert {key[0] for key in missing} <= {"titles", "descriptions"}
    for _, name in sorted(missing):
        hint(f"translations/{language}.toml: title and description of {name}")
    assert len(missing) <= MAX_UNTRANSLATED
    for key, text in found.items():
        assert text.strip() == text != "", key
        if key[0] == "labels":
            assert placeholders(text) == placeholders(source[key]), key
    titles = [text for key, text in found.items() if key[0] == "titles"]
    assert len(set(titles)) == len(titles)
    same = {source[key] for key, text in found.items() if text == source[key]}
    assert len(same) <= 12, same


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de_AT.UTF-8", "de"),
        ("es-419", "es"),
        ("zh", "zh-CN"),
        ("zh_CN.GB18030", "zh-CN"),
        ("zh-Hans-HK", "zh-CN"),
        ("zh_TW.UTF-8", "zh-TW"),
        ("zh-HK", "zh-TW"),
        ("zh_MO", "zh-TW"),
        ("zh-Hant", "zh-TW"),
        ("C.UTF-8", "en"),
        ("fr_FR", "en"),
        ("", "en"),
    ],
)
def test_the_nearest_language(tag: str, language: str) -> None:
    assert nearest_language(tag) == language


@pytest.mark.rows("E147")
def test_the_language_is_that_of_the_system_unless_it_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert chosen_language("auto") == "de"
    monkeypatch.setenv("LC_ALL", "zh_HK")
    assert chosen_language("auto") == "zh-TW"
    assert chosen_language("es") == "es"


def test_what_has_no_translation_is_english() -> None:
    assert tool_title("own_tool", "de") == "Own tool"
    assert translated("Note it.", "zh-CN", "descriptions", "own_tool") == "Note it."
    assert label("profiles", "es", names="web").endswith(" web.")
