"""Where hunks belong, against git and against files that have changed meanwhile."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import ToolError
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.edits.patch_argument import resolve_hunks
from toolcrib.files.edits.patch_parser import read_patch

pytestmark = pytest.mark.rows("E21", "E22")

CLASSES = (
    "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
)


def applied(text: str, patch: str) -> str:
    (file,) = read_patch(patch)
    done = resolve_hunks(text, file.hunks)
    return FaithfulText.of(text.encode(), "f").spliced(done.splices).decode()


def codex(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", "*** Update File: f", *lines, "*** End Patch"])


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "d d"]), max_size=14)


@settings(deadline=None)
@given(LINES, LINES, st.booleans(), st.booleans())
@example(old=["a", "a"], new=["a"], one=True, two=False)
@example(old=["a", "a"], new=["a"], one=False, two=True)
def test_a_diff_made_by_difflib(old: list[str], new: list[str], one: bool, two: bool) -> None:
    before = "\n".join(old) + ("\n" if one and old else "")
    after = "\n".join(new) + ("\n" if two and new else "")
    diff = []
    for line in difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), "a/f", "b/f"
    ):
        diff += [line] if line.endswith("\n") else [line, "\n\\ No newline at end of file\n"]
    if not diff or not before.strip():
        return
    assert applied(before, "".join(diff)) == after


def test_what_git_makes_is_what_git_applies(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    text = "".join(f"line {n % 7}\n" for n in range(60))
    old.write_text(text)
    new.write_text(text.replace("line 3\n", "line three\n", 5).removesuffix("\n"))
    diff = subprocess.run(
        ["git", "diff", "--no-index", "old.txt", "new.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    ).stdout
    assert applied(text, diff) == new.read_text()


def test_heads_tell_two_places_apart() -> None:
    hunk = ("     def f(self):", "-        return 1", "+        return 2")
    assert applied(CLASSES, codex("@@ class B:", *hunk)) == CLASSES[:-2] + "2\n"
    for heads in ((), ("@@ class C:",), ("@@ class A:", "@@ class B:")):
        with pytest.raises(ToolError, match="2 times"):
            applied(CLASSES, codex(*heads, *hunk))


def test_numbers_tell_two_places_apart() -> None:
    good = "--- f\n+++ f\n@@ -7,1 +7,1 @@\n-        return 1\n+        return 2\n"
    assert applied(CLASSES, good) == CLASSES[:-2] + "2\n"
    with pytest.raises(ToolError, match="2 times"):
        applied(CLASSES, good.replace("-7,1", "-5,1"))


def test_lines_that_moved_are_found() -> None:
    diff = "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-unique line\n+changed\n"
    assert applied("x\n" * 30 + "unique line\n", diff) == "x\n" * 30 + "changed\n"


def test_the_end_of_the_file() -> None:
    text = "item = 1\nother\nitem = 1\n"
    assert applied(text, codex("-item = 1", "+item = 2", "*** End of File")) == (
        "item = 1\nother\nitem = 2\n"
    )


def test_indentation_and_context_by_the_rules_of_edits() -> None:
    text = "def f():\n\tif alpha:\n\t\tbeta(1)\n\t\treturn 2\n"
    patch = codex(" if alpha:", "-    beta(1)", "+    beta(2)", "+    gamma()", "     return 2")
    assert applied(text, patch) == (
        "def f():\n\tif alpha:\n\t\tbeta(2)\n\t\tgamma()\n\t\treturn 2\n"
    )


def test_context_of_two_hunks_may_be_the_same() -> None:
    text = "one\ntwo\nthree\nfour\nfive\n"
    patch = codex(" one", "-two", "+2", " three", "@@", " three", "-four", "+4", " five")
    assert applied(text, patch) == "one\n2\nthree\n4\nfive\n"


def test_blocks_in_any_order() -> None:
    blocks = "".join(
        f"f\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
        for old, new in (("three", "3"), ("one", "1"))
    )
    assert applied("one\ntwo\nthree", blocks) == "1\ntwo\n3"


@each_case(
    "lines",
    [
        (" one", "-too", "+2", " three"),  # stale
        (" one", "-three", "+3"),  # a line is missing between
        ("-tw", "+2"),  # only a part of a line
        ("-two", "+2", "@@", "-two", "+3"),  # twice the same
        ("@@ one", "+added"),  # nowhere
        ("-two", "+2", "*** End of File"),  # not at the end
    ],
)
def test_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(ToolError) as caught:
        applied("one\ntwo\nthree\n", codex(*lines))
    assert caught.value.hint


def test_lines_added_to_an_empty_file_and_to_an_end() -> None:
    assert applied("", codex("+one")) == "one\n"
    assert applied("zero", codex("+one")) == "zero\none"


TABLE = 'D = {\n    1: "a one",\n    2: "b two",\n}\n'


@each_case("added", ['    3: "c three",', '4:     3: "c three",'])
def test_copied_numbers_are_not_those_of_added_lines(added: str) -> None:
    lines = [f" {n}: {line}" for n, line in enumerate(TABLE.splitlines(), 1)]
    patch = codex("@@", *lines[:3], f"+{added}", lines[3])
    assert applied(TABLE, patch) == TABLE.replace("}", '    3: "c three",\n}')


def test_added_lines_without_numbers_keep_their_indentation() -> None:
    text = "def f():\n    one = 1\n    two = 2\n"
    patch = codex("@@", " 2|    one = 1", "+    more = 1", " 3|    two = 2")
    assert applied(text, patch) == "def f():\n    one = 1\n    more = 1\n    two = 2\n"


def test_copied_numbers_only_in_a_search() -> None:
    block = "f\n<<<<<<< SEARCH\n3: def f():\n4:     return 1\n=======\n{}\n>>>>>>> REPLACE\n"
    text = "\n\ndef f():\n    return 1\n"
    new = "def f():\n    return {\n    3: 1,\n    }"
    assert applied(text, block.format(new)) == f"\n\n{new}\n"
    with pytest.raises(ToolError, match="not clear"):
        applied(text, block.format("x = {\n3: 1,\n}"))


NOTHING_AROUND = {
    "@@ -2,0 +3,1 @@\n+x\n": "a\nb\nx\nc\nd\n",
    "@@ -0,0 +1 @@\n+x\n": "x\na\nb\nc\nd\n",
    "@@ -4,0 +5 @@\n+x\n": "a\nb\nc\nd\nx\n",
    "@@ -0,0 +1 @@\n+x\n@@ -2,0 +4,2 @@ def f\n+y\n+z\n@@ -4 +7,0 @@\n-d\n": "x\na\nb\ny\nz\nc\n",
}


@each_case("patch", NOTHING_AROUND)
def test_added_lines_with_none_around(patch: str) -> None:
    assert applied("a\nb\nc\nd\n", f"--- a/f\n+++ b/f\n{patch}") == NOTHING_AROUND[patch]


@each_case(
    "patch",
    [
        "@@ -5,0 +6 @@\n+x\n",  # the file has 4 lines
        "@@ -4,1 +4,2 @@\n+x\n",  # a line around is missing
        "@@ -1 +1 @@\n-c\n+C\n@@ -2,0 +3 @@\n+x\n",  # c is not line 1, so what is line 2?
    ],
)
def test_added_lines_without_a_place(patch: str) -> None:
    with pytest.raises(ToolError) as caught:
        applied("a\nb\nc\nd\n", f"--- a/f\n+++ b/f\n{patch}")
    assert caught.value.hint


def test_a_diff_of_git_without_context(tmp_path: Path) -> None:
    text = "".join(f"line {n % 7}\n" for n in range(60))
    after = text.replace("line 3\n", "line 3\nadded\n").replace("line 5\n", "", 4) + "end"
    (tmp_path / "old").write_text(text)
    (tmp_path / "new").write_text(after)
    diff = subprocess.run(
        ["git", "diff", "-U0", "--no-index", "old", "new"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    ).stdout
    assert applied(text, diff) == after
