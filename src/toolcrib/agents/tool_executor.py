"""Executes the tool calls of a model: resolves names as models write them, renders results."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.agents.prompts import FINISH_NAMES, FINISH_TOOL, declared, example_of, manual
from toolcrib.core.errors import UnknownTool
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, READ, WRITE, Tool

PREFIX = re.compile(r"^(?:functions?|tools?|default_api)[.:]|^mcp__.+?__|:\d+$")
INSTRUCTION_CODES = ("bad_input", "unknown_tool")
READING = READ | NET
IN_TURN_GROUPS = ("browser", "run", "jobs")
"""Groups whose tools read what the call before has moved on."""
IN_TURN = ("change_directory", "restore_session", "watch_paths")
MAX_LEFT_OUT = 8
"""Arguments that a tool does not take, up to which a call is made without them."""
Invoke = Callable[[str, Mapping[str, Any]], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """What a call gave: the text for the model, the error in words, the call that goes on."""

    text: str
    error: str = ""
    code: str = ""
    following: tuple[str, Mapping[str, Any]] | None = None
    wrote: bool = False
    result: Result | None = None
    seconds: float = 0.0


class ToolExecutor:
    """The tools of a run and the way to call them.

    Args:
        tools: all that may be called.
        listed: those that the model is shown.
        invoke: sends a call through the pipeline.
        finish_tool: whether the model can end its task by a call.
        best_fit: the one that surely fits the task, if there is one.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        listed: Sequence[Tool],
        invoke: Invoke,
        *,
        finish_tool: bool = True,
        best_fit: Tool | None = None,
    ) -> None:
        self.tools = list(tools)
        self._registry = Registry(tools)
        self._listed = list(listed)
        self._invoke = invoke
        self._finish = finish_tool and bool(listed)
        self._best_fit = best_fit
        self.specs: list[dict[str, Any]] = [declared(tool) for tool in listed]
        if self._finish:
            self.specs.append(FINISH_TOOL)

    @property
    def names(self) -> list[str]:
        """The names that the model is shown."""
        return [tool.name for tool in self._listed]

    @property
    def manual(self) -> str:
        """The tools in words, for a server that takes none."""
        return manual(self.specs)

    def is_finish(self, name: str) -> bool:
        """Whether a call ends the task."""
        return self._finish and plain(self._bare(name)) in FINISH_NAMES and not self._find(name)

    def example(self, fallback: Callable[[], Any] | None = None) -> str:
        """A call that would make sense now."""
        for name, arguments in fallback() if fallback is not None else ():
            tool = self._find(name)
            if tool is not None:
                return example_of(tool, arguments)
        return example_of(self._listed[0]) if self._listed else "an answer in plain words"

    def other_example(self, name: str, paths: Sequence[str]) -> str:
        """A call of the tool that fits the task, where that is another than this; or nothing.

        Args:
            name: the tool that was called.
            paths: the files that the task names.
        """
        if self._best_fit is None or self._best_fit is self._find(name):
            return ""
        return example_of(self._best_fit, {"path": paths[0]} if paths else None)

    def example_for(self, name: str, given: Mapping[str, Any] | None = None) -> str:
        """A call of a tool as it would take it."""
        tool = self._find(name)
        return example_of(tool, given) if tool is not None else self.example()

    async def perform(self, name: str, arguments: Mapping[str, Any]) -> ExecutedCall:
        """Send one call; it never fails but by cancellation."""
        tool = self._find(name)
        began = time.monotonic()
        result, left_out = await self._sent(tool, name, dict(arguments))
        seconds = time.monotonic() - began
        text = result_text(result)
        if left_out and tool is not None:
            text += f"\nNote: left out, since {tool.name} does not take it: {', '.join(left_out)}."
        going_on = result.next
        following = (going_on.tool, going_on.arguments) if going_on else None
        if result.error is None:
            wrote = tool is not None and bool(tool.rights & WRITE)
            return ExecutedCall(text or "(nothing)", "", "", following, wrote, result, seconds)
        if result.error.code in INSTRUCTION_CODES:
            text += f"\nFor example: {self.example_for(name, arguments)}"
        error, code = f"{name}: {result.error.message}", result.error.code
        return ExecutedCall(text, error, code, following, result=result, seconds=seconds)

    async def _sent(
        self, tool: Tool | None, name: str, arguments: dict[str, Any]
    ) -> tuple[Result, list[str]]:
        """The result of a call, and the arguments that were left out of it.

        Small models fill in what other tools take. Where nothing is changed, that is not worth a
        turn: the call is made without it, and that is said.
        """
        left_out: list[str] = []
        while True:
            result = await self._invoke(tool.name if tool else self._bare(name), arguments)
            unknown = result.error.details.get("unknown") if result.error is not None else None
            own = [each for each in arguments if unknown and plain(each) == plain(str(unknown))]
            if not own or len(left_out) >= MAX_LEFT_OUT or not self.only_reads(name):
                return result, left_out
            left_out += own
            arguments = {key: value for key, value in arguments.items() if key not in own}

    def only_reads(self, name: str) -> bool:
        """Whether a call of this tool changes nothing, so that it can be made beside others."""
        tool = self._find(name)
        if tool is None or tool.group in IN_TURN_GROUPS or tool.name in IN_TURN:
            return False
        return bool(tool.rights) and tool.rights | READING == READING and not tool.destructive

    def _find(self, name: str) -> Tool | None:
        for spelling in (name, self._bare(name)):
            try:
                return self._registry.resolve(spelling)
            except UnknownTool:
                continue
        return None

    @staticmethod
    def _bare(name: str) -> str:
        """A name without what some models and hosts put around it."""
        return PREFIX.sub("", PREFIX.sub("", name.strip()))


def result_text(result: Result) -> str:
    """A result as the model of a run reads it: what was cut is said first."""
    text = result.render()
    if result.truncated and result.next is not None:
        text = f"[cut; the rest: {result.next}]\n{text}"
    if result.images:
        text += f"\n[{len(result.images)} pictures, which cannot be shown here]"
    return text
