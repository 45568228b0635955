"""Patches in the shapes that models write them: the edit that is meant is made, and no other."""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("E21", "E22")
COUNT = 200
MIN_DONE = 0.95


@dataclass(frozen=True)
class Wanted:
    """An edit of a file: the lines around it, what goes, what comes, where it stands."""

    text: str
    after: str
    section: str
    above: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    below: tuple[str, ...]
    first: int

    def signed(self, *, context: str = " ") -> list[str]:
        return [
            *(f"{context}{line}" for line in self.above),
            *(f"-{line}" for line in self.old),
            *(f"+{line}" for line in self.new),
            *(f"{context}{line}" for line in self.below),
        ]

    @property
    def before_lines(self) -> list[str]:
        return [*self.above, *self.old, *self.below]

    @property
    def after_lines(self) -> list[str]:
        return [*self.above, *self.new, *self.below]


def wanted(dice: random.Random) -> Wanted:
    """One edit in a program whose classes look alike."""
    lines = ['"""A module."""', "", "import json", ""]
    names = [f"Part{n}" for n in range(dice.randrange(2, 5))]
    places: list[tuple[int, str]] = []
    for name in names:
        lines += ["", f"class {name}:"]
        for method in ("load", "store", "close"):
            lines.append(f"    def {method}(self, value):")
            places.append((len(lines), f"class {name}:"))
            lines += [f"        result = {method}(value)", "        return result", ""]
    index, section = dice.choice(places)
    old = (lines[index],)
    new = tuple(f"        result = {dice.randrange(1000)}" for _ in range(dice.randrange(1, 4)))
    above, below = (lines[index - 1],), (lines[index + 1],)
    after = [*lines[:index], *new, *lines[index + 1 :]]
    text, done = "\n".join(lines) + "\n", "\n".join(after) + "\n"
    return Wanted(text, done, section, above, old, new, below, index - 1)


def unified(edit: Wanted, head: str, names: Sequence[str] = ("--- a/a.py", "+++ b/a.py")) -> str:
    return "\n".join([*names, *([head] if head else []), *edit.signed()]) + "\n"


def codex(edit: Wanted, head: str, body: Sequence[str] | None = None) -> list[str]:
    return [
        "*** Begin Patch",
        "*** Update File: a.py",
        head,
        *(body or edit.signed()),
        "*** End Patch",
    ]


def block(
    edit: Wanted,
    *,
    numbers: Callable[[int, str], str] | None = None,
    both: bool = False,
    head: Sequence[str] = (),
    marks: Sequence[str] = ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"),
    before: Sequence[str] = ("a.py",),
) -> str:
    # Blocks have no section: the lines above tell which of the places is meant.
    every = edit.text.split("\n")
    start = every.index(edit.section)
    old = every[start : edit.first + 3]
    new = [*every[start : edit.first + 1], *edit.new, *edit.below]
    if numbers:
        old = [numbers(start + at + 1, line) for at, line in enumerate(old)]
    if numbers and both:
        new = [numbers(start + at + 1, line) for at, line in enumerate(new)]
    return "\n".join([*before, marks[0], *head, *old, marks[1], *new, marks[2]]) + "\n"


def numbered_diff(edit: Wanted) -> str:
    got = difflib.unified_diff(
        edit.text.splitlines(), edit.after.splitlines(), "a/a.py", "b/a.py", lineterm="", n=3
    )
    return "\n".join(got) + "\n"


def shifted(edit: Wanted) -> str:
    """Line numbers that are wrong, and a section that is right."""
    return unified(edit, f"@@ -{edit.first + 900},3 +{edit.first + 900},3 @@ {edit.section}")


def padded(text: str, pad: str) -> str:
    return "\n".join(f"{pad}{line}" if line else line for line in text.split("\n"))


def headers_padded(edit: Wanted) -> str:
    lines = codex(edit, f"@@ {edit.section}")
    return "\n".join(f"  {line}  " if line.startswith("***") else line for line in lines)


SHAPES: dict[str, Callable[[Wanted], str]] = {
    "git": numbered_diff,
    "wrong numbers, section": shifted,
    "numbers without end": lambda e: unified(e, f"@@ -{e.first + 1},3 +{e.first + 1},3"),
    "@@ section @@": lambda e: unified(e, f"@@ {e.section} @@"),
    "@@ section without its end": lambda e: unified(e, f"@@ {e.section.rstrip(':')} @@"),
    "@@ ... @@": lambda e: _with_section(e, "@@ ... @@"),
    "@@ -?,? +?,? @@": lambda e: _with_section(e, "@@ -?,? +?,? @@"),
    "no line of @@": lambda e: _with_section(e, ""),
    "blank line first": lambda e: _with_section(e, "@@ -1 +1 @@\n"),
    "all padded": lambda e: padded(shifted(e), "    "),
    "escaped once more": lambda e: json.dumps(numbered_diff(e))[1:-1],
    "crlf": lambda e: numbered_diff(e).replace("\n", "\r\n"),
    "fenced": lambda e: f"Here it is:\n\n```diff\n{numbered_diff(e)}```\nThat is all.",
    "codex": lambda e: "\n".join(codex(e, f"@@ {e.section}")),
    "codex @@ section @@": lambda e: "\n".join(codex(e, f"@@ {e.section} @@")),
    "codex with numbers": lambda e: "\n".join(codex(e, f"@@ -{e.first + 1},3 +{e.first + 1},3 @@")),
    "codex without sentinels": lambda e: "\n".join(codex(e, f"@@ {e.section}")[1:-1]),
    "codex without beginning": lambda e: "\n".join(codex(e, f"@@ {e.section}")[1:]),
    "codex with padded headers": headers_padded,
    "codex, stars behind": lambda e: "\n".join(
        f"{line} ***" if line.startswith("***") else line for line in codex(e, f"@@ {e.section}")
    ),
    "codex, lines without a sign": lambda e: "\n".join(
        codex(e, f"@@ {e.section}", e.signed(context=""))
    ),
    "codex, section inside section": lambda e: "\n".join(
        codex(e, f"@@ {e.section}\n@@ {e.above[0].strip()}", e.signed()[1:])
    ),
    "codex, names of a diff": lambda e: "\n".join(
        codex(e, f"--- a/a.py\n+++ b/a.py\n@@ {e.section}")
    ),
    "codex in a shell": lambda e: (
        "apply_patch <<'EOF'\n" + "\n".join(codex(e, f"@@ {e.section}")) + "\nEOF\n"
    ),
    "block": block,
    "block with numbers |": lambda e: block(e, numbers=lambda n, line: f"{n} | {line}", both=True),
    "block with numbers, tab": lambda e: block(e, numbers=lambda n, line: f"{n:>6}\t{line}"),
    "block with numbers →": lambda e: block(e, numbers=lambda n, line: f"{n:>6}→{line}"),
    "block with start_line": lambda e: block(e, head=[f":start_line:{e.first + 1}", "-------"]),
    "block with padded marks": lambda e: block(
        e, marks=["  <<<<<<< SEARCH  ", "  =======", "  >>>>>>> REPLACE "]
    ),
    "block of a conflict": lambda e: block(
        e, marks=["<<<<<<< ORIGINAL", "=======", ">>>>>>> UPDATED"]
    ),
    "block of HEAD": lambda e: block(e, marks=["<<<<<<< HEAD", "=======", ">>>>>>> main"]),
    "block without words": lambda e: block(e, marks=["<<<<<<<", "=======", ">>>>>>>"]),
    "block of minus and plus": lambda e: block(
        e, marks=["------- SEARCH", "=======", "+++++++ REPLACE"]
    ),
    "block with numbers L12:": lambda e: block(
        e, numbers=lambda n, line: f"L{n}: {line}", both=True
    ),
    "block with numbers 12.": lambda e: block(e, numbers=lambda n, line: f"{n}. {line}"),
    "only the old name": lambda e: unified(e, f"@@ {e.section}", names=["--- a/a.py"]),
    "only the new name": lambda e: unified(e, f"@@ {e.section}", names=["+++ b/a.py"]),
    "diff --git without names": lambda e: unified(
        e,
        f"@@ -{e.first + 1},3 +{e.first + 1},3 @@ {e.section}",
        names=["diff --git a/a.py b/a.py"],
    ),
    "the number of a line in @@": lambda e: unified(e, f"@@ line {e.first + 1} @@"),
    "the name of a class in @@": lambda e: unified(e, f"@@ {e.section.split()[1].rstrip(':')} @@"),
    "section inside section, in a diff": lambda e: unified(
        e, f"@@ {e.section} @@\n@@ {e.above[0].strip()} @@"
    ).replace(f"\n {e.above[0]}\n", "\n"),
    "arguments of a call": lambda e: json.dumps({"patch": numbered_diff(e)}),
    "block, name in the mark": lambda e: block(
        e, before=(), marks=["<<<<<<< SEARCH a.py", "=======", ">>>>>>> REPLACE"]
    ),
    "block, name in the fence": lambda e: block(e, before=("```python a.py",)) + "```\n",
    "block, name as a heading": lambda e: (
        block(e, before=("### File: `a.py`", "```python")) + "```"
    ),
}


def _with_section(edit: Wanted, head: str) -> str:
    """All lines from the section on as lines that stay."""
    every = edit.text.split("\n")
    start = every.index(edit.section)
    above = tuple(every[start : edit.first + 1])
    longer = Wanted(
        edit.text, edit.after, edit.section, above, edit.old, edit.new, edit.below, start
    )
    return unified(longer, head)


def spoilt(edit: Wanted, patch: str, dice: random.Random) -> str:
    """The patch of another file: a line that has to be there is not."""
    there = edit.old[0].strip()
    other = there.replace("result", dice.choice(["outcome", "found", "x"]))
    assert there in patch
    return patch.replace(there, other, 1)


@pytest.fixture
async def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


async def put(box: Toolbox, file: Path, text: str) -> None:
    file.write_text(text)
    await box.call("read_file", {"path": file.name})


async def test_shapes_of_wanted_edits(ws: Path) -> None:
    dice = random.Random(15)
    names = list(SHAPES)
    refused, wrong = [], []
    file = ws / "a.py"
    async with Toolbox(workspace=ws) as box:
        for number in range(COUNT):
            edit, name = wanted(dice), names[number % len(names)]
            await put(box, file, edit.text)
            patch = SHAPES[name](edit)
            answer = await box.call("apply_patch", {"patch": patch, "path": "a.py"})
            if file.read_text() == edit.text:
                refused.append((name, answer.error and answer.error.message))
            elif file.read_text() != edit.after:
                wrong.append((name, patch))
            # The same for a file in which the line is another one.
            await put(box, file, edit.text)
            await box.call("apply_patch", {"patch": spoilt(edit, patch, dice), "path": "a.py"})
            if file.read_text() != edit.text:
                wrong.append((f"spoilt: {name}", patch))
    assert not wrong, f"{len(wrong)} wrong writes: {wrong[0]}"
    assert len(refused) <= COUNT * (1 - MIN_DONE), f"{len(refused)} of {COUNT}: {refused}"
