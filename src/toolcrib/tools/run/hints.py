"""What a run that went wrong in a usual way is in need of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcrib.core.context import Ctx
from toolcrib.execution.interpreters.programs import NEVER, how_to_get
from toolcrib.execution.interpreters.python import NO_PACKAGES
from toolcrib.execution.runs.outcome import RunResult
from toolcrib.execution.shell_parser import ShellScript, read_script

TAIL = 2_000
MOST_READ = 20_000
"""Characters of a command that is looked into for a hint; reading more takes seconds."""
ASKS = re.compile(
    r"EOF when reading a line|not a (?:tty|terminal)|[Ii]nappropriate ioctl|stdin is not"
    r"|\[[yY]/[nN]\]:?\s*$|\(y(?:es)?/no?\)\??:?\s*$|[Pp]assword(?: for [^:\n]{1,80})?:\s*$"
    r"|unable to read from stdin|input is not|failed tty get"
)
NOT_FOUND = re.compile(r"(?:line \d+: |: )([\w.+-]{1,60}): (?:command )?not found")
UNNAMED = re.compile(
    r"[Cc]ould not resolve|Temporary failure in name resolution|Name or service not known"
    r"|EAI_AGAIN|ENOTFOUND|No address associated|unable to resolve host|from versions: none"
)
"""A failed lookup of a name."""
REFUSED = re.compile(
    r"[Nn]etwork is unreachable|Failed to establish a new connection|[Cc]onnection refused"
    r"|ECONNREFUSED|ENETUNREACH|Failed to connect to|Couldn't connect to server"
    r"|connect E(?:ACC\w+|PERM)\b|urlopen error \[Errno 13\]|Requires net access to"
    r"|line \d+, in create_connection\n(?:.*\n){1,9}PermissionError"
)
FETCHES = re.compile(
    r"\b(?:curl|wget|fetch|https?|urllib\d?|requests|httpx|aiohttp|socket|net|pip3?)\b"
)
"""What asks some host: its failure may be caught, or lost in a pipe."""
LOCAL = re.compile(r"\blocalhost\b|\b127(?:\.\d{1,3}){3}\b|\b0\.0\.0\.0\b|\[::1?\]")
SILENT = {"curl": {6: "Could not resolve", 7: "Failed to connect to"}, "wget": {4: "ECONNREFUSED"}}
"""The exit codes of programs that may say nothing, and what each would have said."""
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


def hints_of(ctx: Ctx, command: str, ran: RunResult, *, fed: bool) -> list[str]:
    """A line for each thing that a command is in need of."""
    if len(command) > MOST_READ:
        return []
    tail = f"{ran.stdout.last(TAIL)}\n{ran.stderr.last(TAIL)}".rstrip()
    script = read_script(command)
    found = list(_failed(tail, script)) if ran.exit_code else []
    found += _network(ctx, command, ran, _silent(script, ran.exit_code))
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


def python_hints(ctx: Ctx, source: str, ran: RunResult) -> list[str]:
    """The same for Python code."""
    errors = ran.stderr.last(TAIL)
    found = []
    if ran.exit_code and "SyntaxError" in errors and NOTEBOOK.search(source):
        found.append("lines with ! or % are of notebooks: run_command runs commands of the shell")
    if ran.exit_code and "EOFError: EOF when reading a line" in errors:
        found.append("nobody can answer input() here: write the values into the code")
    return [f"[{line}]" for line in (*found, *_network(ctx, source, ran))]


def javascript_hints(ctx: Ctx, source: str, ran: RunResult) -> list[str]:
    """The same for JavaScript."""
    return [f"[{line}]" for line in _network(ctx, source, ran)]


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


def _failed(tail: str, script: ShellScript) -> Iterator[str]:
    missing = NOT_FOUND.search(tail)
    if missing:
        yield how_to_get(missing[1])
    if WINDOWS.search(tail):
        yield "if the script has Windows line ends: sed -i 's/\\r$//' FILE"
    if DOCKER.search(tail):
        yield NEVER["docker"]
    if RIGHTS.search(tail):
        names = [command.name for command in script.commands if command.name in NEVER]
        yield NEVER[names[-1] if names else "sudo"]


def _silent(script: ShellScript, code: int) -> str:
    """What a program that was told to be silent would have said."""
    names = {command.name for command in script.commands}
    return "".join(said.get(code, "") for name, said in SILENT.items() if name in names)


def _network(ctx: Ctx, source: str, ran: RunResult, silent: str = "") -> list[str]:
    """Why nothing answers, if a run asked some host and got no answer."""
    source = source[:MOST_READ]
    if ran.level == "none" or not (ran.exit_code or FETCHES.search(source)):
        return []
    tail = f"{ran.stdout.last(TAIL)}\n{ran.stderr.last(TAIL)}\n{silent}"
    unnamed = UNNAMED.search(tail)
    if not unnamed and not REFUSED.search(tail):
        return []
    if PIP.search(tail):
        return [NO_PACKAGES]
    if unnamed or not LOCAL.search(source):
        hosts = ", ".join(ctx.config.run.network)
        reach = f"runs reach no other hosts than {hosts}" if hosts else "runs have no network"
        return [f"{reach}; the user can open hosts with run.network"]
    if ran.level == "kernel" or "Requires net access to" in tail:
        return ["runs have no network here, not even a loopback of their own"]
    terminal = ", or in one terminal" if offers(ctx, "start_terminal") else ""
    own = "each run has a loopback of its own: start the server and ask it in the same run"
    return [f"{own}{terminal}"]


def _or_terminal(ctx: Ctx) -> str:
    return ", or use start_terminal to answer it" if offers(ctx, "start_terminal") else ""


def _or_change(ctx: Ctx) -> str:
    return ", or use change_directory" if offers(ctx, "change_directory") else " or write cd X && …"


def _reads(script: ShellScript) -> bool:
    """Whether a command would wait for input that is not there."""
    commands = [c for c in script.commands if not c.nested]
    if any(c.name == "read" and any(w.text == "-p" for w in c.words) for c in commands):
        return True
    return len(commands) == 1 and (
        commands[0].name == "read"
        or (commands[0].name in READERS and all(w.text[:1] == "-" for w in commands[0].words[1:]))
    )
