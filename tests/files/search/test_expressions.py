"""Expressions without RE2, as on systems for which it has no wheel: the same lines are found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, json, sys
if sys.argv[2] == "without":
    sys.modules["re2"] = None  # an import of it fails, as where it is not installed
from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.files.search.globs import Globs, IgnoreRule, IgnoreRules
from toolcrib.files.search.hits import spans
from toolcrib.files.search.pattern import pattern_of

TEXT = "def foo(x):\\n\\n  gr\\u00f6\\u00dfe Foo_bar 42\\r\\nbeta-7 <b>\\n"
TEXT = (TEXT + "\\t\\u0663 a|b\\n[x]").encode()
PATTERNS = [
    "foo", r"foo\\b", r"\\bfoo", r"\\w+\\s\\d+$", "GR\\u00d6", r"^\\s*$", r"[^a-z]\\d",
    r"\\<Foo", r"<b>$",
    r"a\\|b", r"[[:alpha:]]+-\\d", r"\\d", "(", "(?=x)", r"\\pL{4}", "x]",
    r"\\Abeta", "[]x]", r"\\S+\\W",
]
PATHS = ["a.py", "b/c<d>.txt", "x.log", "keep.log", "out/z", "n\\u00f6/A.PY", "e f.md", "b/c~.md"]
GLOBS = ["*.py", "**/*<d>*", "{a,x}*", "b/", "!*.log", "n?/*", "[a-b]*", "*~*", "e f*"]
RULES = ["*.log", "!keep.log", "out/", "/b/c*", "# no", "*\\\\<d>*"]

found = {}
for text in PATTERNS:
    for literal in (False, True):
        pattern = pattern_of(text, literal=literal)
        lines = [(start, end) for start, end, _ in spans(TEXT, pattern)]
        found[f"{text} {literal}"] = [pattern.literal, lines]
for glob in GLOBS:
    globs = Globs([glob])
    found[glob] = [path for path in PATHS if globs.fits(path)]
    if globs.wanted:
        lines = globs.among("\\n".join(PATHS).encode())
        found[f"among {glob}"] = [line.decode() for line in lines]
rules = IgnoreRules([rule for text in RULES if (rule := IgnoreRule.of(text))], "")
found["ignored"] = [rules.verdict(path.encode()) for path in PATHS]

async def call():
    config = Config.load({"workspace": {"roots": [sys.argv[1]]}})
    async with Toolbox(config=config, profile="all") as box:
        for tool, arguments in (
            ("search_files", {"pattern": r"\\w+ \\d"}),
            ("find_files", {"pattern": "*.txt"}),
            ("project_overview", {}),
            ("replace_in_files", {"pattern": "answer 4", "replacement": "b", "literal": True}),
        ):
            result = await box.call(tool, arguments)
            found[tool] = [result.error is None, result.text]

asyncio.run(call())
print(json.dumps(found))
"""


def test_without_re2_the_same_is_found(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("plain\nanswer 42\n")
    (root / ".gitignore").write_text("*.log\n")
    (root / "b.log").write_text("answer 43\n")
    answers = []
    for engine in ("with", "without"):
        command = [sys.executable, "-P", "-c", PROGRAM, str(root), engine]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    expected, found = answers
    assert {k: (v, found[k]) for k, v in expected.items() if v != found[k]} == {}
    assert "answer 42" in found["search_files"][1]
    assert "43" not in found["search_files"][1]
