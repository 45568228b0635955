"""Addresses as browsers read them, by whichever way is quicker."""

from __future__ import annotations

from ada_url import URL
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.documents.html_text import MAX_URL_CHARS, absolute_url

BASES = ["https://Site.example:443/a/b?c#d", "http://127.0.1.1:8080/x/", "https://[::1]/"]
PARTS = st.sampled_from(
    ["a", "Z9", "..", ".", "/", "//", "%2e", "~", "?", "#", "é", "=", "-", "\t"]
)


@given(path=st.lists(PARTS, max_size=8).map("".join), base=st.sampled_from(BASES))
@example(path="", base=BASES[0])
@example(path="a/../b", base=BASES[0])
@example(path="a/.b", base=BASES[0])
@example(path="/other.example/x", base=BASES[0])
def test_a_path_means_what_a_browser_makes_of_it(path: str, base: str) -> None:
    given = f"/{path}".strip().replace("\t", "")
    try:
        wanted = URL(given, base).href
    except ValueError:
        wanted = ""
    assert absolute_url(f"/{path}", base) == wanted


@each_case("base", ["", "file:///etc/", "data:text/html,x", "no base"])
def test_a_path_means_nothing_without_a_page_of_the_web(base: str) -> None:
    assert absolute_url("/etc/passwd", base) == ""


def test_a_long_address_is_left_out() -> None:
    assert absolute_url("/" + "a" * MAX_URL_CHARS, BASES[0]) == ""
    assert absolute_url("/" + "a" * (MAX_URL_CHARS - 100), BASES[0]) != ""
