"""Forty small tasks for a real small model: by toolcrib's agent, and by a bare loop beside it.

    python -m bench.small_models [--model qwen2.5-coder-0.5b] [--only WORD ...] [--ways agent bare]
    python -m bench.small_models --join FILE.json ...      # parts of a run that --json wrote

Needs xllamacpp (the extra `dev`) and weights (`python -m tests.models`). Each task has a folder
of its own and is looked at afterwards: what is in the folder, what the answer says. Steps are
answers of the model; tokens are those that it wrote, as its server counts them. `bare` is the
same model, tools and limits in a loop that hands calls on and mends nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servers.local_model import local_model, missing
from toolcrib.toolbox import Toolbox, openai_tools

MAX_STEPS = 12
MAX_TOKENS = 4_000
"""Written in one task."""
ANSWER_TOKENS = 400
TOOLS = (
    *("read_file", "write_file", "edit_file", "find_files", "list_directory", "search_files"),
    *("run_python", "make_directory", "move_path", "delete_path"),
)
Check = Callable[[Path, str], bool]


@dataclass(frozen=True, slots=True)
class Task:
    """A task, the files that it begins with, and whether it is done."""

    kind: str
    text: str
    check: Check
    files: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Ending:
    """How a task ended. `failure` is empty where it is done."""

    kind: str
    text: str
    failure: str
    steps: int
    tokens: int
    seconds: float
    answer: str
    reason: str = ""

    @property
    def is_honest(self) -> bool:
        """Done, or given up within the limits with words that say so."""
        within = self.steps <= MAX_STEPS and self.tokens <= MAX_TOKENS
        return within and self.failure in ("", "given up")


def says(*words: str) -> Check:
    """The answer has these words."""
    return lambda _, answer: all(word.casefold() in answer.casefold() for word in words)


def holds(name: str, *words: str, without: str = "") -> Check:
    """The file has these words."""

    def check(folder: Path, answer: str) -> bool:
        del answer
        path = folder / name
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        return (
            all(word in text for word in words)
            and bool(text)
            and (not without or without not in text)
        )

    return check


def gone(name: str) -> Check:
    """There is no such file."""
    return lambda folder, _: not (folder / name).exists()


def both(*checks: Check) -> Check:
    """All of them."""
    return lambda folder, answer: all(check(folder, answer) for check in checks)


LIST = {"shopping.txt": "milk\nbread\n12 eggs\nbutter\n"}
NOTES = {"notes.txt": "The meeting is on Tuesday.\nThe door code is 4711.\n"}
TREE = {
    "src/main.py": "import tools\n\nprint(tools.area(2, 3))\n",
    "src/tools.py": "def area(a, b):\n    return a * b\n\n\ndef edge(a):\n    return 4 * a\n",
    "docs/guide.md": "# Guide\n\nStart with main.py.\n",
    "docs/colours.md": "# Colours\n\nThe logo is teal.\n",
}
TABLE = {"sales.csv": "month,amount\nJanuary,120\nFebruary,80\nMarch,250\n"}
SETTINGS = {"app.ini": "[server]\nport = 8080\nname = alpha\n"}
LOG = {"app.log": "".join(f"{n} ok\n" for n in range(60)) + "61 ERROR disk full\n62 ok\n"}

TASKS = (
    Task("find", "Which files are in this folder?", says("shopping.txt"), LIST),
    Task("find", "Is there a file about colours? Name it.", says("colours.md"), TREE),
    Task("find", "In which folder is tools.py?", says("src"), TREE),
    Task("find", "How many Python files are there?", says("2"), TREE),
    Task("find", "Find the Markdown files and list their names.", says("guide", "colours"), TREE),
    Task("find", "What is the name of the CSV file here?", says("sales.csv"), TABLE),
    Task("find", "Is there a log file? What is it called?", says("app.log"), LOG),
    Task("read", "What is on the shopping list?", says("milk", "butter"), LIST),
    Task("read", "What is the door code in notes.txt?", says("4711"), NOTES),
    Task("read", "On which day is the meeting? See notes.txt.", says("tuesday"), NOTES),
    Task("read", "Which port does app.ini set?", says("8080"), SETTINGS),
    Task("read", "What colour is the logo? Look in docs/colours.md.", says("teal"), TREE),
    Task("read", "What does the function area in src/tools.py do?", says("multi"), TREE),
    Task("read", "Which month in sales.csv has the highest amount?", says("march"), TABLE),
    Task("compute", "Compute 1234 * 5678 with Python.", says("7006652")),
    Task("compute", "What is the sum of the amounts in sales.csv?", says("450"), TABLE),
    Task("compute", "How many lines does app.log have?", says("62"), LOG),
    Task("compute", "What is the 20th Fibonacci number, with F(1) = F(2) = 1?", says("6765")),
    Task("compute", "How many days are from 2024-02-01 to 2024-03-01? Use Python.", says("29")),
    Task("compute", "Sort 42, 7, 19, 3 with Python; name the result.", says("3", "7", "19", "42")),
    Task("edit", "Add 'cheese' to shopping.txt.", holds("shopping.txt", "milk", "cheese"), LIST),
    Task("edit", "Set the port in app.ini to 9090.", holds("app.ini", "9090", "alpha"), SETTINGS),
    Task("edit", "Create hello.txt with the text: Hello there", holds("hello.txt", "Hello there")),
    Task(
        "edit",
        "Remove bread from shopping.txt.",
        holds("shopping.txt", "milk", "butter", without="bread"),
        LIST,
    ),
    Task("edit", "Rename area to surface in src/tools.py.", holds("src/tools.py", "surface"), TREE),
    Task("edit", "Delete the file notes.txt.", gone("notes.txt"), NOTES),
    Task(
        "edit", "Write a Python file add.py with a function add(a, b).", holds("add.py", "def add")
    ),
    Task("search", "Which file mentions teal?", says("colours.md"), TREE),
    Task("search", "Search app.log for ERROR and tell what went wrong.", says("disk full"), LOG),
    Task("search", "Where is the function edge defined?", says("tools.py"), TREE),
    Task("search", "In which file is the port set?", says("app.ini"), SETTINGS | NOTES),
    Task("search", "Which file has the door code?", says("notes.txt"), NOTES | LIST),
    Task(
        "two steps",
        "Read notes.txt and write the door code into code.txt.",
        holds("code.txt", "4711"),
        NOTES,
    ),
    Task(
        "two steps",
        "Add up the amounts of sales.csv and write the sum to sum.txt.",
        holds("sum.txt", "450"),
        TABLE,
    ),
    Task(
        "two steps",
        "Copy the content of shopping.txt to list.txt.",
        both(holds("list.txt", "milk", "butter"), holds("shopping.txt", "milk")),
        LIST,
    ),
    Task(
        "two steps",
        "Find the file with ERROR and write its name to found.txt.",
        holds("found.txt", "app.log"),
        LOG | NOTES,
    ),
    Task(
        "two steps",
        "Set name in app.ini to beta, then tell me the port.",
        both(holds("app.ini", "beta"), says("8080")),
        SETTINGS,
    ),
    Task("nothing", "Say hello.", says("hello")),
    Task("nothing", "What is the capital of France?", says("paris")),
    Task(
        "nothing",
        "Which file holds the recipe for soup?",
        lambda _, answer: bool(GAVE_UP.search(answer)),
        LIST,
    ),
)
GAVE_UP = re.compile(
    r"\b(?:no|not|none|cannot|can't|could not|couldn't|unable|nothing|does(?:n't| not)|"
    r"failed|don't)\b",
    re.IGNORECASE,
)
UNFINISHED = {
    "step_limit": "step limit",
    "time_limit": "time limit",
    "token_limit": "token limit",
    "tool_budget": "too many calls",
    "repeated_call": "the same call again",
    "repeated_error": "the same error again",
    "format_errors": "calls that cannot be read",
    "no_calls": "words in place of calls",
    "no_answer": "no answer",
}


class Counted:
    """A model server, and what it has written so far."""

    def __init__(self, url: str) -> None:
        self.url = url

    def written(self) -> int:
        """Tokens that it wrote since it began."""
        with urlopen(f"{self.url}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        found = re.search(r"^llamacpp:tokens_predicted_total (\d+)", text, re.MULTILINE)
        return int(found[1]) if found else 0

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """One answer, without a stream."""
        request = Request(
            f"{self.url}/v1/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=600) as response:
            message: dict[str, Any] = json.load(response)["choices"][0]["message"]
        return message


def settings(url: str, seconds: float) -> dict[str, Any]:
    """What the tasks are run with."""
    return {
        "agent": {
            "base_url": f"{url}/v1",
            "steps": MAX_STEPS,
            "seconds": seconds,
            "first_seconds": seconds,
            "stall_seconds": seconds,
            "temperature": 0,
            "answer_tokens": ANSWER_TOKENS,
        }
    }


async def by_agent(server: Counted, task: Task, folder: Path, seconds: float) -> Ending:
    """A task given to an agent of toolcrib."""
    began, before = time.monotonic(), server.written()
    async with Toolbox(settings(server.url, seconds), workspace=folder) as box:
        arguments = {"task": task.text, "tools": list(TOOLS)}
        result = await box.call("delegate_task", arguments)
    data = result.data if isinstance(result.data, dict) else {}
    answer = str(data.get("answer", ""))
    reason = str(data.get("reason", result.error.code if result.error else ""))
    if data.get("status") == "completed":  # a last answer without tools counts as any other
        reason = "answered"
    return Ending(
        task.kind,
        task.text,
        failure(task, folder, answer, reason, int(data.get("tool_calls", 0))),
        int(data.get("steps", 0)),
        server.written() - before,
        time.monotonic() - began,
        answer,
        reason,
    )


async def by_bare_loop(server: Counted, task: Task, folder: Path, seconds: float) -> Ending:
    """The same task in a loop that hands on structured calls and nothing more."""
    began, before = time.monotonic(), server.written()
    messages: list[dict[str, Any]] = [{"role": "user", "content": task.text}]
    answer, reason, steps, made = "", "step_limit", 0, 0
    async with Toolbox(settings(server.url, seconds), workspace=folder) as box:
        offered = openai_tools([tool for tool in box.listed if tool.name in TOOLS])
        while steps < MAX_STEPS:
            if time.monotonic() - began > seconds:
                reason = "time_limit"
                break
            if server.written() - before > MAX_TOKENS:
                reason = "token_limit"
                break
            body = {"messages": messages, "tools": offered, "temperature": 0}
            try:
                reply = await asyncio.to_thread(server.ask, {**body, "max_tokens": ANSWER_TOKENS})
            except OSError:
                reason = "backend_error"
                break
            steps += 1
            messages.append(reply)
            if not reply.get("tool_calls"):
                answer, reason = reply.get("content") or "", "answered"
                break
            for call in reply["tool_calls"]:
                made += 1
                wanted = call["function"]
                result = await box.call(wanted["name"], wanted["arguments"])
                messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": result.render()}
                )
    return Ending(
        task.kind,
        task.text,
        failure(task, folder, answer, reason, made),
        steps,
        server.written() - before,
        time.monotonic() - began,
        answer,
        reason,
    )


def failure(task: Task, folder: Path, answer: str, reason: str, calls: int) -> str:
    """What went wrong, by kind; empty where the task is done."""
    if task.check(folder, answer):
        return ""
    if reason == "gave_up" or (reason in ("answered", "finished") and GAVE_UP.search(answer)):
        return "given up"
    if reason in UNFINISHED:
        return UNFINISHED[reason]
    if reason not in ("answered", "finished"):
        return f"broken: {reason}"
    return "wrong answer" if calls or task.kind == "nothing" else "answered without any tool"


Method = Callable[[Counted, Task, Path, float], Any]
WAYS: dict[str, Method] = {"agent": by_agent, "bare": by_bare_loop}


def run_all(
    server: Counted,
    tasks: Sequence[Task],
    method: Method,
    seconds: float,
    place: Path,
    write: Callable[[list[Ending]], None],
) -> list[Ending]:
    """Each task in a new folder, one after the other.

    All have the same path, so that the server need not read the same beginning anew.
    """
    found: list[Ending] = []
    for task in tasks:
        folder = place / "task"
        folder.mkdir()
        for name, text in task.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        ending: Ending = asyncio.run(method(server, task, folder, seconds))
        shutil.rmtree(folder)
        found.append(ending)
        write(found)
        print(
            f"  {task.kind:10} {ending.steps:3} steps {ending.tokens:5} tokens "
            f"{ending.seconds:6.1f} s  {ending.failure or 'done':26} {task.text[:60]}",
            flush=True,
        )
    return found


def report(name: str, found: Sequence[Ending]) -> None:
    """How many are done, how many ended as they should, and what went wrong."""
    done = sum(not one.failure for one in found)
    honest = sum(one.is_honest for one in found)
    print(f"{name}: {done} of {len(found)} done, {honest} done or given up within the limits")
    for kind, count in Counter(one.failure for one in found if one.failure).most_common():
        print(f"  {count:3}  {kind}")


def show_joined(names: Sequence[str]) -> None:
    """The report of several files together."""
    joined: dict[str, list[Ending]] = {}
    for name in names:
        for method, endings in json.loads(Path(name).read_text()).items():
            joined.setdefault(method, []).extend(Ending(**one) for one in endings)
    for method, endings in joined.items():
        report(method, endings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--only", nargs="*", default=[], help="kinds of tasks, or a part of a text")
    parser.add_argument("--part", default="1/1", help="such as 2/3: every third, from the second")
    parser.add_argument("--seconds", type=float, default=300, help="of one task")
    parser.add_argument("--ways", nargs="*", choices=tuple(WAYS), default=["agent"])
    parser.add_argument("--json", help="a file for the endings, written after each task")
    parser.add_argument("--join", nargs="*", help="show what such files hold together")
    options = parser.parse_args()
    if options.join:
        show_joined(options.join)
        return
    if why := missing(options.model):
        sys.exit(why)
    part, parts = map(int, options.part.split("/"))
    tasks = [
        task
        for task in TASKS
        if not options.only or any(w == task.kind or w in task.text for w in options.only)
    ][part - 1 :: parts]
    found: dict[str, list[Ending]] = {}
    with (
        tempfile.TemporaryDirectory() as state,
        tempfile.TemporaryDirectory() as place,
        local_model(options.model) as url,
    ):
        import os

        os.environ |= {"TOOLCRIB_DATA": state, "TOOLCRIB_CONFIG": f"{state}/config.toml"}
        folder = Path(place).resolve()
        for name in options.ways:
            print(name, flush=True)

            def write(endings: list[Ending], name: str = name) -> None:
                found[name] = endings
                if options.json:
                    listed = {key: [asdict(one) for one in some] for key, some in found.items()}
                    Path(options.json).write_text(json.dumps(listed, indent=2))

            run_all(Counted(url), tasks, WAYS[name], options.seconds, folder, write)
    for name, endings in found.items():
        report(name, endings)


if __name__ == "__main__":
    main()
