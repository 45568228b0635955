"""Whether a shell text may run: the user's rules, then what is known of its commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolcrib.core.commands import covers
from toolcrib.core.policy import STRICTNESS, Decision
from toolcrib.core.run_settings import CommandRule
from toolcrib.execution.shell.parser import read_script
from toolcrib.execution.shell.read_only_commands import only_reads
from toolcrib.execution.shell.script import Command, Script
from toolcrib.execution.shell.wrappers import wraps

SHOWN = 80


def judge(
    text: str,
    rules: Sequence[CommandRule],
    *,
    open_why: str,
    may_read: Callable[[str], bool],
) -> Decision:
    """Allow, ask or deny.

    Args:
        text: what the shell is given.
        rules: the user's; of all that match a command of the text, the strictest holds.
        open_why: why no boundary holds what runs ("it runs without a boundary"); empty
            where one does: then only rules ask or deny.
        may_read: whether a word may name a file for a command that reads.

    Returns:
        `explicit` where a rule of the user's said it.
    """
    if not rules and not open_why:
        return Decision("allow", "the boundary holds it")
    script = read_script(text)
    by_rule = [found for c in script.commands if (found := _by_rule(c, rules)) is not None]
    strict = [decision for decision in by_rule if decision.action != "allow"]
    if strict:
        return max(strict, key=lambda d: STRICTNESS[d.action])
    if script.unknown and any(rule.action != "allow" for rule in rules):
        return Decision("ask", f"{script.unknown[0]}, and run.rules cannot be applied", True)
    if not open_why:
        return Decision("allow", "the boundary holds it", explicit=False)
    doubt = _doubt(script, rules, may_read)
    if doubt:
        return Decision("ask", f"{open_why}, and {doubt}")
    return Decision("allow", "it only reads, or a rule allows it", explicit=bool(by_rule))


def _by_rule(command: Command, rules: Sequence[CommandRule]) -> Decision | None:
    """The strictest of the rules that match a command; a rule that may match asks."""
    found: Decision | None = None
    values = command.values
    bare = (command.name, *values[1:]) if values[0] is not None else values
    for number, rule in enumerate(rules, 1):
        if rule.action == "allow":
            fits = not command.nested and covers(rule.pattern, values)
            decision = Decision("allow", f"rule {number} of run.rules", True) if fits else None
        else:
            decision = _restricted(rule, number, bare, nested=command.nested)
        if decision and (not found or STRICTNESS[decision.action] > STRICTNESS[found.action]):
            found = decision
    return found


def _restricted(
    rule: CommandRule, number: int, values: Sequence[str | None], *, nested: bool
) -> Decision | None:
    fits = covers(rule.pattern, values)
    reason = f"rule {number} of run.rules ({_shown(rule)})"
    if fits:
        return Decision(rule.action, reason, explicit=True)
    # Of the words of another command, only those that are written are taken for its own.
    if fits is None and not (nested and values[0] is None):
        return Decision("ask", f"{reason}, which may match", explicit=True)
    return None


def _shown(rule: CommandRule) -> str:
    words = (word if isinstance(word, str) else "|".join(word) for word in rule.pattern)
    return " ".join(words)[:SHOWN]


def _doubt(script: Script, rules: Sequence[CommandRule], may_read: Callable[[str], bool]) -> str:
    """Why a text is not known to only read, and no rule allows it; empty where it is."""
    reasons = [*script.unknown, *script.doubts]
    if reasons:
        return reasons[0]
    if not script.commands:
        return "it names no command"
    for word in script.reads:
        if word.value is None or not word.plain or word.glob or not may_read(word.value):
            return f"it reads {word.text[:SHOWN]}"
    for command in script.commands:
        if command.nested:
            continue
        if any(rule.action == "allow" and covers(rule.pattern, command.values) for rule in rules):
            continue
        if wraps(command) and command.name != "find":
            return f"{command.name} runs another command"
        reason = only_reads(command, may_read)
        if reason:
            return reason
    return ""
