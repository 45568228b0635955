"""Whose a member is, asked of the project's own TypeScript within the boundary."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tools.code.programs import NODE, fill
from tests.tools.code.typescript import PACKAGE
from toolcrib import Toolbox
from toolcrib.code.javascript import types

pytestmark = [
    pytest.mark.rows("C083", "E40"),
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
]

SHOP = {
    "src/job.ts": """export interface Runs { run(n: number): void }
export class Job implements Runs { run(n: number) { console.log(n); } }
export class Other { run() {} }
export function make(): Job { return new Job(); }
export const list: Job[] = [make()];
""",
    "src/use.ts": """import { Job, Other, Runs, list, make } from './job';
make().run(1);
for (const one of list) one.run(2);
list.map((j) => j.run(3));
declare const other: { o: Other; r: Runs; any: any };
other.o.run();
other.r.run(4);
other.any.run(5); declare const shaped: { run(n: number): void }; shaped.run(7);
async function f(p: Promise<Job>) { '\U0001f600'; (await p).run(6); const { run } = await p; }
""",
}
OF_JOB = {"name": "run", "path": "src/job.ts", "line": 2}


def lines(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(Path(row["path"]).name, row["line"]) for row in rows if row["kind"] != "definition"]


async def uses(folder: Path) -> dict[str, Any]:
    async with Toolbox({"policy": {"default": "allow"}}, workspace=folder) as box:
        result = await box.call("find_usages", OF_JOB)
    assert result.error is None, result.error
    return {**result.data, "text": result.text}


def project(folder: Path, **more: str) -> Path:
    """A project whose compiler is the real one."""
    if not PACKAGE.is_dir():
        pytest.skip("scripts/install-node-tools was not run")
    fill(folder, SHOP | more)
    library = folder / "node_modules" / "typescript" / "lib"
    library.mkdir(parents=True)
    for file in [PACKAGE / "lib" / "typescript.js", *(PACKAGE / "lib").glob("lib*.d.ts")]:
        shutil.copy(file, library)
    return folder


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
async def test_types_tell_whose_a_member_is(tmp_path: Path, ends: str) -> None:
    folder = project(tmp_path / "ws")
    for name, text in SHOP.items():
        (folder / name).write_bytes(text.replace("\n", ends).encode())
    found = await uses(folder)

    assert lines(found["certain"]) == [("use.ts", n) for n in (2, 3, 4, 9, 9)]
    # The interface may be implemented by others, and nobody knows what `any` is.
    assert lines(found["possible"]) == [
        ("job.ts", 1),
        *(("use.ts", n) for n in (7, 8, 8, 8)),
    ]
    assert "types by TypeScript 5." in found["text"]
    assert "1 place of others left out" in found["text"]
    assert not [why for why in found["obstacles"] if ":3: whose" in why]


async def test_types_of_plain_javascript_and_its_comments_tell_it_too(tmp_path: Path) -> None:
    folder = project(tmp_path / "ws")
    shutil.rmtree(folder / "src")
    fill(
        folder,
        {
            "src/job.ts": "\nexport class Job { run() {} }\nexport class Other { run() {} }\n",
            "src/a.js": "import { Job } from './job';\nconst made = () => new Job();\n"
            "made().run();\n/** @param {Job} job */\nexport function f(job) { job.run(); }\n"
            "export const g = (job) => job.run();\n",
        },
    )
    found = await uses(folder)

    assert lines(found["certain"]) == [("a.js", 3), ("a.js", 5)]
    assert lines(found["possible"]) == [("a.js", 6)]


HOSTILE = {
    "writes": "require('fs').writeFileSync('src/job.ts', '');",
    "answers nonsense": "process.stdout.write('{\"verdicts\": [1, 2]}'); process.exit(0);",
    "never ends": "for (;;) {}",
    "floods": "for (;;) require('fs').writeSync(1, 'x'.repeat(65536));",
    "has no language service": "module.exports = {};",
}


async def test_where_runs_are_switched_off_no_compiler_runs(tmp_path: Path) -> None:
    folder = project(tmp_path / "ws")
    config = {"policy": {"default": "allow"}, "switches": {"runs": False}}
    async with Toolbox(config, workspace=folder) as box:
        result = await box.call("find_usages", OF_JOB)

    assert len(result.data["possible"]) == 11


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_compiler_changes_nothing(
    tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(types, "MAX_SECONDS", 2.0)
    folder = tmp_path / "ws"
    fill(folder, SHOP | {types.COMPILER: code})
    found = await uses(folder)

    assert (folder / "src/job.ts").read_text() == SHOP["src/job.ts"]
    assert lines(found["certain"]) == []
    assert len(found["possible"]) == 11
    assert "types by" not in found["text"]


async def test_without_a_boundary_no_compiler_of_the_project_runs(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    trace = tmp_path / "ran"
    fill(folder, SHOP | {types.COMPILER: f"require('fs').writeFileSync({str(trace)!r}, '');"})
    config = {"policy": {"default": "allow"}, "run": {"level": "none"}}
    async with Toolbox(config, workspace=folder) as box:
        result = await box.call("find_usages", OF_JOB)

    assert len(result.data["possible"]) == 11
    assert not trace.exists()
