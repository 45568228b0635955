"""Text of others cannot pass for a mark of ours."""

from __future__ import annotations

from tests.cases import each_case
from toolcrib.text.fence import escape_fence


@each_case(
    "line",
    ["=== Page 2 of 2 ===", "  ==page 9", "[2] Title", "To go on: fetch_url", "to go on:x"],
)
def test_a_line_like_a_mark_gets_a_sign(line):
    assert escape_fence(f"text\n{line}\nmore") == f"text\n| {line}\nmore"
    assert escape_fence(line) == f"| {line}"


@each_case("line", ["see [2] there", "a page 2 of 3", "[2](https://x.ex)", "= x"])
def test_other_lines_stay(line):
    assert escape_fence(f"text\n{line}") == f"text\n{line}"
