"""Lines that stand for text left out, and lines that only look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each_case
from toolcrib.files.edits.left_out import placeholder

pytestmark = pytest.mark.rows("C005", "E05")

LONG = "line\n" * 44
NEW = "class Item:\n    pass\n\n{}\n"

LEFT_OUT = """
# ... other methods ...
# ... (unchanged)
# rest of the code unchanged
# (rest of the code remains the same)
# existing code
# existing code here
# <existing code>
# [rest of the methods]
# other methods remain unchanged
# unchanged
# same as before
# Remaining code unchanged
/* ... existing styles ... */
/* rest of the code unchanged */
// rest of the code
// other functions remain the same
<!-- rest of the content -->
(rest unchanged)
... (lines 5-30 unchanged)
# ... (unchanged)
# ... keep existing logic ...
# ... and so on
# .. existing code ..
# (existing code)
# rest of the function unchanged
pass  # ... existing code ...
# ... existing code ...
# ... rest of the file unchanged ...
# The rest of the code stays the same.
// ... keep the rest of the file as is
{/* ... existing JSX ... */}
// [existing imports]
# ... previous code ...
# --- rest of the file unchanged ---
// ...existing code...
# ...existing code...
-- rest of the query unchanged
[rest of the file unchanged]
[... rest of the document ...]
... rest of the file ...
(remaining content unchanged)
// Other methods remain the same as before
# ... (rest of the class remains unchanged) ...
# keep existing code
# All other code remains unchanged
// the rest remains the same
# Rest of your code here
# ... more code ...
<!-- ... existing content ... -->
/* existing styles remain unchanged */
# (lines 10-20 unchanged)
// lines 10 to 20 unchanged
# ... etc ...
# code omitted for brevity
# ... omitted for brevity ...
* ... rest of the code ...
% ... rest of the document unchanged
; existing code here
return x  // ... rest unchanged
rest of the code remains unchanged
… rest of the file unchanged …
""".strip("\n").split("\n")

ONLY_DOTS = """
# ...
...
[...]
// ...
<!-- ... -->
/* ... */
""".strip("\n").split("\n")

TEXT = """
# unchanged since 1.2
def f(): ...
x: Callable[..., int]
...args
...rest
...rest,
...existing,
...prev, ...next
{...existing, a: 1}
(...rest) => rest
The rest of the file is unchanged.
Existing users keep their settings.
Values are unchanged where nothing is sent.
# Other methods
# other functions
# Same as above
# Original author: X
# Remaining items are handled by the caller.
# existing files are kept
# the rest of the arguments are passed on
# skip the rest of the line
# ... but the existing files stay where they are
# ../other/file
# ...except when the previous one is empty
- unchanged: no effect
status: unchanged
"unchanged"
unchanged
existing
omitted
same,
# same
# tests for existing users
## Remaining work
# Existing installations
print("...")  # prints dots
print("rest of the code")
# wait...
# Loading previous session...
console.log("... existing ...")
>>> ...
return self.rest
# previous value
# Same for the rest
// TODO: handle remaining entries
## Other
# rest
* the rest of the world
- [ ] existing code review process
# keep the same order as before
# keep existing values of the dict
(unchanged)x
<rest>
<existing/>
# see rest of file for usage
# else: unchanged, so return
// Omitted on purpose: see above
[unchanged]: https://x
(unchanged)
[unchanged]
{rest}
<same>
[omitted]
[previous]
(same)
[remaining]
""".strip("\n").split("\n")


@each_case("line", LEFT_OUT)
def test_left_out(line: str) -> None:
    assert placeholder(NEW.format(line), LONG) == line
    assert not placeholder(NEW.format(line), f"{LONG}    {line}\n")  # which stood there before


@each_case("line", TEXT)
def test_text_of_its_own(line: str) -> None:
    assert not placeholder(NEW.format(line), LONG, LONG)


@each_case("line", ONLY_DOTS)
def test_dots_stand_for_lines_that_are_lost(line: str) -> None:
    assert placeholder(NEW.format(line), LONG, LONG) == line
    assert not placeholder(NEW.format(line), LONG, "one\ntwo\n")


@each_case(
    "text",
    [
        "def f():\n    ...\n",
        'class A(Protocol):\n    def f(self) -> int:\n        """What."""\n        ...\n',
        ">>> for x in y:\n...     pass\n...\n",
        "try:\n    x\nexcept E:\n    # never\n    ...\n",
    ],
)
def test_dots_of_a_language(text: str) -> None:
    assert not placeholder(text, LONG, LONG, "a.pyi")


def test_dots_that_end_a_document() -> None:
    assert not placeholder("---\na: 1\n...\n", LONG, LONG, "a.yaml")
    assert placeholder("---\na: 1\n...\n", LONG, LONG, "a.js")


def test_sources_of_this_repository() -> None:
    files = list((Path(__file__).parents[3] / "src").rglob("*.py"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert len(files) > 500
    assert [found for text in texts if (found := placeholder(text, ""))] == []
