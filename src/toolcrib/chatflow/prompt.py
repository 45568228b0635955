"""A prompt on its way to a model, and what a stage may use while it works on it.

Every dialect brings its messages to the form of the OpenAI chat API, and takes them back only
where `Prompt.changed` says that something was done to them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias

from toolcrib.core.config import Config
from toolcrib.core.context import Ctx, Services, ServiceType

PromptMessage: TypeAlias = dict[str, Any]
SYSTEM_ROLES = ("system", "developer")
KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class StageTrace:
    """What one stage did to a prompt, in one line; secrets are redacted where it is shown."""

    stage: str
    line: str


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that a stage added to a message; `system`: to the system part instead."""

    stage: str
    text: str
    system: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with the last message. `content` is empty where only its name came."""

    name: str
    content: bytes = b""


@dataclass(slots=True)
class Prompt:
    """A request for an answer. Stages change it in place, by its methods.

    Args:
        messages: in the form of the OpenAI chat API, with roles `system`, `developer`, `user`,
            `assistant` (with `tool_calls`) and `tool`.
        tools: as the request offers them.
        model: the name that it gives.
        window: tokens of the model's window, where the server tells; else None.
        owner: the id of the token that the request came with; "" on loopback.
        answer_tokens: tokens that the answer may have at most; 0 where it says nothing.
        has_tool_choice: whether the request says which tool is to be called, or that none is.
        server_keeps_history: whether earlier messages stand on the server alone.
        attachments: files that came with the last message.
        session: the id of the conversation, where the surface knows it; else it is found by
            the first message.

    Attributes:
        conversation: the id of the conversation, and the session of its stored results.
        keys: for each message the hash of the conversation up to it, as the client sent it.
        originals: the messages as the client sent them.
        additions: what stages added to the last message of the user and to the system part.
        known: what they added to earlier messages, by the key of each.
        tokens: of messages and tools at the end, by the calibrated estimate; 0 if not counted.
        estimated_tokens: the same before calibration, for `learn_usage`.
        room: tokens that are left of the window beside them and the answer; 0 if not counted.
        changed: whether messages differ from what the client sent.
        offers_read_more: whether the model is to be offered `read_more`, since something was
            taken out that it can read by its handle.
        report: for the person: what the guard did, in Markdown; "" where it did nothing new.
        notices: for the person: questions and notes of stages, in Markdown.
        trace: one line a stage.
    """

    messages: list[PromptMessage]
    tools: list[dict[str, Any]] = field(default_factory=list)
    model: str = ""
    window: int | None = None
    owner: str = ""
    answer_tokens: int = 0
    has_tool_choice: bool = False
    server_keeps_history: bool = False
    attachments: list[Attachment] = field(default_factory=list)
    session: str = ""
    conversation: str = ""
    keys: list[str] = field(default_factory=list)
    originals: list[PromptMessage] = field(default_factory=list)
    additions: list[Addition] = field(default_factory=list)
    known: dict[str, tuple[Addition, ...]] = field(default_factory=dict)
    tokens: int = 0
    estimated_tokens: int = 0
    room: int = 0
    changed: bool = False
    offers_read_more: bool = False
    report: str = ""
    notices: list[str] = field(default_factory=list)
    trace: list[StageTrace] = field(default_factory=list)

    def note(self, stage: str, line: str) -> None:
        """Add a line to the trace."""
        self.trace.append(StageTrace(stage, line))

    @property
    def last_user(self) -> int | None:
        """Where the last message of the user stands."""
        places = range(len(self.messages) - 1, -1, -1)
        return next((at for at in places if self.messages[at].get("role") == "user"), None)

    @property
    def question(self) -> str:
        """The text of the last message of the user, without what stages added."""
        sent = self.originals or self.messages
        found = (text_of(message) for message in reversed(sent) if message.get("role") == "user")
        return next(found, "")

    @property
    def earlier(self) -> list[Addition]:
        """What stages added to earlier messages, in their order."""
        return [a for key in self.keys for a in self.known.get(key, ())]

    def previous_additions(self, stage: str) -> list[Addition]:
        """What a stage added to the message of the user before the last one."""
        users = [n for n, m in enumerate(self.messages) if m.get("role") == "user"]
        key = self.keys[users[-2]] if len(users) > 1 and self.keys else ""
        return [a for a in self.known.get(key, ()) if a.stage == stage]

    def add(self, stage: str, text: str, *, system: bool = False) -> None:
        """Add a text to the last message of the user, or to the system part.

        It is added again, byte for byte, in every later request of the conversation. The
        system part is changed on the first turn alone, since all that follows would have to
        be read anew.
        """
        if text and self.last_user is not None:
            addition = Addition(stage, text, system)
            self.additions.append(addition)
            apply_additions(self, self.keys[self.last_user] if self.keys else "", (addition,))

    @property
    def is_new_turn(self) -> bool:
        """Whether the last message is the user's, and not the result of a tool."""
        return bool(self.messages) and self.last_user == len(self.messages) - 1

    @property
    def is_first_turn(self) -> bool:
        """Whether it is a new turn, and nothing was answered before it."""
        return self.is_new_turn and all(
            message.get("role") in (*SYSTEM_ROLES, "user") for message in self.messages
        )


class Complete(Protocol):
    """Asks a model for a text, for summaries and facts."""

    async def __call__(
        self, messages: Sequence[PromptMessage], *, model: str, max_tokens: int
    ) -> str:
        """What it answers. `model` is a name, or "" for that of the conversation.

        Raises:
            ToolError: no answer can be had.
        """
        ...


AskPerson = Callable[[str], Awaitable[bool | None]]
ShowStatus = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class StageContext:
    """What a stage may use, the same for every surface.

    Args:
        services: settings, the store, and every room that is a service.
        ctx: the view of a call in this conversation's session, for rooms that want one.
        complete: asks a model; None where none can be asked.
        ask: asks the person, and waits; it gives None where nobody can be asked.
        status: shows the person a line while a stage works.
    """

    services: Services
    ctx: Ctx | None = None
    complete: Complete | None = None
    ask: AskPerson | None = None
    status: ShowStatus | None = None

    @property
    def config(self) -> Config:
        """The typed configuration tree."""
        return self.services.config

    def use(self, kind: type[ServiceType]) -> ServiceType:
        """The shared service of this kind, opened on first use."""
        return self.services.use(kind)

    async def show(self, line: str) -> None:
        """Show the person a line, where there is one to see it."""
        if self.status is not None:
            await self.status(line)


Stage = Callable[[Prompt, StageContext], Awaitable[None]]


def apply_additions(prompt: Prompt, key: str, additions: Sequence[Addition]) -> None:
    """Add texts to the message under a key, or to the system part."""
    for addition in additions:
        roles = [message.get("role") for message in prompt.messages]
        if addition.system:
            at = next((n for n, role in enumerate(roles) if role in SYSTEM_ROLES), None)
            if at is None:
                prompt.messages.insert(0, {"role": "system", "content": ""})
                prompt.keys.insert(0, "")
                at = 0
        else:
            at = prompt.keys.index(key) if key in prompt.keys else prompt.last_user
        if at is not None:
            prompt.messages[at] = with_text(prompt.messages[at], addition.text)
            prompt.changed = True


def with_text(message: PromptMessage, text: str, *, before: bool = False) -> PromptMessage:
    """A message with more text, behind what it says or before it."""
    content = message.get("content")
    if isinstance(content, list) and content:
        part = {"type": "text", "text": text}
        return {**message, "content": [part, *content] if before else [*content, part]}
    known = content if isinstance(content, str) else ""
    parts = (text, known) if before else (known, text)
    return {**message, "content": "\n\n".join(part for part in parts if part)}


def text_of(message: PromptMessage) -> str:
    """The text of a message: its content, or the text parts of it."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


_PASSING = {"cache_control", "reasoning", "reasoning_content", "thinking"}
"""Fields that clients put into messages and drop again; they are no part of what was said."""


def chain_keys(messages: Sequence[PromptMessage], owner: str) -> list[str]:
    """For each message the hash of the conversation up to it; another owner has other keys.

    System messages are left out, since clients put the time and the state of a folder there.
    """
    digest = blake2b(owner.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES)
    keys = []
    systems = 0
    for message in messages:
        if message.get("role") in SYSTEM_ROLES:
            systems += 1
            keys.append(f"{digest.hexdigest()}.{systems}")
            continue
        systems = 0
        digest.update(b"\0" + _canonical(message))
        keys.append(digest.hexdigest())
    return keys


def conversation_id(messages: Sequence[PromptMessage], keys: Sequence[str]) -> str:
    """The id of the conversation: by its first message of the user."""
    roles = [message.get("role") for message in messages]
    first = roles.index("user") if "user" in roles else len(roles) - 1
    return f"chat-{keys[first]}" if keys else "chat-empty"


def _canonical(message: PromptMessage) -> bytes:
    """A message as bytes that are the same however a client writes it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            {name: value for name, value in part.items() if name not in _PASSING}
            if isinstance(part, dict)
            else part
            for part in content
        ]
        texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
        whole = [text for text in texts if isinstance(text, str)]
        content = "\n".join(whole) if len(whole) == len(texts) else parts
    calls = message.get("tool_calls")
    value = [message.get("role"), content or "", calls or [], message.get("tool_call_id") or ""]
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode("ascii")
