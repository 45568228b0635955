"""The places of a text that speak of some words."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.content.outline import FoundRegions, find_regions, words_of


def regions(lines: Sequence[str], focus: str) -> FoundRegions:
    return find_regions(lines, words_of(focus), lambda: None)


def filled(places: dict[int, str], count: int = 200) -> list[str]:
    return [places.get(n, f"filler {n}") for n in range(1, count + 1)]


def test_near_lines_are_one_region() -> None:
    found = regions(filled({10: "a needle", 12: "needle", 100: "the needle again"}), "needle")
    assert [(r.first, r.last) for r in found.regions] == [(10, 12), (100, 100)]
    assert found.lines == 200
    assert found.missing == ()


def test_more_words_and_rare_words_come_first() -> None:
    places = dict.fromkeys(range(20, 180, 20), "error in it") | {
        90: "timeout error",
        130: "timeout",
    }
    assert regions(filled(places), "timeout error").regions[0].first == 90
    assert regions(filled(places), "timeout error").regions[1].first == 130


def test_a_definition_comes_before_its_uses() -> None:
    places = {20: "parse_header(x)", 90: "def parse_header(text):", 150: "parse_header(y)"}
    found = regions(filled(places), "parse_header")
    assert found.regions[0].first == 90
    assert found.regions[0].heads
    assert regions(filled({5: "class A:", 50: "  needle"}), "needle").regions[0].under == (
        5,
        "class A:",
    )


@each_case(
    ("line", "focus", "met"),
    [
        ("Searching the index", "search", True),
        ("it was searched", "searching", True),
        ("def parseHeader():", "parseheader", True),
        ("concatenate", "cat", False),
        ("the cat sat", "cat", True),
        ("has_cat = 1", "cat", True),
        ("a connection  timeout here", '"connection timeout"', True),
        ("timeout of a connection", '"connection timeout"', False),
        ("日本語の検索です", "検索", True),
        ("x = foo.bar(1)", "foo.bar()", True),
        ("price (net)", "(net)", True),
        ("a[0] += 1", "a[0]", True),
        ("größe", "GRÖSSE", False),
        ("Größe", "größe", True),
    ],
)
def test_how_words_are_met(line: str, focus: str, met: bool) -> None:
    assert bool(regions([line], focus).regions) == met


def test_words_that_no_line_has_are_told() -> None:
    found = regions(["needle"], "needle haystack")
    assert found.missing == ("haystack",)
    assert not regions(["nothing"], "needle").regions


def test_common_words_count_only_alone() -> None:
    assert [w.text for w in words_of("where is the config")] == ["config"]
    assert [w.text for w in words_of("to be")] == ["to", "be"]
    assert words_of("  ?! ") == []
    assert len(words_of(" ".join(map(str, range(50))))) == 12


@given(st.lists(st.text(max_size=60), max_size=40), st.text(max_size=40))
def test_any_words_in_any_text(lines: list[str], focus: str) -> None:
    words = words_of(focus)
    if words:
        found = find_regions(lines, words, lambda: None)
        assert found.lines == len(lines)
        assert all(1 <= r.first <= r.last <= len(lines) for r in found.regions)
