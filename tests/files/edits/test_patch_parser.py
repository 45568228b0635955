"""The forms in which models write patches."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.files.edits.patch_parser import FilePatch, Hunk, read_patch

pytestmark = pytest.mark.rows("E21", "E22")


def one(text: str) -> FilePatch:
    (file,) = read_patch(text)
    return file


DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


@each_case(
    "text",
    [
        DIFF,
        DIFF.replace("\n", "\r\n"),
        f"Here it is:\n\n```diff\n{DIFF}```\n- this is a list\n- and more",
        f"diff --git a/x.py b/x.py\nindex 12..34 100644\n{DIFF}",
        DIFF.replace("-1,3 +1,3", "-1,9 +1,7"),
        DIFF.replace("-1,3 +1,3", "-1 +1"),
        DIFF.replace("@@ -1,3 +1,3 @@", "@@ -1,3 +1,3 @@ class A:"),
        DIFF.replace("--- a/x.py", "--- a/x.py\t2024-01-01 10:00:00"),
        DIFF.replace("a/x.py", "x.py").replace("b/x.py", "x.py"),
        f"{DIFF}-- \n2.39.0\n",
    ],
)
def test_unified_diffs(text: str) -> None:
    file = one(text)
    assert (file.does, file.path, file.target) == ("update", "x.py", "")
    (hunk,) = file.hunks
    assert hunk.old == ["one", "two", "three"]
    assert hunk.new == ["one", "2", "three"]


def test_two_files_and_two_hunks() -> None:
    second = "--- a/y.sql\n+++ b/y.sql\n@@ -4,2 +4,2 @@\n--- old comment\n+++ new comment\n last\n"
    more = "@@ -9,2 +9,1 @@\n nine\n-ten\n"
    first, other = read_patch(DIFF + more + second)
    assert [h.at for h in first.hunks] == [0, 8]
    assert other.path == "y.sql"
    assert other.hunks[0].old == ["-- old comment", "last"]
    assert other.hunks[0].new == ["++ new comment", "last"]


def test_new_deleted_and_renamed_files() -> None:
    text = (
        "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n"
        "@@ -0,0 +1,2 @@\n+one\n+two\n"
        "diff --git a/d.txt b/d.txt\ndeleted file mode 100644\n--- a/d.txt\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-gone\n"
        "diff --git a/o.txt b/p.txt\nsimilarity index 100%\nrename from o.txt\nrename to p.txt\n"
        'diff --git "a/q \\303\\251.txt" "b/q \\303\\251.txt"\n--- "a/q \\303\\251.txt"\n'
        '+++ "b/q \\303\\251.txt"\n@@ -1 +1 @@\n-a\n+b\n'
    )
    new, gone, moved, quoted = read_patch(text)
    assert (new.does, new.path, new.hunks[0].new) == ("add", "n.txt", ["one", "two"])
    assert (gone.does, gone.path, gone.checked) == ("delete", "d.txt", True)
    assert (moved.path, moved.target, moved.hunks) == ("o.txt", "p.txt", [])
    assert quoted.path == "q é.txt"


def test_no_last_line_end() -> None:
    file = one("--- x\n+++ x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n")
    assert file.hunks == [Hunk(["a"], ["b"], at=0, old_ended=False, new_ended=True)]


def test_codex() -> None:
    text = (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n"
        "@@ class A\n@@ def f\n one\n-two\n+2\n\n@@\n-last\n*** End of File\n"
        "*** Add File: n.txt\n+x\n+\n*** Delete File: d.txt\n*** End Patch\nEOF"
    )
    update, new, gone = read_patch(text)
    assert (update.path, update.target) == ("a.py", "b.py")
    assert update.hunks[0] == Hunk(["one", "two"], ["one", "2"], heads=["class A", "def f"])
    assert update.hunks[1] == Hunk(["last"], [], at_end=True)
    assert new.hunks[0].new == ["x", ""]
    assert gone.does == "delete"


BLOCK = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"


@each_case(
    "text",
    [
        f"src/a.py\n```python\n{BLOCK}```\n",
        f"```python\nsrc/a.py\n{BLOCK}```\n",
        f"### `src/a.py`:\n{BLOCK}",
        f"File: src/a.py\n{BLOCK}",
        "src/a.py\n------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n",
    ],
)
def test_blocks(text: str) -> None:
    file = one(text)
    assert file.path == "src/a.py"
    assert file.hunks == [Hunk(["old"], ["new"], ordered=False)]


def test_blocks_go_on_with_the_file() -> None:
    empty = "n.txt\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n"
    first, new = read_patch(f"a.py\n{BLOCK}\n{BLOCK}{empty}")
    assert len(first.hunks) == 2
    assert (new.does, new.path) == ("add", "n.txt")


@each_case(
    "text",
    [
        "",
        "just text",
        "*** Begin Patch\n*** Update File: a\n-x\n+y\n",  # cut off
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n@@\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n+x\nnot signed\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: a\n-x\n+y\n*** End Patch",
        "a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n",  # cut off
        "a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n=======\nnewer\n>>>>>>> REPLACE\n",
        "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\nunsigned\n+lost line\n",
        "diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n",
        "diff --git a/x b/y\ncopy from x\ncopy to y\n",
    ],
)
def test_what_is_no_whole_patch_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_patch(text)
    assert caught.value.hint


@given(st.lists(st.sampled_from([*DIFF.splitlines(), *BLOCK.splitlines(), "", "*** Begin Patch"])))
def test_anything_is_read_or_refused(lines: list[str]) -> None:
    with suppress(BadInput):
        assert read_patch("\n".join(lines))
