"""TypeScript changed, then compiled and run: the compiler and the program say what they said."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.tools.code.programs import contents, fill
from tests.tools.code.typescript import SHOP, compiled
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.rows("E41", "C083"), pytest.mark.timeout(400)]

NAMED = re.compile(
    r"\b(?:function|class|interface|type|enum|namespace|const|let)\s+(?!enum\b)([A-Za-z_]\w*)"
    r"|^  (?:(?:private|protected|public|static|readonly|abstract|get|set)\s+)*(#?[a-z]\w*)\s*[(:=!?]",
    re.MULTILINE,
)
WORDS = frozenset(
    ["constructor", "if", "for", "return", "throw", "function", "infer", "descriptor"]
)


def symbols() -> list[tuple[str, int, str]]:
    found = []
    for path, text in SHOP.items():
        if not path.endswith((".ts", ".tsx")) or path.endswith(".d.ts"):
            continue
        seen = set()
        for match in NAMED.finditer(text):
            name = match[1] or match[2]
            line = 1 + text.count("\n", 0, match.start(1) if match[1] else match.start(2))
            if name not in WORDS and (name, line) not in seen:
                seen.add((name, line))
                found.append((path, line, name))
    return found


PART = slice(1, None, 4)
"""All of them take minutes; each was tried, and this is a part of every file."""


async def test_every_name_can_get_another_or_is_refused(
    ws: Path, box: Toolbox, tmp_path: Path
) -> None:
    fill(ws, SHOP)
    before = contents(ws)
    projects = tmp_path / "projects"
    fill(projects / "before", before)
    done: list[str] = []
    refused: dict[str, str] = {}
    for path, line, name in symbols()[PART]:
        new = f"{name}Renamed"
        given: dict[str, Any] = {"path": path, "line": line, "name": name, "new_name": new}
        result = await box.call("rename_symbol", given)
        label = f"{Path(path).stem}-{line}-{name.strip('#')}"
        if result.error is not None:
            refused[label] = result.error.message
            assert contents(ws) == before
            continue
        done.append(label)
        fill(projects / label, contents(ws))
        undone = await box.call("undo_changes", {})
        assert undone.error is None
        assert contents(ws) == before
    reported = compiled(projects)
    reply = reported.pop("before")
    assert reply["messages"] == []
    assert reply["status"] == 0, reply["error"]
    wrong = {
        label: (each["messages"][:3], each["error"][-300:], each["said"])
        for label, each in reported.items()
        if each["messages"] or each["said"] != reply["said"]
    }
    assert not wrong
    assert len(done) > len(symbols()[PART]) / 2, refused


TOOLS_TS = {
    "src/tools.ts": """import { type Named, boxed, pair } from './generics';
import type { Point } from './same';
import { Level } from './namespaces';
import { Reader } from './overloads';

export const SCALE = 3;
export interface Size { width: number; height: number }
export type Sized = Size & Named;

/** The area. */
export function area(size: Size): number {
  return size.width * size.height;
}

export function twice(count: number): number;
export function twice(count: string): string;
export function twice(count: number | string): number | string {
  return typeof count === 'number' ? count * 2 : count + count;
}

export function report(sizes: Size[], title = 'report', note?: string): string {
  const names: string[] = [];
  let total = 0;
  for (const size of sizes) {
    total += area(size);
  }
  const head = `${title} ${names.length}`;
  const made = new Reader('text');
  const half = total / 2;
  const line = `${head}: ${half}`;
  const first = made.next(2);
  names.push(first);
  if (note === undefined) {
    return `${line} ${first}`;
  }
  const shown = note.trim();
  return `${line} ${shown} ${names.join()}`;
}

export const same = <T extends Named>(value: T): T => boxed(value).value;
""",
    "src/use.ts": """import { area, report, twice as double, type Size, type Sized } from './tools';
import * as all from './tools';
import { same } from './tools';
const size: Size = { width: 2, height: 3 };
const sized: Sized = { ...size, name: 'n' };
export const used = [area(size), double(2), double('a'), all.twice(4), report([size]), report([size], 'x', ' y '), same(sized).name, all.SCALE].join(' ');
""",
}
OPERATIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("move-area", "move_function", {"name": "area", "target": "src/deep/area.ts"}),
    ("move-twice", "move_function", {"name": "twice", "target": "src/twice.ts"}),
    ("move-size", "move_function", {"name": "Size", "target": "src/size.ts"}),
    ("move-sized", "move_function", {"name": "Sized", "target": "src/types.ts"}),
    ("move-same", "move_function", {"name": "same", "target": "src/deep/same.ts"}),
    ("move-report", "move_function", {"name": "report", "target": "src/report.ts"}),
    ("unused", "unused_import_cleanup", {}),
    ("extract-loop", "extract_function", {"start": 24, "end": 26, "new_name": "summed"}),
    ("extract-line", "extract_function", {"start": 29, "end": 30, "new_name": "halved"}),
    ("extract-first", "extract_function", {"start": 31, "end": 32, "new_name": "started"}),
    ("extract-body", "extract_function", {"start": 27, "end": 32, "new_name": "composed"}),
    ("extract-note", "extract_function", {"start": 36, "end": 36, "new_name": "trimmed"}),
]
REFUSED = frozenset(["extract-note"])
"""Its type is narrowed by a test before the line."""


async def test_refactored_typescript_compiles_and_says_the_same(
    ws: Path, box: Toolbox, tmp_path: Path
) -> None:
    main = SHOP["src/main.ts"] + "import { used } from './use';\nconsole.log(used);\n"
    fill(ws, {**SHOP, **TOOLS_TS, "src/main.ts": main})
    before = contents(ws)
    projects = tmp_path / "projects"
    fill(projects / "before", before)
    reported: dict[str, str] = {}
    for label, operation, more in OPERATIONS:
        given = {"path": "src/tools.ts", "operation": operation, **more}
        result = await box.call("refactor_code", given)
        if result.error is not None:
            reported[label] = result.error.message
            assert contents(ws) == before
            continue
        fill(projects / label, contents(ws))
        assert (await box.call("undo_changes", {})).error is None
        assert contents(ws) == before
    assert set(reported) == REFUSED, reported
    found = compiled(projects)
    reply = found.pop("before")
    assert reply["messages"] == []
    assert reply["status"] == 0, reply["error"]
    wrong = {
        label: (each["messages"][:3], each["error"][-300:])
        for label, each in found.items()
        if each["messages"] or each["said"] != reply["said"]
    }
    assert not wrong
    assert len(found) == len(OPERATIONS) - len(REFUSED)
