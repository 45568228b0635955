"""Runs attempts and tasks in one way and says what came of each.

    python -m tests.escapes.runner WAY FILE --base FOLDER [--jobs N] [--only ID,ID,benign]

WAY is bare, strong, kernel or bwrap; the answers are lines of JSON in FILE. The process is
started anew for each way, so that its environment holds a secret from its very start.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.escapes.attempt import Attempt, command
from tests.escapes.battery import ATTEMPTS, ROUNDS
from tests.escapes.benign import BENIGN
from tests.escapes.looking import state
from tests.escapes.watcher import Seen, Watcher
from tests.escapes.ways import Bare, Bubblewrap, Done, SandboxKind, Tool
from tests.escapes.world import World, libc

SECRET = "ESCAPES_API_KEY"
SUBREAPER = 36


@dataclass
class Answer:
    """What came of one attempt.

    Attributes:
        evidence: what shows that it got out.
        twin: "" where its twin worked, else what went wrong.
        layer: what stopped it, as far as that can be told.
    """

    id: str
    evidence: list[str] = field(default_factory=list)
    twin: str = ""
    layer: str = ""
    seconds: float = 0.0


class Runner:
    """Runs attempts, each in a world of its own.

    Args:
        way: how.
        name: of the way.
        base: a folder for all worlds.
        environment: the secret in our environment.
    """

    def __init__(self, method: SandboxKind, name: str, base: Path, environment: str) -> None:
        self.method, self.name, self.base = method, name, base
        self.watcher = Watcher()
        self.common = {name: secrets.token_hex(16) for name in ("descriptor", "data", "config")}
        self.common["environment"] = environment
        self.shared = {
            "config": Path(os.environ["TOOLCRIB_CONFIG"]),
            "data": Path(os.environ["TOOLCRIB_DATA"]) / "approvals.txt",
        }
        for kind, path in self.shared.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {self.common[kind]}\n")
        self._twins: dict[tuple[object, ...], asyncio.Task[str]] = {}
        self._sharing = asyncio.Lock()
        self._leave_open()

    def _leave_open(self) -> None:
        """Files that a careless server holds open."""
        folder = self.base / "open"
        folder.mkdir()
        (folder / "secret.txt").write_text(self.common["descriptor"])
        for path in (folder, folder / "secret.txt"):
            os.set_inheritable(os.open(path, os.O_RDONLY), True)

    def world(self, slot: Path, victim: bool) -> World:
        return World(slot, self.base / "git", self.common, self.shared, victim=victim)

    async def attempt(self, attempt: Attempt, slot: Path, *, twins: bool) -> Answer:
        began = time.monotonic()
        world = await asyncio.to_thread(self.world, slot, attempt.victim)
        try:
            async with self._sharing if attempt.target in self.shared else nullcontext():
                evidence, done = await self._run(attempt, world)
        finally:
            await asyncio.to_thread(world.close)
        twin = await self._twin(attempt, slot) if twins else ""
        layer = done.layer or refusal(done.output)
        return Answer(attempt.id, evidence, twin, layer, round(time.monotonic() - began, 3))

    async def _run(self, attempt: Attempt, world: World) -> tuple[list[str], Done]:
        seen = Seen(
            world.token.encode(),
            world.number.encode(),
            alone=attempt.alone,
            closely=bool(attempt.held or attempt.sees or attempt.over),
        )
        if {"disk", "files", "largest"} & attempt.over.keys():
            runs = Path(os.environ["TOOLCRIB_DATA"]) / "runs"
            seen.folders = (str(world.workspace), str(runs))
        if {"refused", "aio"} & attempt.over.keys():
            seen.refused = world.place("notes")
        before = state(world.workspace / attempt.leaves)
        argv = command(attempt.language, attempt.body, world.token)
        self.watcher.begin(seen)
        try:
            done = await self.method.run(attempt, world, argv, attempt.target)
            alive = await asyncio.to_thread(self.watcher.finish, seen)
            evidence = [f"{len(alive)} of its processes go on"] if alive else []
        except BaseException:
            await asyncio.to_thread(self.watcher.finish, seen)
            raise
        finally:
            await asyncio.to_thread(self.watcher.kill, seen)
        shared = attempt.target if attempt.target in self.shared else ""
        evidence += await asyncio.to_thread(world.evidence, done.output, shared=shared)
        if shared:
            self.shared[attempt.target].write_text(f"# {self.common[attempt.target]}\n")
        if attempt.leaves and state(world.workspace / attempt.leaves) != before:
            evidence.append(f"left: {attempt.leaves}")
        return evidence + self._seen(attempt, seen, done, world), done

    def _seen(self, attempt: Attempt, seen: Seen, done: Done, world: World) -> list[str]:
        found = []
        if attempt.held:
            pattern, written = attempt.held
            for link, writes in seen.links:
                if re.search(pattern, link) and (writes or not written):
                    found.append(f"it holds {link}")
        seen.note("output", done.written)
        seen.note("wall", done.seconds)
        for name, maximum in attempt.over.items():
            if seen.maximum.get(name, 0) > maximum:
                found.append(f"{name}: {seen.maximum[name]:,.1f}, and not {maximum:,.0f}")
        tokens = [line for line in seen.mounts if line != "pivot"]
        hosts = 0 if self.name in ("bare", "kernel") else 1
        signs = {
            "mount": bool(tokens),
            "pivot": "pivot" in seen.mounts and self.name == "bare",
            "root": any(root.endswith("/sub") for root in seen.roots),
            "uid": os.getuid() != 0 and 0 in seen.uids,
            "uts": len(seen.hosts) > hosts,
            "personality": any(int(p or "0", 16) & 0x40000 for p in seen.personalities),
            "pushed": b"PUSHED" in done.output,
            "kernel log": _kernel_log(world.workspace),
        }
        return found + [f"seen: {name}" for name in sorted(attempt.sees) if signs[name]]

    async def _twin(self, attempt: Attempt, slot: Path) -> str:
        body = attempt.twin.body or attempt.body
        key = (
            attempt.language,
            body,
            attempt.twin.place,
            attempt.terminal,
            *attempt.limits.items(),
        )
        if key not in self._twins:
            self._twins[key] = asyncio.ensure_future(self._run_twin(attempt, body, slot))
        return await self._twins[key]

    async def _run_twin(self, attempt: Attempt, body: str, slot: Path) -> str:
        world = await asyncio.to_thread(self.world, slot, False)
        place = attempt.twin.place
        try:
            argv = command(attempt.language, body, world.token)
            done = await self.method.run(attempt, world, argv, place)
            text = done.output.decode("utf-8", "replace")
            if not place:
                good = "ok" in text.split()[-1:] or text.strip().endswith("ok")
            elif place in ("new", "inner"):
                path = world.workspace / {"new": "new.txt", "inner": "plain.txt"}[place]
                good = not path.exists() or path.read_text() != "plain text\n" or _touched(path)
                good = good and (path.exists() or place == "inner")
            else:
                good = world.nonce in text
            return "" if good else f"{done.layer} {text[-300:]}".strip() or "no output"
        finally:
            await asyncio.to_thread(world.close)

    async def benign(self, name: str, slot: Path) -> Answer:
        argv, wanted = BENIGN[name]
        world = await asyncio.to_thread(self.world, slot, False)
        began = time.monotonic()
        try:
            plain = Attempt(name, "", "shell", "", ATTEMPTS[0].twin, seconds=40)
            done = await self.method.run(plain, world, argv, "")
            text = done.output.decode("utf-8", "replace").strip()
            wrong = "" if text.endswith(wanted) else text[-400:] or "no output"
            return Answer(f"benign {name}", [], wrong, done.layer, time.monotonic() - began)
        finally:
            await asyncio.to_thread(world.close)


def refusal(output: bytes) -> str:
    """What the program was told: the error of the refused call."""
    found = re.search(rb"refused: (?:\w+ )?(E[A-Z]+)", output)
    names = {
        "ENOENT": "not there", "ESRCH": "not there", "EPERM": "not permitted",
        "EACCES": "no access", "ENOSYS": "no such call", "EROFS": "read only",
    }  # fmt: skip
    code = found[1].decode() if found else ""
    return names.get(code, code)


def _touched(path: Path) -> bool:
    status = path.lstat()
    return status.st_mode & 0o777 != 0o600 or status.st_mtime < 10 or bool(os.listxattr(path))


def _kernel_log(workspace: Path) -> bool:
    """Whether what it wrote down is what the kernel says."""
    try:
        theirs = (workspace / "kernel.log").read_bytes().splitlines()
    except OSError:
        return False
    buffer = ctypes.create_string_buffer(1 << 20)
    size = libc.klogctl(3, buffer, len(buffer))
    return size > 0 and any(len(line) > 20 and line in buffer.raw[:size] for line in theirs[:50])


def method_named(name: str) -> SandboxKind:
    if name == "bare":
        return Bare()
    if name == "bwrap":
        from toolcrib.execution.sandbox.sandbox import candidates

        return Bubblewrap(candidates()[-1])
    return Tool("strong" if name == "strong" else "kernel")


async def work(arguments: argparse.Namespace, base: Path) -> None:
    environment = os.environ[SECRET]
    runner = Runner(method_named(arguments.method), arguments.method, base, environment)
    only = set(filter(None, arguments.only.split(",")))
    chosen = [
        attempt
        for attempt in ROUNDS[arguments.round]
        if (not only or attempt.id in only) and attempt.machine in ("", platform.machine())
    ]
    with Path(arguments.file).open("w") as file:

        def say(answer: Answer) -> None:
            file.write(json.dumps(asdict(answer)) + "\n")
            file.flush()

        slots: asyncio.Queue[Path] = asyncio.Queue()
        for number in range(arguments.jobs):
            slots.put_nowait(base / f"slot{number}")

        async def one(attempt: Attempt) -> None:
            slot = await slots.get()
            try:
                async with asyncio.timeout(60):
                    answer = await runner.attempt(attempt, slot, twins=arguments.method != "bare")
            except Exception as error:
                answer = Answer(attempt.id, [], f"{type(error).__name__}: {error}"[:500])
            slots.put_nowait(slot)
            say(answer)

        async def task(name: str) -> None:
            slot = await slots.get()
            say(await runner.benign(name, slot))
            slots.put_nowait(slot)

        benign = (
            [] if arguments.method == "bare" or (only and "benign" not in only) else list(BENIGN)
        )
        together = [attempt for attempt in chosen if not attempt.alone]
        await asyncio.gather(*map(one, together), *map(task, benign))
        for attempt in chosen:
            if attempt.alone:
                await one(attempt)
    await runner.method.close()
    runner.watcher.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=["bare", "strong", "kernel", "bwrap"])
    parser.add_argument("file")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--round", default="first", choices=ROUNDS)
    parser.add_argument("--base", required=True)
    arguments = parser.parse_args()
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    os.umask(0o022)
    base = Path(tempfile.mkdtemp(prefix="escapes-", dir=arguments.base))
    os.environ["TOOLCRIB_CONFIG"] = str(base / "toolcrib" / "config.toml")
    os.environ["TOOLCRIB_DATA"] = str(base / "data")
    try:
        os.system(
            f"git init -q {base}/g && mv {base}/g/.git {base}/git && rm -r {base}/git/hooks/*"
        )
        asyncio.run(work(arguments, base))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
