"""What a run that went wrong in a usual way is in need of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcrib.core.context import Ctx
from toolcrib.kit.interpreters.missing import NEVER, how_to_get
from toolcrib.kit.interpreters.python import NO_PACKAGES
from toolcrib.kit.runs import Ran
from toolcrib.kit.shell import Script, read_script

TAIL = 2_000
MOST_READ = 20_000
"""Characters of a command that is looked into for a hint; reading more takes seconds."""
ASKS = re.compile(
    r"EOF when reading a line|not a (?:tty|terminal)|[Ii]nappropriate ioctl|stdin is not"
    r"|\[[yY]/[nN]\]:?\s*$|\(y(?:es)?/no?\)\??:?\s*$|[Pp]assword(?: for [^:\n]{1,80})?:\s*$"
    r"|unable to read from stdin|input is not|failed tty get"
)
NOT_FOUND = re.compile(r"(?:line \d+: |: )([\w.+-]{1,60}): (?:command )?not found")
OFFLINE = re.compile(
    r"[Cc]ould not resolve|Temporary failure in name resolution|Name or service not known"
    r"|[Nn]etwork is unreachable|EAI_AGAIN|ENOTFOUND|No address associated"
    r"|Failed to establish a new connection|from versions: none"
)
PIP = re.compile(r"\bpip\b|pypi\.org|from versions: none")
WINDOWS = re.compile(r"\$'\\r'|\\r'?: |required file not found|bad interpreter|: unexpected end of")
READERS = {"cat", "read", "sort", "wc", "tee", "python", "python3", "node", "bash", "sh", "bc"}
"""Commands that read their stdin where they are given nothing else."""
SCREENS = {
    *("vi", "vim", "nvim", "nano", "pico", "emacs", "htop", "btop", "tmux", "screen", "mc"),
    *("nmtui", "ncdu", "lazygit", "tig", "top"),
}
"""Programs that draw on a screen and wait for keys, if they are given no options."""
PASSING = {"cd", "pushd", "popd", "export", "alias", "set", "source", ".", "unset", "shopt"}
"""What holds for its own shell only."""
BEHIND = re.compile(r"(?<![&>|<\\])&(?![&>\d])|\b(?:nohup|setsid|disown)\b")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
NOTEBOOK = re.compile(r"^[ \t]*[!%]\w", re.MULTILINE)
DOCKER = re.compile(r"[Cc]annot connect to the Docker daemon|docker\.sock")
RIGHTS = re.compile(
    r"^sudo: |are you root\?|must be (?:run as )?root|no new privileges", re.MULTILINE
)


def hints_of(ctx: Ctx, command: str, ran: Ran, *, fed: bool) -> list[str]:
    """A line for each thing that a command is in need of."""
    if len(command) > MOST_READ:
        return []
    tail = f"{ran.stdout.last(TAIL)}\n{ran.stderr.last(TAIL)}".rstrip()
    script = read_script(command)
    found = list(_failed(tail, script)) if ran.exit_code else []
    if not fed and (ASKS.search(tail) or (not tail.strip() and _reads(script))):
        found.append(f"its stdin is empty: give 'input'{_or_terminal(ctx)}")
    names = {c.name for c in script.commands if not c.nested}
    if not ran.exit_code and not tail and names and names <= PASSING:
        found.append("nothing of a shell is kept: write it before what needs it, with &&")
        if "cd" in names:
            found[-1] = f"a cd ends with its call: give 'cwd'{_or_change(ctx)}"
    if not ran.timed_out and "wait" not in names and BEHIND.search(QUOTED.sub("", command)):
        found.append("what still ran was ended with the call: use background=true instead of &")
    return [f"[{line}]" for line in dict.fromkeys(found)]


def python_hints(source: str, ran: Ran) -> list[str]:
    """The same for Python code."""
    errors = ran.stderr.last(TAIL)
    found = []
    if not ran.exit_code:
        return []
    if "SyntaxError" in errors and NOTEBOOK.search(source):
        found.append("lines with ! or % are of notebooks: run_command runs commands of the shell")
    if "EOFError: EOF when reading a line" in errors:
        found.append("nobody can answer input() here: write the values into the code")
    if OFFLINE.search(errors):
        found.append(NO_PACKAGES if PIP.search(errors) else _offline())
    return [f"[{line}]" for line in found]


def needs_screen(command: str) -> str:
    """The program that would wait for keys on a screen; empty for none."""
    if len(command) > MOST_READ:
        return ""
    commands = [c for c in read_script(command).commands if not c.nested]
    for each in commands:
        if each.name in SCREENS and all(w.text[:1] not in ("-", "+") for w in each.words[1:]):
            return each.name
    return ""


def screens(ctx: Ctx) -> str:
    """What to do instead."""
    if offers(ctx, "start_terminal"):
        return "Use start_terminal, or edit_file and read_file for files."
    return "Use edit_file and read_file for files, or options that make it run by itself."


def offers(ctx: Ctx, name: str) -> bool:
    """Whether the caller can use a tool."""
    return any(tool.name == name for tool in ctx.offered)


def _failed(tail: str, script: Script) -> Iterator[str]:
    missing = NOT_FOUND.search(tail)
    if missing:
        yield how_to_get(missing[1])
    if OFFLINE.search(tail):
        yield NO_PACKAGES if PIP.search(tail) else _offline()
    if WINDOWS.search(tail):
        yield "if the script has Windows line ends: sed -i 's/\\r$//' FILE"
    if DOCKER.search(tail):
        yield NEVER["docker"]
    if RIGHTS.search(tail):
        names = [command.name for command in script.commands if command.name in NEVER]
        yield NEVER[names[-1] if names else "sudo"]


def _offline() -> str:
    return "runs have no network; the user can open hosts with run.network"


def _or_terminal(ctx: Ctx) -> str:
    return ", or use start_terminal to answer it" if offers(ctx, "start_terminal") else ""


def _or_change(ctx: Ctx) -> str:
    return ", or use change_directory" if offers(ctx, "change_directory") else " or write cd X && …"


def _reads(script: Script) -> bool:
    """Whether a command would wait for input that is not there."""
    commands = [c for c in script.commands if not c.nested]
    if any(c.name == "read" and any(w.text == "-p" for w in c.words) for c in commands):
        return True
    return len(commands) == 1 and (
        commands[0].name == "read"
        or (commands[0].name in READERS and all(w.text[:1] == "-" for w in commands[0].words[1:]))
    )
