from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.web.provider import SearchResult
from toolcrib.web.search.fusion import fuse, identity


def found(*names: str) -> list[SearchResult]:
    return [SearchResult(name.upper(), f"https://example.org/{name}") for name in names]


def titles(results: list[SearchResult]) -> str:
    return "".join(result.title for result in results)


def test_what_several_have_comes_first():
    fused = fuse({"one": found("a", "b", "c"), "two": found("d", "c")})
    assert titles(fused) == "CADB"
    assert fused[0].extra["providers"] == ["one", "two"]
    assert fused[1].extra["providers"] == ["one"]


def test_equal_scores_go_by_the_order_of_the_providers():
    assert titles(fuse({"two": found("x"), "one": found("a")})) == "XA"
    assert titles(fuse({"one": found("a", "b"), "two": found("b", "a")})) == "AB"


def test_duplicates_are_merged_and_lack_nothing():
    first = SearchResult(
        "A", "https://www.example.org/a?utm_source=x", "", "", extra={"engine": "1"}
    )
    second = SearchResult(
        "Longer A", "http://example.org/a/", "Text", "2026-01-02", extra={"age": "2 d"}
    )
    (merged,) = fuse({"one": [first], "two": [second]})
    assert (merged.title, merged.url) == ("A", first.url)
    assert (merged.snippet, merged.published) == ("Text", "2026-01-02")
    assert merged.extra == {"engine": "1", "age": "2 d", "providers": ["one", "two"]}


def test_the_better_place_gives_the_title():
    low, high = found("x", "a"), [SearchResult("Best", "https://example.org/a")]
    assert fuse({"one": low, "two": high})[0].title == "Best"


def test_a_provider_that_repeats_itself_counts_once():
    fused = fuse({"one": found("a", "b", "b"), "two": found("c")})
    assert titles(fused) == "ACB"


def test_nothing_is_nothing():
    assert fuse({}) == []
    assert fuse({"one": []}) == []


@each_case("depth", [10, 20, 30])
def test_more_ranks_only_add_to_the_end(depth):
    one = found(*(f"{n}-" for n in range(30)))
    two = found(*(f"{n}-" for n in range(45, 15, -1)))
    whole = fuse({"one": one, "two": two})
    part = fuse({"one": one[:depth], "two": two[:depth]})
    assert whole[: len(part)] == part


LISTS = st.lists(
    st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), unique=True, max_size=25), max_size=4
)


@given(LISTS)
def test_every_result_is_there_once(lists):
    given_lists = {f"p{n}": found(*names) for n, names in enumerate(lists)}
    fused = fuse(given_lists)
    keys = [identity(result.url) for result in fused]
    assert len(keys) == len(set(keys))
    assert set(keys) == {identity(f.url) for results in given_lists.values() for f in results}
    assert fused == fuse(given_lists)
