"""The short difference that an edit answers with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.files.edits.patch_parser import read_patch
from toolcrib.files.edits.report import UNENDED, preview

LINES = st.lists(st.sampled_from(["a", "b", "c d", "e"]), min_size=1, max_size=12)


def test_nearby_changes_share_their_surroundings():
    before = "".join(f"{n}\n" for n in range(1, 21))
    after = before.replace("4\n", "four\n", 1).replace("\n7\n", "\n").replace("\n20\n", "\n20\nx\n")
    assert preview(before, after).split("\n") == [
        *("@@ -2,8 +2,7 @@", " 2", " 3", "-4", "+four", " 5", " 6", "-7", " 8", " 9"),
        *("@@ -19,2 +18,3 @@", " 19", " 20", "+x"),
    ]


def test_no_difference_is_nothing():
    assert preview("a\nb", "a\nb") == ""


def test_a_missing_line_end_is_told():
    assert preview("a\n", "a") == f"@@ -1 +1 @@\n-a\n+a\n{UNENDED}"


def test_what_does_not_fit_is_counted():
    text = preview("", "".join(f"{n}\n" for n in range(100)), 11)
    assert text.split("\n")[-2:] == ["+9", "[90 more lines of the difference]"]
    assert preview("a\n", "b\n", 0) == "[3 more lines of the difference]"


def test_long_lines_are_cut_to_where_they_differ():
    around = "é" * 5000
    left, right = ("x" * 3000 + word + "x" * 3000 for word in ("here", "there"))
    lines = preview(f"{around}\n{left}\n", f"{around}\n{right}\n").split("\n")
    assert "here" in lines[2]
    assert "there" in lines[3]
    assert max(map(len, lines)) < 240
    assert "(5,000 characters)" in lines[1]


@given(before=LINES, after=LINES)
def test_it_is_a_patch_that_leads_to_the_new_text(before, after):
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    text = preview(old, new, 1000)
    files = read_patch(f"--- f\n+++ f\n{text}\n") if text else []
    lines, shift = list(before), 0
    for hunk in (hunk for file in files for hunk in file.hunks):
        at = hunk.at + shift
        assert lines[at : at + len(hunk.old)] == hunk.old
        lines[at : at + len(hunk.old)] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    assert lines == after
