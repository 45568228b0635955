"""The policy decision on a call that runs code: by the boundary, the network, and run.rules.

A shell text is split into its commands and each is matched with the user's rules. This is
convenience and never the boundary, which is the sandbox: where there is none, what is not
certain to only read is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.core.command_prefixes import covers
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.package_data import package_table
from toolcrib.core.settings import CommandRule
from toolcrib.core.tool import STRICTNESS, Decision
from toolcrib.execution.network_access import network_decision
from toolcrib.execution.shell_parser import ShellCommand, ShellScript, ShellWord, read_script, wraps
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.threads import in_thread

MAX_REASON_CHARS = 80


@dataclass(frozen=True, slots=True)
class ReadOnlyUse:
    """With which words a program is known to only read.

    Attributes:
        never: options (or their beginnings, where they end in `*`) with which it does more
            than read what its words name.
        only: its first word must be one of these, where there are any.
        max_words: how many words that are no options it may have.
        values: whether it shows what its words say, and reads no file by them.
    """

    never: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    max_words: int = 1000
    values: bool = False


VERSIONS = ("--version", "-V")
GIT_OPTIONS_WITH_VALUE = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"}
)
"""Those before its command whose value is a word of its own."""
OPTIONS_ALONE = frozenset({"-h", "--help", "-v", "-V", "--version"})
"""With these a program does nothing else."""
_TABLE = package_table("execution/read_only_commands.toml")
EXACTLY = frozenset(_TABLE["exactly"])


def _use(values: Mapping[str, Any]) -> ReadOnlyUse:
    words = {name: tuple(text.split()) for name, text in values.items() if isinstance(text, str)}
    return ReadOnlyUse(**{**values, **words})


READ_ONLY_COMMANDS = {
    name: _use({key: value for key, value in use.items() if key != "commands"})
    for use in _TABLE["use"]
    for name in use["commands"].split()
}


def only_reads(command: ShellCommand, may_read: Callable[[str], bool]) -> str:
    """Why a command is not known to only read; empty where it is.

    Args:
        command: one whose name is written.
        may_read: whether a word may name a file that is read.
    """
    words = command.words
    first = words[0]
    known = READ_ONLY_COMMANDS.get(first.value or "")
    if known is None or not first.plain or first.glob:
        return f"{first.text[:MAX_REASON_CHARS]} is not known to only read"
    for word in words[1:]:
        if word.value is None or not word.plain:
            return f"{word.text[:MAX_REASON_CHARS]} is not written out"
    values = [word.value or "" for word in words[1:]]
    if " ".join([first.value or "", *values]) in EXACTLY:
        return ""
    wrong = _wrong_words(known, values)
    if wrong or (first.value == "sed" and not _is_print(values)):
        return f"{first.value} with {(wrong or 'this')[:MAX_REASON_CHARS]} may do more than read"
    if known.only == VERSIONS or known.values:
        return ""
    for word in words[1:]:
        if not _may_name(word, may_read):
            return f"{word.text[:MAX_REASON_CHARS]} is not a file that may be read"
    return ""


def _wrong_words(known: ReadOnlyUse, values: list[str]) -> str:
    if known.only and (not values or values[0] not in known.only):
        return values[0] if values else "no word"
    if known.only == VERSIONS and len(values) > 1:
        return values[1]
    for value in values:
        for option in known.never:
            if value == option or (option[-1] == "*" and _begins(value, option[:-1])):
                return value
    plain = [value for value in values if not value.startswith("-")]
    return "so many words" if len(plain) > known.max_words and not known.only else ""


def _begins(value: str, option: str) -> bool:
    """Whether a word gives an option, also among other letters behind one dash."""
    if value.startswith(option):
        return True
    short = len(option) == 2 and option[1] != "-"
    return short and value[:1] == "-" and value[1:2] not in ("-", "") and option[1] in value


def _is_print(values: list[str]) -> bool:
    """Whether sed is given `-n` and a range to print, and nothing else but files."""
    if len(values) < 2 or values[0] != "-n":
        return False
    script = values[1]
    numbers = script.removesuffix("p").split(",")
    return (
        script.endswith("p")
        and len(numbers) <= 2
        and all(number.isdigit() or number == "$" for number in numbers)
        and not any(value.startswith("-") for value in values[2:])
    )


def _may_name(word: ShellWord, may_read: Callable[[str], bool]) -> bool:
    """Whether all that a word may name is within what may be read."""
    value = word.value or ""
    if word.glob:
        # A glob that could stand for a hidden name could stand for a protected one.
        last = value.rpartition("/")[2]
        if last.startswith((".", "[", "?")) or "." not in last.rstrip("*?]"):
            return False
        value = value.replace("*", "x").replace("?", "x").replace("[", "x").replace("]", "x")
    if value.startswith("-"):
        head, sign, tail = value.partition("=")
        if sign:
            return may_read(tail) if tail else True
        return "/" not in head and "~" not in head and ".." not in head
    return may_read(value) if value else True


def shell_decision(
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


def _by_rule(command: ShellCommand, rules: Sequence[CommandRule]) -> Decision | None:
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
    found = {covers(rule.pattern, words) for words in (values, _without_options(values))}
    fits = True in found or (None if None in found else False)
    reason = f"rule {number} of run.rules ({_rule_text(rule)})"
    if fits:
        return Decision(rule.action, reason, explicit=True)
    # Of the words of another command, only those that are written are taken for its own.
    if fits is None and not (nested and values[0] is None):
        return Decision("ask", f"{reason}, which may match", explicit=True)
    return None


def _without_options(values: Sequence[str | None]) -> Sequence[str | None]:
    """A command without the options before its first other word: `git -C x push` pushes too."""
    name, rest = values[0], list(values[1:])
    while rest and (rest[0] or "").startswith("-") and rest[0] not in OPTIONS_ALONE:
        takes_value = name == "git" and rest[0] in GIT_OPTIONS_WITH_VALUE
        del rest[: 2 if takes_value else 1]
    return (name, *rest)


def _rule_text(rule: CommandRule) -> str:
    words = (word if isinstance(word, str) else "|".join(word) for word in rule.pattern)
    return " ".join(words)[:MAX_REASON_CHARS]


def _doubt(
    script: ShellScript, rules: Sequence[CommandRule], may_read: Callable[[str], bool]
) -> str:
    """Why a text is not known to only read, and no rule allows it; empty where it is."""
    reasons = [*script.unknown, *script.doubts]
    if reasons:
        return reasons[0]
    if not script.commands:
        return "it names no command"
    for word in script.reads:
        if word.value is None or not word.plain or word.glob or not may_read(word.value):
            return f"it reads {word.text[:MAX_REASON_CHARS]}"
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


CONFINED = Decision("allow", "the boundary holds it")


async def command_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """For tools with a `command` and perhaps a `cwd`: rules, and what only reads."""
    found = await _command_verdict(arguments, ctx)
    stays = arguments.get("background") or arguments.get("ports")
    apart = arguments.get("commit") in ("ask", "never")
    return _held(ctx, found) if stays and not apart else found


async def terminal_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """The same for a terminal."""
    return _held(ctx, await _command_verdict(arguments, ctx))


async def apply_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """Making held changes is the user's own act, where the user wants to be asked or must be."""
    from toolcrib.execution.runs.runs import Runs

    if arguments.get("drop"):
        return None
    why = ""
    pending_id = str(arguments.get("id") or "")
    if ctx.config.run.commit != "auto":
        why = f"run.commit is {ctx.config.run.commit}"
    elif await ctx.use(Runs).is_for_user(pending_id, ctx):
        why = "programs outside of the boundary act on these files"
    preview = await ctx.use(Runs).preview(pending_id, ctx)
    if why:
        return Decision("ask", why, explicit=True, preview=preview)
    return Decision("allow", "", preview=preview)  # others may ask for reasons of their own


def _held(ctx: Ctx, found: Decision | None) -> Decision | None:
    """The decision on a program that changes the files themselves, so that nothing is held."""
    if ctx.config.run.commit == "auto" or (found is not None and found.action == "deny"):
        return found
    why = f"run.commit is {ctx.config.run.commit}, and this changes files at once"
    if found is None or not found.hosts:
        return Decision("ask", why, explicit=True)
    why = f"{why}; {found.reason}"
    return Decision("ask", why, explicit=True, hosts=found.hosts, preview=found.preview)


async def _command_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    command = str(arguments.get("command") or "")
    network = await network_decision(arguments, ctx)
    why = await unconfined_reason(ctx)
    if network is not None and not network.explicit:
        why = why or network.reason
    if not command.strip() or not (why or ctx.config.run.rules):
        return _with_network(Decision("ask", why) if why else CONFINED, network)
    cwd = arguments.get("cwd")
    may_read = _ReadableFiles(ctx, cwd if isinstance(cwd, SafePath) else None)
    # A long command takes seconds to read.
    found = await in_thread(
        lambda _: shell_decision(command, ctx.config.run.rules, open_why=why, may_read=may_read),
        ctx.deadline,
    )
    return _with_network(found, network)


def _with_network(found: Decision, network: Decision | None) -> Decision:
    """A decision, with the hosts that have to be asked about."""
    if network is None or found.action == "deny":
        return found
    if network.explicit:
        also = f"; {found.reason}" if found.action == "ask" else ""
        return replace(network, reason=f"{network.reason}{also}")
    return replace(found, hosts=network.hosts, preview=network.preview)


async def code_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """For tools that run code of any kind: it is asked about where no boundary holds it."""
    network = await network_decision(arguments, ctx)
    why = await unconfined_reason(ctx)
    if network is not None and not network.explicit:
        why = why or network.reason
    return _with_network(Decision("ask", why) if why else CONFINED, network)


async def unconfined_reason(ctx: Ctx) -> str:
    """Why the boundary does not hold what a run does; empty where it does.

    Where nothing may run at all, there is nothing to ask about either: the run says why.
    """
    from toolcrib.execution.sandbox.sandbox import Sandbox

    if ctx.config.run.level != "none":
        return ""
    report = await ctx.use(Sandbox).report()
    return "it runs without a boundary (run.level is none)" if report.level == "none" else ""


class _ReadableFiles:
    """Whether a word of a command may name a file: inside the roots, and not protected."""

    def __init__(self, ctx: Ctx, cwd: SafePath | None) -> None:
        self._workspace = ctx.use(Workspace)
        self._directory = cwd.absolute if cwd is not None else ctx.session.directory

    def __call__(self, word: str) -> bool:
        if ".." in word.split("/"):
            return False
        if word == "-":
            return True
        try:
            path = self._workspace.resolve(word, self._directory)
            path.gate.check(path, "read")
        except ToolError:
            return False
        return True
