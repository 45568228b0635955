"""What conversations did last, as the pipeline sees it go by, noted for those that follow."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from toolcrib.core.config import Config
from toolcrib.core.context import Call, Ctx, PersonAnswer, Question, Services
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, WRITE
from toolcrib.files.paths import SafePath
from toolcrib.memory.delayed_write import DelayedWrite
from toolcrib.memory.memory_records import (
    MAX_TITLE_CHARS,
    EntryDraft,
    EntryType,
    Origin,
    project_scope,
    session_scope,
)
from toolcrib.memory.projects import Projects
from toolcrib.memory.work_state import WorkStates
from toolcrib.state.redaction import redact_text
from toolcrib.state.secret_finder import secret_kind
from toolcrib.text.cleaner import one_line

MAX_SESSIONS = 500
MAX_BUFFERED = 50
MAX_FAILED = 50
MAX_TITLES = 8
MAX_PATHS = 10
MAX_PATH_CHARS = 150
ASK_SECONDS = 60.0
OWN_GROUPS = {"memory", "context", "plan", "meta"}
"""Tools that keep what they do themselves."""
TEXTS = ("message", "note", "summary")
"""Arguments in which a conversation says in its own words what it did."""
TRIGGERS: tuple[tuple[re.Pattern[str], EntryType, float], ...] = (
    (re.compile(r"\b(?:decided|we(?:'ll| will) use|let's use|going with|entschieden|nehmen wir|"
                r"hemos decidido|usaremos)\b|决定|決定", re.IGNORECASE), "decision", 0.9),
    (re.compile(r"\b(?:chose|instead of|switch(?:ed)? to|statt|en lugar de)\b|改用", re.IGNORECASE),
     "decision", 0.7),
    (re.compile(r"\b(?:done|finished|completed|works now|fertig|erledigt|terminado|listo)\b|"
                r"完成|搞定", re.IGNORECASE), "summary", 0.7),
    (re.compile(r"\b(?:fix(?:es|ed)|root cause|behoben|Ursache|corregid[oa]|arreglad[oa])\b|"
                r"修复|修復", re.IGNORECASE), "error", 0.8),
    (re.compile(r"\b(?:error|exception|failed|traceback|fehler|falló)\b|错误|錯誤", re.IGNORECASE),
     "error", 0.6),
)  # fmt: skip
"""What a text says, and how surely: 0.6 and more is taken down, so nothing below stands here."""


class Tracking(Enum):
    """Whether what a conversation did is kept for the project: the person is asked once."""

    IDLE = "idle"
    THRESHOLD_REACHED = "threshold reached"
    CONFIRMED = "confirmed"
    DECLINED = "declined"


@dataclass(slots=True)
class TrackedSession:
    """What this process saw of one conversation.

    `project` is that of its `directory`. `began` is when its first call came. `counters` are
    events by type, `failed` the commands whose last run failed, and `waiting` what is not
    written yet.
    """

    project: int = 0
    directory: str = ""
    began: float = 0.0
    is_dirty: bool = False
    state: Tracking = Tracking.IDLE
    tokens: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    since_summary: int = 0
    buffer: deque[EntryDraft] = field(default_factory=lambda: deque(maxlen=MAX_BUFFERED))
    waiting: list[EntryDraft] = field(default_factory=list)
    failed: OrderedDict[str, None] = field(default_factory=OrderedDict)


class Activity:
    """A service: what each conversation did last, and where it read text from outside.

    What it notes is written half a second later, so that calls do not wait for it. Entries of a
    conversation end with it (24 h); they are kept for the project where the person said yes.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sources: OrderedDict[str, str] = OrderedDict()
        self._tracked: OrderedDict[str, TrackedSession] = OrderedDict()
        self._write = DelayedWrite(self.flush)
        self._config: Config | None = None

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing was seen yet."""
        return cls(services)

    def read_outside(self, session: str, source: str) -> None:
        """Note where outside text came from."""
        self._sources.pop(session, None)
        self._sources[session] = source
        while len(self._sources) > MAX_SESSIONS:
            self._sources.popitem(last=False)

    def last_source(self, session: str) -> str:
        """Where it came from last; empty where that is not known."""
        return self._sources.get(session, "")

    def tracked(self, session: str) -> TrackedSession:
        """What this process saw of a conversation."""
        found = self._tracked.setdefault(session, TrackedSession())
        self._tracked.move_to_end(session)
        while len(self._tracked) > MAX_SESSIONS:
            self._tracked.popitem(last=False)
        return found

    async def saw(self, call: Call, result: Result, began: float) -> None:
        """Take down what a call that has ended was about, and ask once whether to keep it.

        Args:
            call: as the tool was given it.
            result: what came of it.
            began: when it came, in seconds since 1970.
        """
        ctx, config = call.ctx, call.ctx.config
        if not config.memory.track or ctx.session.single:
            return
        # What was done is answered, whether or not it can be noted.
        with suppress(ToolError):
            await self._take_down(call, result, began)

    async def _take_down(self, call: Call, result: Result, began: float) -> None:
        ctx, config = call.ctx, call.ctx.config
        session = self.tracked(ctx.session.id)
        session.began = session.began or began
        session.tokens += result.tokens
        drafts = [] if call.tool.group in OWN_GROUPS else await _changed_files(call, began)
        drafts += _mended(call, result, session)
        drafts += self._changed_settings(config)
        drafts += _spoken_events(call)
        if not drafts and call.tool.group in OWN_GROUPS:
            return
        if not session.is_dirty or session.directory != ctx.session.directory:
            # Looked up once for what is written together.
            project = await ctx.use(Projects).current(ctx.session.directory)
            session.project, session.directory = project.id, ctx.session.directory
        session.is_dirty = True
        self._note_state(call, result, session.project)
        for draft in drafts:
            session.counters[draft.type] += 1
            session.since_summary += 1
            session.buffer.append(draft)
            session.waiting.append(draft)
        if session.state is Tracking.IDLE and _is_full(session, config):
            session.state = Tracking.THRESHOLD_REACHED
            await self._ask(session, ctx)
        if session.since_summary >= config.memory.summary_interval:
            self._sum_up(session)
        self._write.start()

    async def close(self) -> None:
        """Write what waits."""
        await self._write.close()

    async def flush(self) -> None:
        """Write what waits; where the store cannot be written it is left out."""
        # Imported here: the engine of the indexes is not needed before something was noted.
        from toolcrib.memory.context_entries import ContextEntries
        from toolcrib.memory.session_records import SessionRecords

        for name, session in list(self._tracked.items()):
            waiting, session.waiting = session.waiting, []
            if not session.is_dirty:
                continue
            session.is_dirty = False
            origin, confirmed = Origin(name), session.state is Tracking.CONFIRMED
            scope = project_scope(session.project) if confirmed else session_scope(name)
            with suppress(ToolError):
                if waiting:
                    await self._services.use(ContextEntries).save(waiting, scope, origin)
                await self._services.use(SessionRecords).touch(name, session.project, session.began)

    def _note_state(self, call: Call, result: Result, project: int) -> None:
        ctx = call.ctx
        files = [path.absolute for path in _paths(call)] if result.error is None else []
        changes: dict[str, Any] = {"counters": {call.tool.name: 1}}
        changes |= {"files": files[:5]} if files else {}
        changes |= {"directory": ctx.session.directory} if ctx.session.directory else {}
        if result.source.startswith(("http://", "https://")):
            changes["address"] = redact_text(result.source)[:2000]
        for scope in (session_scope(ctx.session.id), project_scope(project)):
            ctx.use(WorkStates).note(scope, changes)

    def _changed_settings(self, config: Config) -> Iterator[EntryDraft]:
        """The names of settings that are not as they were with the last call."""
        before, self._config = self._config, config
        if before is None or before is config:
            return
        old, new = dict(_leaves(before.model_dump())), dict(_leaves(config.model_dump()))
        changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        if changed:
            yield EntryDraft(
                "configuration", f"Settings changed: {', '.join(changed)}"[:MAX_TITLE_CHARS]
            )

    async def _ask(self, session: TrackedSession, ctx: Ctx) -> None:
        """Ask the person, where that can be done while a call waits; no answer is no yes."""
        if ctx.caller.ask is None or not ctx.caller.asks_midway:
            return
        question = Question(
            ctx.call_id,
            "context",
            "the conversation has become long",
            "Keep what was done in it (decisions, changed files, errors) for later conversations "
            "in this project?",
        )
        answer: PersonAnswer = None
        with suppress(asyncio.TimeoutError, TimeoutError, ToolError):
            answer = await asyncio.wait_for(ctx.caller.ask(question), ASK_SECONDS)
        if answer is None:
            return
        session.state = Tracking.CONFIRMED if answer else Tracking.DECLINED
        if answer:
            session.waiting = list(session.buffer)
            self._sum_up(session)

    def _sum_up(self, session: TrackedSession) -> None:
        """One entry for many: how many of each kind, and the last of them."""
        counts = ", ".join(f"{count} {kind}" for kind, count in session.counters.items())
        titles = [draft.title for draft in list(session.buffer)[-MAX_TITLES:]]
        draft = EntryDraft("summary", counts[:MAX_TITLE_CHARS] or "So far", "\n".join(titles))
        session.waiting.append(draft)
        session.since_summary = 0


def found_triggers(text: str) -> list[tuple[EntryType, float]]:
    """What a text says of the work, each kind with its weight, the surest first."""
    found: dict[EntryType, float] = {}
    for pattern, kind, weight in TRIGGERS:
        if pattern.search(text):
            found[kind] = max(found.get(kind, 0.0), weight)
    return sorted(found.items(), key=lambda pair: -pair[1])


def _is_full(session: TrackedSession, config: Config) -> bool:
    return session.tokens * 100 >= config.memory.track_threshold * config.memory.window


async def _changed_files(call: Call, began: float) -> list[EntryDraft]:
    """The files that a call changed, as the undo log has them."""
    if not call.tool.rights_for(call.arguments) & (WRITE | EXEC):
        return []
    from toolcrib.files.changes.changes import Changes

    ctx = call.ctx
    steps = await ctx.use(Changes).since(began)
    own = [step for step in steps if step.session == ctx.session.id]
    paths = dict.fromkeys((path, step.tool) for step in own for path in step.paths[:MAX_PATHS])
    return [
        EntryDraft("file_change", f"{path[-MAX_PATH_CHARS:]} by {tool}") for path, tool in paths
    ]


def _mended(call: Call, result: Result, session: TrackedSession) -> Iterator[EntryDraft]:
    """A command that passed after it had failed, with what was changed between."""
    data = result.data
    if not isinstance(data, Mapping) or not isinstance(data.get("exit_code"), int):
        return
    command = _command(call)
    if data["exit_code"]:
        session.failed[command] = None
        while len(session.failed) > MAX_FAILED:
            session.failed.popitem(last=False)
    elif command in session.failed:
        del session.failed[command]
        changed = [d.title for d in session.buffer if d.type == "file_change"][-MAX_TITLES:]
        content = f"after changes of {', '.join(changed)}" if changed else ""
        yield EntryDraft("error", f"Failed, and then passed: {command}", content)


def _command(call: Call) -> str:
    """What was run, in one line, without secrets; after outside text its first word alone."""
    words = next((v for v in call.arguments.values() if isinstance(v, str) and v), "")
    if call.ctx.session.untrusted:
        words = words.split(maxsplit=1)[0] if words.strip() else ""
    return one_line(redact_text(f"{call.tool.name} {words}"), 150).rstrip()


def _spoken_events(call: Call) -> Iterator[EntryDraft]:
    """What a call says itself of decisions and errors, as the message of a commit does.

    A conversation that has read text from outside may say what that says.
    """
    if call.ctx.session.untrusted:
        return
    for name in TEXTS:
        text = call.arguments.get(name)
        if not isinstance(text, str) or not text.strip() or secret_kind(text):
            continue
        for kind, _ in found_triggers(text)[:1]:
            yield EntryDraft(kind, one_line(text, MAX_TITLE_CHARS))


def _paths(call: Call) -> list[SafePath]:
    listed = [p.of_kind("path", call.arguments.get(p.name)) for p in call.tool.parameters]
    return [path for found in listed for path in found if isinstance(path, SafePath)][:5]


def _leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
