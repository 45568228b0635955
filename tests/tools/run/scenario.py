"""Uses the tools for running code on a workspace: `scenario.py ROOT LEVEL`; prints what fails.

A program of its own, so that it can run as another user.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from toolcrib import Toolbox
from toolcrib.core.result import Result

UNITTEST = """
import unittest
class T(unittest.TestCase):
    def test_ok(self): pass
    def test_bad(self): self.assertEqual(1, 2)
"""


class Scenario:
    """Calls tools and notes what is not as it should be."""

    def __init__(self, box: Toolbox, root: Path, level: str) -> None:
        self.box, self.root, self.level = box, root, level
        self.failed: list[str] = []

    async def call(self, name: str, /, **arguments: Any) -> Result:
        return await self.box.call(name, arguments)

    def check(self, what: str, result: Result, *, fine: bool) -> None:
        level = (result.data or {}).get("sandbox", {}).get("level", self.level)
        if not fine or result.error is not None or level != self.level:
            self.failed.append(f"{what}: {result.render()} {level}")

    async def run(self) -> list[str]:
        await self.code()
        await self.files()
        await self.git()
        await self.projects()
        await self.jobs()
        return self.failed

    async def code(self) -> None:
        output = await self.call("run_python", code="print('p')\n6 * 7")
        screen = ("[sandbox: kernel]" in output.text) == (self.level == "kernel")
        self.check("python", output, fine=output.text.startswith("p\n42\n") and screen)
        pipes = (
            "import subprocess as s\ns.run('echo a | tr a b', shell=True)\n"
            "from concurrent.futures import ThreadPoolExecutor as E\n"
            "print(sum(E(4).map(int, '123')))"
        )
        output = await self.call("run_python", code=pipes)
        self.check("pipes", output, fine="b\n6\n" in f"{output.data['stdout']}")
        output = await self.call("run_command", command="cat; echo e >&2; exit 3", input="in")
        self.check("command", output, fine=output.data["exit_code"] == 3 and "in" in output.text)
        if shutil.which("node", path="/usr/bin:/bin"):
            output = await self.call("run_javascript", code="console.log(require('path').sep)")
            self.check("javascript", output, fine=output.text.startswith("/\n"))

    async def files(self) -> None:
        (self.root / "a.txt").write_text("old\n")
        output = await self.call("run_command", command="echo new > a.txt; echo x > b.txt")
        self.check("changes", output, fine="a.txt changed" in output.text)
        undone = await self.call("undo_changes")
        back = (self.root / "a.txt").read_text() == "old\n" and not (self.root / "b.txt").exists()
        self.check("undo", undone, fine=back)
        pending = await self.call("run_command", command="rm a.txt", commit="ask")
        self.check(
            "held", pending, fine=pending.next is not None and (self.root / "a.txt").exists()
        )
        assert pending.next is not None
        applied = await self.call(pending.next.tool, **pending.next.arguments)
        self.check("applied", applied, fine=not (self.root / "a.txt").exists())
        never = await self.call("run_command", command="echo z > z.txt", commit="never")
        self.check("dropped", never, fine=not (self.root / "z.txt").exists())

    async def git(self) -> None:
        made = await self.call("run_command", command="mkdir g && cd g && git init -q .")
        self.check("git init", made, fine=(self.root / "g" / ".git" / "HEAD").exists())
        repository = self.root / "r"
        subprocess.run(["git", "init", "-q", str(repository)], check=True, timeout=20)
        line = "echo 1 > f && git add f && git -c user.name=n -c user.email=e@x commit -qm one"
        output = await self.call("run_command", command=line, cwd="r")
        log = subprocess.run(
            ["git", "-C", str(repository), "log", "--format=%s"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        self.check(
            "git commit", output, fine=output.data["exit_code"] == 0 and log.stdout == "one\n"
        )

    async def projects(self) -> None:
        (self.root / "u").mkdir()
        (self.root / "u" / "test_u.py").write_text(UNITTEST)
        output = await self.call("run_tests", path="u")
        self.check("tests", output, fine=(output.data["passed"], output.data["failed"]) == (1, 1))

    async def jobs(self) -> None:
        line = "echo one; touch up; sleep 1; echo two; exit 4"
        started = await self.call("run_command", command=line, background=True)
        self.check("background", started, fine="one" in started.text)
        text = await self.call("read_job", id=started.data["id"], text="two")
        self.check("text", text, fine="two" in text.text)
        done = await self.call("read_job", id=started.data["id"])
        ended = done.data["exit_code"] == 4 and (self.root / "up").exists()
        self.check("exit", done, fine=ended)
        screen = await self.call("start_terminal", command="cat")
        self.check("terminal", screen, fine=screen.data["running"])
        sent = await self.call("send_terminal", id=screen.data["id"], keys=["typed", "Enter"])
        self.check("keys", sent, fine="typed" in sent.text)
        stopped = await self.call("stop_job", id=screen.data["id"])
        self.check("stop", stopped, fine="stopped" in stopped.text)


async def main(root: str, level: str) -> None:
    config = {"store": {"url": f"sqlite:///{root}.db"}, "run": {"level": level}}
    async with Toolbox(config, workspace=root) as box:
        failed = await Scenario(box, Path(root), level).run()
    sys.stdout.write(json.dumps(failed))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
