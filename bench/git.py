"""The git tools: tokens of a session against mcp-server-git, time against git itself.

    python bench/git.py --peer /path/to/mcp-server-git [--files 10000] [--rounds 9]

The peer is installed apart, since it needs an older MCP library. Both work on copies of one
repository in turns. Tokens are of all results of the session, by o200k; hunk bodies are the lines
of a patch below its `@@`. Times are the shortest of their rounds: other work on the machine
changes these least. Where the machine is busy, what they take of the processor says more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import bpe_openai

from toolcrib import Toolbox

ENCODING = bpe_openai.get_encoding("o200k_base")
PERSON = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
FUNCTION = '''

def task_{n}(values, limit={n}):
    """Add up to {n} values."""
    total = 0
    for value in values[:limit]:
        total += value * {n}
    return total
'''


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *PERSON, *args], cwd=folder, check=True, capture_output=True)


def history(folder: Path) -> None:
    """Forty commits over thirty files of Python."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.com")
    for number in range(40):
        place = folder / f"module_{number % 30}.py"
        text = place.read_text() if place.exists() else '"""A module."""\n'
        place.write_text(text + FUNCTION.format(n=number))
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"Add task {number}\n\nIt adds up values, {number} at most.")


def edit(folder: Path, number: int) -> None:
    place = folder / f"module_{number}.py"
    place.write_text(place.read_text().replace("total = 0", f"total = {number}"))


SESSION = [
    ("git_status", {}, "git_status", {}),
    ("git_log", {"limit": 10}, "git_log", {"max_count": 10}),
    (3,),
    ("git_status", {}, "git_status", {}),
    ("git_diff", {}, "git_diff_unstaged", {}),
    ("git_add", {"paths": ["module_3.py"]}, "git_add", {"files": ["module_3.py"]}),
    ("git_diff", {"staged": True}, "git_diff_staged", {}),
    ("git_commit", {"message": "Start at three"}, "git_commit", {"message": "Start at three"}),
    ("git_show", {}, "git_show", {"revision": "HEAD"}),
    ("git_branch", {"action": "create", "name": "t"}, "git_create_branch", {"branch_name": "t"}),
    ("git_checkout", {"branch": "t"}, "git_checkout", {"branch_name": "t"}),
    (4,),
    (5,),
    ("git_status", {}, "git_status", {}),
    ("git_diff", {}, "git_diff_unstaged", {}),
    ("git_add", {"paths": ["."]}, "git_add", {"files": ["."]}),
    ("git_commit", {"message": "Four and five"}, "git_commit", {"message": "Four and five"}),
    ("git_log", {"limit": 5}, "git_log", {"max_count": 5}),
    ("git_diff", {"range": "main"}, "git_diff", {"target": "main"}),
    ("git_branch", {}, "git_branch", {"branch_type": "all"}),
    ("git_checkout", {"branch": "main"}, "git_checkout", {"branch_name": "main"}),
    ("git_show", {"revision": "t"}, "git_show", {"revision": "t"}),
    ("git_status", {}, "git_status", {}),
]
"""Twenty calls, ours and the peer's; a number edits that file."""


class Peer:
    """mcp-server-git, spoken to over its pipes."""

    def __init__(self, program: str, repo: Path) -> None:
        self.repo = repo
        self.number = 0
        self.process = subprocess.Popen(
            [program, "--repository", str(repo)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        about = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def call(self, name: str, arguments: dict) -> str:
        given = {"name": name, "arguments": {"repo_path": str(self.repo), **arguments}}
        result = self.ask("tools/call", given)
        assert not result.get("isError"), result
        return "\n".join(part["text"] for part in result["content"])


def tokens(text: str) -> int:
    return len(ENCODING.encode(text, disallowed_special=()))


def without_bodies(text: str) -> str:
    """A result without the lines of hunks."""
    stored, inside = [], False
    for line in text.split("\n"):
        inside = line.startswith("@@") or (inside and line[:1] in ("+", "-", " ", "\\"))
        if not inside or line.startswith("@@"):
            stored.append(line)
    return "\n".join(stored)


async def session(program: str, folder: Path) -> None:
    history(folder / "one")
    shutil.copytree(folder / "one", folder / "two")
    peer = Peer(program, folder / "two")
    ours, theirs = [], []
    async with Toolbox(workspace=folder / "one") as box:
        for step in SESSION:
            if len(step) == 1:
                edit(folder / "one", step[0])
                edit(folder / "two", step[0])
                continue
            result = await box.call(step[0], step[1])
            assert result.error is None, result.render()
            ours.append(result.render())
            theirs.append(peer.call(step[2], step[3]))
    peer.process.kill()
    for label, form in (("with bodies", str), ("without bodies", without_bodies)):
        mine = sum(tokens(form(text)) for text in ours)
        other = sum(tokens(form(text)) for text in theirs)
        print(f"session of {len(ours)}, {label}: {mine} tokens, peer {other}: {mine / other:.2f}")


def processor_seconds() -> float:
    """Of this process and of the programs that it ran."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


async def times(folder: Path, files: int, rounds: int) -> None:
    repo = folder / "many"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    for number in range(files):
        place = repo / f"d{number % 100}" / f"{number}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{number}\n" * 20)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "many")
    for number in range(0, files, files // 20):
        (repo / f"d{number % 100}" / f"{number}.txt").write_text("changed\n")
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    async with Toolbox(workspace=repo) as box:
        for name in ("status", "diff"):
            bare, ours, cpu = [], [], [0.0, 0.0]
            await box.call(f"git_{name}")
            for _ in range(rounds):
                began, before = time.perf_counter(), processor_seconds()
                subprocess.run(
                    ["git", name], cwd=repo, capture_output=True, check=True, env=environment
                )
                bare.append(time.perf_counter() - began)
                cpu[0] += processor_seconds() - before
                began, before = time.perf_counter(), processor_seconds()
                await box.call(f"git_{name}")
                ours.append(time.perf_counter() - began)
                cpu[1] += processor_seconds() - before
            one, two = min(ours), min(bare)
            print(
                f"git_{name} on {files:,} files: {one * 1000:.0f} ms, git {two * 1000:.0f} ms: "
                f"{one / two:.2f}; of the processor {cpu[1] / rounds * 1000:.0f} ms to "
                f"{cpu[0] / rounds * 1000:.0f}: {cpu[1] / cpu[0]:.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", default="")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        os.environ["TOOLCRIB_DATA"] = f"{name}/state"
        os.environ["TOOLCRIB_CONFIG"] = f"{name}/state/config.toml"
        if given.peer:
            asyncio.run(session(given.peer, Path(name).resolve()))
        asyncio.run(times(Path(name).resolve(), given.files, given.rounds))


if __name__ == "__main__":
    main()
