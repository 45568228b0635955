"""Delegation of a task to agents: one run or a chain of roles, under one deadline."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.agents import prompts
from toolcrib.agents.conversation import Conversation
from toolcrib.agents.loop import (
    GRACE_SECONDS,
    Budget,
    Loop,
    LoopConfig,
    LoopDetector,
    cancel_and_detach,
    run_detached,
)
from toolcrib.agents.observer import Recorder
from toolcrib.agents.outcome import Outcome, Reason, Status, result_of
from toolcrib.agents.roles import (
    Role,
    by_fit,
    child_scope,
    child_session,
    find_role,
    granted,
    listed,
)
from toolcrib.agents.runs import AgentRuns, RunMessage
from toolcrib.agents.tool_executor import ToolExecutor
from toolcrib.core.context import Ctx, Invoke
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NONE, Right, Tool
from toolcrib.execution.jobs import Jobs
from toolcrib.files.changes.changes import Changes
from toolcrib.files.paths import Workspace
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import ModelClient
from toolcrib.net.models.connection import Connection
from toolcrib.net.models.endpoint import Endpoint, find_endpoint
from toolcrib.state.sessions import Sessions
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

# Saving the code of an answer: blocks that say which file they are.

OPENING = re.compile(r" {0,3}(```+|~~~+)[ \t]*([\w+#.-]*)([^\n]*)$")
SHELL = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "cmd", "bat", "fish"}
)
NAME = r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,9}|(?:[\w.-]+/)*(?:Makefile|Dockerfile)"
BEFORE = re.compile(rf"[`*\"'(\s:]*(?P<name>{NAME})[`*\"')\s:.]*$")
COMMENT = re.compile(
    rf"^\s*(?:#|//|--|;|%|/\*|<!--|\"\"\")\s*(?:file(?:name)?\s*:\s*)?(?P<name>{NAME})"
    r"\s*(?:\*/|-->|\"\"\")?\s*$",
    re.IGNORECASE,
)
INFO = re.compile(rf"(?:file(?:name)?|title|path)?\s*[=:]?\s*[\"']?(?P<name>{NAME})[\"']?\s*$")
MAX_FILES = 50
MAX_ANSWER_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A file in an answer, and where it stands there."""

    path: str
    content: str
    start: int
    end: int


async def save_blocks(
    answer: str, task: str, invoke: Invoke, *, keep_code: bool
) -> tuple[str, str]:
    """Write the files of an answer with `write_file`; the answer then, and a note.

    Args:
        answer: what the model said.
        task: what it was asked; a file that it names is where a single unnamed block goes.
        invoke: sends calls as the child.
        keep_code: leave the code in the answer.
    """
    from toolcrib.agents.prompts import paths_in

    named = paths_in(task)
    blocks = list(blocks_of(answer, named[0] if len(named) == 1 else ""))[:MAX_FILES]
    failed: list[str] = []
    saved: dict[tuple[int, int], list[str]] = {}
    for block in blocks:
        given: dict[str, Any] = {"path": block.path, "content": block.content}
        result = await invoke("write_file", given)
        if result.error is not None:
            failed.append(f"{block.path}: {result.error.message}")
        else:
            lines = counted(block.content.count("\n"), "line")
            saved.setdefault((block.start, block.end), []).append(f"{block.path}, {lines}")
    if not keep_code:
        for (start, end), files in sorted(saved.items(), reverse=True):
            answer = f"{answer[:start]}[saved: {'; '.join(files)}]{answer[end:]}"
    return answer, f"Not saved: {'; '.join(failed)}" if failed else ""


def blocks_of(answer: str, only: str = "") -> Iterator[CodeBlock]:
    """The files in an answer: blocks of code with a name, or a JSON list of files.

    A name stands in the text before a block, behind its language, or in its first comment.
    Blocks for a shell are commands and no files. `only` names a single block without a name.
    """
    found = list(_fenced(answer[:MAX_ANSWER_CHARS]))
    files = [fenced for fenced in found if fenced.kind not in SHELL]
    for fenced in files:
        batch = _batch(fenced.code) if fenced.kind in ("json", "") else []
        for path, content in batch:
            yield CodeBlock(path, content, fenced.start, fenced.end)
        name, code = _named(answer, fenced)
        if not name and len(files) == 1:
            name = only
        if name and code.strip() and not batch:
            yield CodeBlock(name, code, fenced.start, fenced.end)
    if not found:
        for path, content in _batch(answer):
            yield CodeBlock(path, content, 0, len(answer))


@dataclass(frozen=True, slots=True)
class _Fenced:
    kind: str
    info: str
    code: str
    start: int
    end: int


def _fenced(text: str) -> Iterator[_Fenced]:
    """The closed blocks of code in a text."""
    at = start = code = 0
    opened: re.Match[str] | None = None
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if opened is None:
            opened = OPENING.match(bare)
            start, code = at, at + len(line)
        elif bare.strip().startswith(opened[1]) and not bare.strip().strip(opened[1][0]):
            body = text[code:at]
            end = at + len(bare)
            yield _Fenced(opened[2].lower(), opened[3].strip(), body, start, end)
            opened = None
        at += len(line)


def _named(answer: str, fenced: _Fenced) -> tuple[str, str]:
    """The name that a block has, and its code without the comment that only names it."""
    inside = INFO.match(fenced.info) if fenced.info else None
    if inside:
        return inside["name"], fenced.code
    first, _, rest = fenced.code.partition("\n")
    comment = COMMENT.match(first)
    if comment:
        return comment["name"], rest
    before = answer[: fenced.start].rstrip("\n")[-400:].rpartition("\n")[2]
    heading = BEFORE.search(before)
    return (heading["name"], fenced.code) if heading else ("", fenced.code)


def _batch(text: str) -> list[tuple[str, str]]:
    """Files from a JSON list of `{path, content}`."""
    stripped = text.strip()
    if not stripped.startswith("["):
        return []
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return []
    files = []
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict):
            return []
        keys = ("path", "file_name", "filename", "file", "name")
        path = next((item[k] for k in keys if k in item), None)
        content = next((item[k] for k in ("content", "code", "text") if k in item), None)
        if not isinstance(path, str) or not isinstance(content, str):
            return []
        files.append((path, content))
    return files


MIN_SECONDS = 1.0
MAX_ROLES = 6
MAX_NOTE_CHARS = 8_000
WRITE_GRACE_SECONDS = 0.7
"""Seconds after the deadline by which what is written down is no longer waited for."""
FOLLOW_UP_SECONDS = 2.0
"""Seconds for what follows an answer: files saved, a line in the journal."""
REVIEW = """\
Check the answer below against the task and against what is really there. Change nothing. If it \
is right, answer with the one word APPROVED. Else list what is wrong or missing, each with its \
place.

The task was:
{task}

The answer is:
{answer}"""


@dataclass(frozen=True, slots=True)
class Delegation:
    """What a parent asks for. `roles` work one after another on the same task."""

    task: str
    context: str = ""
    roles: tuple[str, ...] = ("",)
    tools: tuple[str, ...] = ()
    readonly: bool = False
    seconds: float | None = None


class DelegatedRun:
    """A run, or a chain of them under one deadline.

    Args:
        ctx: the call that asks for it.
        order: what is asked for.
        attended: whether the person behind the call can be asked while it runs.

    Raises:
        BadInput: an unknown role, or tools that the parent does not have.
    """

    def __init__(self, ctx: Ctx, order: Delegation, *, attended: bool) -> None:
        if not order.task.strip():
            raise BadInput("There is no task.", hint="Say in 'task' what the agent should do.")
        if len(order.roles) > MAX_ROLES:
            raise BadInput(f"A chain has at most {MAX_ROLES} roles.")
        agent = ctx.config.agent
        self._ctx = ctx
        self._delegation = order
        self._attended = attended
        self._runs = ctx.use(AgentRuns)
        self.id = self._runs.new_id()
        self.seconds = max(min(order.seconds or agent.seconds, 3600.0), MIN_SECONDS)
        if ctx.deadline is not None:
            # Before the call itself is ended, so that there is a result.
            left = ctx.deadline - time.monotonic() - WRITE_GRACE_SECONDS
            self.seconds = max(min(self.seconds, left), min(MIN_SECONDS, max(left, 0.1)))
        self._roles = [find_role(name, agent.roles) for name in order.roles]
        self._tools = {role.name: self._granted(role) for role in self._roles}
        self._session = child_session(ctx.session, self.id, order.task)
        self._deadline = 0.0
        self._began = 0.0
        self._job = ""
        self._wall = time.time()
        self._loop: Loop | None = None
        self._so_far: Outcome | None = None
        self.ended: Outcome | None = None
        self._notes: dict[str, str] = {}
        self._paths: list[str] = []
        self._holds = ""
        self.recorder = Recorder(
            self._runs, self.id, ctx.progress, self._on_message, self._pass_on_taint
        )

    @property
    def rights(self) -> Right:
        """All that its tools may do."""
        rights = NONE
        for tool in (tool for tools in self._tools.values() for tool in tools):
            rights |= tool.rights
        return rights

    async def run(self, job: str = "") -> Outcome:
        """Work until the answer, a limit or a cancel; half a second after the deadline at most.

        Raises:
            CancelledError: the caller was cancelled. What was found is in the store.
        """
        self._began = time.monotonic()
        self._deadline = self._began + self.seconds
        self._job = job
        self._follow()
        await self._a_moment(
            self._runs.begin(
                self.id, self._ctx.session.id, self._role_names, self._delegation.task, job
            )
        )
        polling = asyncio.create_task(self.recorder.poll())
        work = asyncio.create_task(self._work())
        try:
            await asyncio.wait({work}, timeout=max(self._left, 0) + GRACE_SECONDS + 0.1)
            if work.done() and not work.cancelled() and work.exception() is None:
                outcome = work.result()
            else:
                outcome = self._interrupted(work)
                await cancel_and_detach(work, 0.05)
            return await self._ended(outcome)
        except asyncio.CancelledError:
            self.ended = self._now(Reason.CANCELLED)
            await asyncio.shield(cancel_and_detach(work))
            self.ended = await asyncio.shield(self._ended(self.ended))
            raise
        finally:
            polling.cancel()
            self._ctx.use(Jobs).forget(asyncio.current_task())

    def _follow(self) -> None:
        """Hear of the job as which a call in the foreground goes on."""

        def adopted(job: str) -> None:
            self._job = job
            run_detached(self._runs.assign(self.id, job))

        self._ctx.use(Jobs).follow(asyncio.current_task(), adopted)

    async def _a_moment(self, writing: Coroutine[Any, Any, None]) -> None:
        """Write something down; a slow store does not hold a run: it is written behind it."""
        left = max(min(GRACE_SECONDS, self._left + WRITE_GRACE_SECONDS), 0.05)
        await asyncio.wait({run_detached(writing)}, timeout=left)

    def result(self, outcome: Outcome) -> Result:
        """The outcome as the result of a call."""
        return result_of(outcome, untrusted=self._session.untrusted, private=self._session.private)

    @property
    def _role_names(self) -> str:
        return " > ".join(role.name for role in self._roles)

    def _granted(self, role: Role) -> list[Tool]:
        return granted(
            self._ctx.offered, role, self._delegation.tools, readonly=self._delegation.readonly
        )

    def _on_message(self, message: RunMessage) -> None:
        self._session.taint(untrusted=message.untrusted, private=message.private)

    async def _pass_on_taint(self) -> None:
        """What a child has read, its parent may know: the flags go to the parent's session."""
        parent = self._ctx.session
        parent.taint(untrusted=self._session.untrusted, private=self._session.private)
        if parent.changed:
            await self._ctx.use(Sessions).save(parent)

    def _now(self, reason: Reason) -> Outcome:
        current = self._loop.outcome(reason) if self._loop else Outcome.ended(reason)
        return self._so_far.and_then(current) if self._so_far else current

    def _interrupted(self, work: asyncio.Task[Outcome]) -> Outcome:
        if not work.done():
            return self._now(Reason.TIME_LIMIT)
        error = None if work.cancelled() else work.exception()
        outcome = self._now(Reason.INTERNAL)
        return replace(outcome, note=f"{type(error).__name__}: {error}"[:300])

    async def _ended(self, outcome: Outcome) -> Outcome:
        """Complete an outcome with what is known outside the loop, and write it down."""
        log = tuple(self.recorder.log) if self._ctx.config.agent.show_log else ()
        outcome = replace(
            outcome,
            trace_id=self.id,
            role=self._role_names,
            seconds=round(time.monotonic() - self._began, 1),
            files_modified=await self._changed_files(),
            log=log,
        )
        await self._a_moment(self._write(outcome))
        return outcome

    async def _write(self, outcome: Outcome) -> None:
        with contextlib.suppress(ToolError):
            await self._pass_on_taint()
            await self.recorder.end(outcome)
            await self._runs.update(
                self.id,
                outcome,
                untrusted=self._session.untrusted,
                private=self._session.private,
                job=self._job,
            )

    async def _changed_files(self) -> tuple[str, ...]:
        with contextlib.suppress(ToolError, TimeoutError):
            async with asyncio.timeout(
                max(min(GRACE_SECONDS, self._left + WRITE_GRACE_SECONDS), 0.05)
            ):
                steps = await self._ctx.use(Changes).steps(limit=200)
                mine = [s for s in reversed(steps) if s.session == self._session.id]
                paths = dict.fromkeys(path for s in mine for path in s.paths)
                # A folder that was made for a file is not told beside it.
                above = {path[:at] for path in paths for at, c in enumerate(path) if c == "/"}
                return tuple(path for path in paths if path not in above)
        return ()

    async def _work(self) -> Outcome:
        try:
            # A name in a role is enough where neither setting nor server names a model.
            named = next((role.model for role in self._roles if role.model), "")
            egress = self._ctx.use(Egress)
            endpoint = await find_endpoint(self._ctx.config, egress, instead=named)
        except ToolError as error:
            await self.recorder.on_error(error.message)
            return Outcome.ended(Reason.BACKEND_ERROR, note=error.message, hint=error.hint)
        self._notes = await self._project_notes()
        self._holds = await self._holdings()
        for role in self._roles:
            outcome = await self._one(role, endpoint)
            if outcome.status is not Status.COMPLETED or self._left <= 0:
                break
        if outcome.status is Status.COMPLETED:
            outcome = await self._reviewed(outcome, endpoint)
            outcome = await self._saved(outcome)
        await self._journal(outcome)
        return outcome

    @property
    def _left(self) -> float:
        return self._deadline - time.monotonic()

    async def _one(self, role: Role, endpoint: Endpoint) -> Outcome:
        """Let one role work, with what the role before it found."""
        before = self._so_far
        task = prompts.opening(
            self._delegation.task,
            self._delegation.context,
            self._notes,
            f"{before.answer}\n\n{before.found}".strip() if before else "",
            before.handoff if before else "",
        )
        outcome = await self._loops(role, self._tools[role.name], task, endpoint)
        self._so_far = before.and_then(outcome) if before else outcome
        self._loop = None
        return self._so_far

    async def _loops(
        self, role: Role, tools: list[Tool], task: str, endpoint: Endpoint, steps: int = 0
    ) -> Outcome:
        agent = self._ctx.config.agent
        invoke = self._invoke(tools)
        connection = Connection(endpoint.base_url, self._ctx.config, self._ctx.use(Egress))
        client = ModelClient(
            connection,
            stall=agent.stall_seconds,
            deadline=self._deadline,
            max_repeats=agent.repeats,
        )
        steps = steps or agent.steps
        used = self._so_far
        budget = Budget(
            steps,
            self._deadline,
            max(agent.max_calls - (used.tool_calls if used else 0), 0),
            max(agent.max_tokens - (used.tokens if used else 0), 1),
        )
        names = {tool.name for tool in tools}
        system = prompts.system_prompt(
            role, self._place, steps, budget.calls, self._holds if "list_directory" in names else ""
        )
        offered, best_fit = await in_thread(
            lambda _: by_fit(listed(tools, agent.max_listed_tools), self._delegation.task),
            self._deadline,
        )
        executor = ToolExecutor(tools, offered, invoke, best_fit=best_fit)
        system += prompts.plan_hint(self._ctx.config.plan.hint, executor.names)
        text = agent.tool_calls == "text"
        config = LoopConfig(
            model=endpoint.named(role.model),
            native_tools=not text,
            may_switch_to_text=agent.tool_calls == "auto",
            temperature=agent.temperature,
            answer_tokens=agent.answer_tokens,
            extra=agent.extra,
            text_mode_head=lambda manual: prompts.head(system, task, manual),
            fallback=lambda: prompts.first_looks(self._delegation.task, tools, self._paths),
            task=self._delegation.task,
        )
        manual = executor.manual if text else ""
        conversation = Conversation(prompts.head(system, task, manual), agent.max_messages)
        self.recorder.role = role.name
        self._loop = Loop(
            client,
            conversation,
            executor,
            budget,
            LoopDetector(agent.repeats),
            config,
            self.recorder,
        )
        try:
            return replace(await self._loop.run(self.recorder.stopped), role=role.name)
        finally:
            with contextlib.suppress(Exception):
                await client.close()

    def _invoke(self, tools: list[Tool]) -> Invoke:
        assert self._ctx.within is not None
        name = f"agent {self.id}"
        scope = child_scope(
            self._ctx, tools, self._session, name, self._deadline, attended=self._attended
        )
        return self._ctx.within(scope)

    @property
    def _place(self) -> str:
        with contextlib.suppress(ToolError):
            return self._ctx.use(Workspace).start(self._session.directory).absolute
        return ""

    async def _reviewed(self, outcome: Outcome, endpoint: Endpoint) -> Outcome:
        """Let a reviewer look at an answer, if that is wished for; it only reads."""
        agent = self._ctx.config.agent
        if not agent.review or self._left <= 0 or self._roles[-1].name == "reviewer":
            return outcome
        role = find_role("reviewer", agent.roles)
        offered = granted(self._ctx.offered, role, self._delegation.tools, readonly=True)
        task = REVIEW.format(task=self._delegation.task, answer=outcome.answer)
        review = await self._loops(role, offered, task, endpoint, agent.review_steps)
        both = outcome.and_then(review)
        verdict = review.answer.strip()
        answer = outcome.answer
        if review.status is Status.COMPLETED and verdict and "APPROVED" not in verdict[:40].upper():
            answer = f"{answer}\n\nReview:\n{verdict}"
        return replace(
            both,
            answer=answer,
            status=outcome.status,
            reason=outcome.reason,
            handoff=outcome.handoff,
            note=outcome.note,
        )

    async def _saved(self, outcome: Outcome) -> Outcome:
        """Save the code of an answer, if that is wished for, by the file tools alone."""
        agent = self._ctx.config.agent
        tools = self._tools[self._roles[-1].name]
        if not agent.auto_save or not any(tool.name == "write_file" for tool in tools):
            return outcome
        answer, note = outcome.answer, ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(self._left, FOLLOW_UP_SECONDS)):
                answer, note = await save_blocks(
                    outcome.answer,
                    self._delegation.task,
                    self._invoke(tools),
                    keep_code=agent.show_code,
                )
        return replace(outcome, answer=answer, note=outcome.note or note)

    async def _project_notes(self) -> dict[str, str]:
        """Files of the workspace that are meant for agents, if this child may read them."""
        agent = self._ctx.config.agent
        found = {}
        for name in filter(None, (agent.instructions, agent.journal)):
            text = await self._file(name)
            if text:
                found[name] = text[-MAX_NOTE_CHARS:]
        return found

    async def _holdings(self) -> str:
        """What lies in the workspace, if a child may see that.

        Names are private, so a child with tools for the web would have to ask before each of
        them, though its task may not be about files at all: it looks for itself.
        """
        tools = {tool.name: tool for offered in self._tools.values() for tool in offered}
        reaches_out = any(tool.open_world for tool in tools.values())
        if "list_directory" not in tools or not self._place:
            return ""
        if reaches_out and not self._session.private:
            return ""
        result = await self._invoke([*tools.values()])("list_directory", {"depth": 2})
        if result.error or not isinstance(result.data, dict):
            return ""
        entries = result.data["entries"]
        self._paths = [e["path"] + "/" * (e["kind"] == "folder") for e in entries]
        return prompts.holdings(self._paths, complete=not result.truncated)

    async def _file(self, name: str) -> str:
        tools = self._tools[self._roles[0].name]
        if not any(tool.name == "read_file" for tool in tools):
            return ""
        with contextlib.suppress(ToolError, OSError):
            self._ctx.use(Workspace).resolve(name, self._session.directory).stat()
            result = await self._invoke(tools)("read_file", {"path": name})
            return "" if result.error else result.text
        return ""

    async def _journal(self, outcome: Outcome) -> None:
        """A line for the journal of the project, by the file tools alone."""
        name = self._ctx.config.agent.journal
        tools = self._tools[self._roles[-1].name]
        if not name or not any(tool.name == "append_file" for tool in tools):
            return
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(self._wall))
        task = " ".join(self._delegation.task.split())[:120]
        line = f"- {when} {self._role_names}: {task} [{outcome.status}, {self.id}]\n"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FOLLOW_UP_SECONDS):
                await self._invoke(tools)("append_file", {"path": name, "content": line})
