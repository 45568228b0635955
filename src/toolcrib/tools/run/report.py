"""The report of a run: its output, how it ended, and what became of the files."""

from __future__ import annotations

import asyncio
import codecs
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import Blocked, StorageFailure, TimedOut, TooLarge, ToolError
from toolcrib.core.result import ErrorInfo, Image, Next, Result
from toolcrib.execution.interpreters.pictures import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    first_pictures,
)
from toolcrib.execution.interpreters.programs import UNAVAILABLE_PROGRAMS, how_to_get
from toolcrib.execution.interpreters.python import NO_PACKAGES
from toolcrib.execution.runs.outcome import RunOutcome, RunResult
from toolcrib.execution.runs.runs import LiveRun, Runs
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.execution.shell_parser import ShellScript, read_script
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.net.egress.policy import SERVER_HOSTS, HostRule
from toolcrib.state.results import Results
from toolcrib.system.child import Chunk
from toolcrib.system.collector import Ring
from toolcrib.system.threads import in_thread, in_thread_if_large
from toolcrib.text.cleaner import printed
from toolcrib.text.display import counted, printable, some_of
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import head_and_tail
from toolcrib.tools.run.named_places import place_hints

PROGRESS_SECONDS = 0.25
MAX_PROGRESS_CHARS = 4_000
"""Characters of one message; of more, the end."""
MAX_WAITING_BYTES = 4 * MAX_PROGRESS_CHARS
"""Bytes between two messages that are decoded; of a flood, the end."""


class OutputFollower:
    """Takes the output of a run while it comes, and reports it as progress.

    Attributes:
        ring: both streams in the order of arrival; the head and the tail of them.
    """

    def __init__(self, ctx: Ctx) -> None:
        self.ring = Ring()
        self._ctx = ctx
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new = bytearray()
        self._waiting = ""
        self._progress_task: asyncio.Task[None] | None = None

    def __call__(self, chunk: Chunk) -> None:
        """Keep a chunk; it is reported soon after. Nothing more is done with it for now."""
        self.ring.write(chunk.data)
        self._new += chunk.data[-MAX_WAITING_BYTES:]
        if len(self._new) > MAX_WAITING_BYTES:
            del self._new[:-MAX_WAITING_BYTES]
            self._decoder.reset()
            self._waiting = ""

    async def __aenter__(self) -> Self:
        self._progress_task = asyncio.create_task(self._report_progress())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._progress_task is not None:
            self._progress_task.cancel()
            await asyncio.gather(self._progress_task, return_exceptions=True)

    async def _report_progress(self) -> None:
        """Report whole lines a few times a second."""
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            self._waiting += self._decoder.decode(bytes(self._new))
            self._new.clear()
            lines, end, rest = self._waiting.rpartition("\n")
            if not end and len(self._waiting) < MAX_PROGRESS_CHARS:
                continue
            self._waiting = rest if end else ""
            text = printed(lines if end else rest).strip("\n")
            if text:
                await self._ctx.progress(text[-MAX_PROGRESS_CHARS:])


MAX_FILES = 12
MAX_REFUSED = 5
MAX_LOST = 3
MAX_SEARCHED_PICTURES = 20
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
HEAD_SHARE = 0.3
"""Of the room for output: the end of it usually says what went wrong."""
RUN_AGAIN = "to make these changes run it again with commit=auto; or "
BY_USER = "[{again}the user makes them with: toolcrib call apply_changes id={id}]"
CRASHES = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL"}
CRASHES |= {139: "SIGSEGV", 143: "SIGTERM"}
NETWORK_SOURCE = "a program with network"
LIMITS = {
    "memory": ("run.limits.memory_mb", "too much memory"),
    "disk": ("run.limits.disk_mb", "too much room on the disk"),
    "output": ("run.limits.output_mb", "too much output"),
    "processes": ("run.limits.processes", "too many processes"),
    "open files": ("run.limits.open_files", "too many open files"),
    "measuring": ("run.limits", "what it uses could not be measured"),
}


async def report(
    ctx: Ctx,
    tool: str,
    ran: RunResult,
    ring: Ring,
    *,
    limit: float,
    notes: Sequence[str] = (),
    lead: str = "",
    facts: Mapping[str, Any] | None = None,
    quiet: bool = False,
    pictures: Sequence[Image] = (),
) -> Result:
    """The result of a run that ended.

    Args:
        ctx: the call.
        tool: its name.
        ran: how it ended.
        ring: what it wrote, both streams in one.
        limit: seconds that it had.
        notes: further lines behind the output.
        lead: what stands before the output and is never cut.
        facts: more data.
        quiet: the output is left out of the text: `lead` says all that matters.
        pictures: what it showed; those among the files that it made come after them.
    """
    size = ring.total + ran.stdout.size + ran.stderr.size
    own = [root.real for root in ctx.use(Workspace).roots]
    body, data = await in_thread_if_large(size, lambda: (_body(ring, ran, own), _facts(ran)))
    body, whole = ("", body) if quiet else (body, "")
    outcome = ran.outcome
    error = _stopped(ran, limit, tool)
    lines = [_ending(ran, empty=not body and not quiet), *notes, *_refused(ran)]
    lines += change_lines(outcome)
    if ran.lost and not lead:
        names = printable(some_of(ran.lost, MAX_LOST))
        lines.append(f"[gone with the run, as only files of the workspace last: {names}]")
    apply = outcome.next
    if apply is not None and all(tool.name != apply.tool for tool in ctx.offered):
        # What only the user can make is held again, whatever the call says.
        by_user = await ctx.use(Runs).is_for_user(outcome.pending_id, ctx)
        again = RUN_AGAIN if ctx.config.run.commit == "auto" and not by_user else ""
        lines.append(BY_USER.format(again=again, id=outcome.pending_id))
        apply = None
    if ran.level != "strong":
        lines.append(f"[sandbox: {ran.level}]")
    source = source_of(ran.network)
    text, more = await fit_to_budget(ctx, tool, body, "\n".join(lines), lead, source)
    if whole:
        more = await _store_output(ctx, whole, source)
    if (apply or whole) and more:
        text += f"\n[the rest of the output: {more}]"
    return Result(
        text=text,
        data=data | dict(facts or {}),
        truncated=more is not None and not whole,
        next=apply or (None if whole else more),
        error=error,
        source=source,
        private=True,
        images=tuple([*pictures, *await _made_pictures(ctx, ran, len(pictures))][:MAX_PICTURES]),
    )


async def _made_pictures(ctx: Ctx, ran: RunResult, count: int) -> list[Image]:
    """Pictures among the files that a run made, as far as they may be read."""
    if ran.outcome.state != "applied" or count >= MAX_PICTURES:
        return []
    paths = [
        changed.path
        for changed in ran.outcome.files
        if changed.kind != "deleted"
        and changed.path.lower().endswith(PICTURE_SUFFIXES)
        and changed.size <= MAX_PICTURE_BYTES
    ]
    if not paths:
        return []

    def contents() -> Iterator[bytes]:
        for path in paths[:MAX_SEARCHED_PICTURES]:
            with suppress(ToolError, OSError):
                place = ctx.use(Workspace).resolve(path, ctx.session.directory)
                with place.open_read() as handle:
                    yield handle.file.read(MAX_PICTURE_BYTES + 1)

    return await in_thread(lambda _: first_pictures(contents()))


def _body(ring: Ring, ran: RunResult, own: Sequence[str]) -> str:
    """The output as text; a log that a command writes out is left as it is, frames and all."""
    text = printed(ring_text(ring)).strip("\n")
    return without_library_frames(text, own) if _TRACEBACK in str(ran.stderr) else text


def _facts(ran: RunResult) -> dict[str, Any]:
    return {
        "exit_code": ran.exit_code,
        "stdout": str(ran.stdout),
        "stderr": str(ran.stderr),
        "bytes": ran.stdout.size + ran.stderr.size,
        "seconds": round(ran.seconds, 3),
        "timed_out": ran.timed_out,
        "stopped": ran.stopped,
        "sandbox": {"level": ran.level, "network": list(ran.network.hosts)},
        "changes": ran.outcome.to_json(),
        "lost": list(map(printable, ran.lost)),
    }


MIN_FRAMES = 3
_TRACEBACK = "Traceback (most recent call last)"
_FRAME = re.compile(r'  File "([^"\n]{1,1000})", line \d')
_LIBRARY = re.compile(r"<frozen |/(?:.*/)?(?:lib/python3[.\d]*|(?:site|dist)-packages)/")
_PACKAGE = re.compile(r"-packages/(\w+)")


def without_library_frames(text: str, own: Sequence[str]) -> str:
    """A text in which frames of a traceback that are of libraries stand as one line.

    The last of them stays: it is the one that raised, or that called what is not left out.

    Args:
        text: the output.
        own: folders of the user; no frame of a file beneath them is left out.
    """
    lines: list[str] = []
    frames: dict[int, str] = {}
    for line in text.split("\n"):
        found = _FRAME.match(line)
        path = found[1] if found else ""
        if _LIBRARY.match(path) and not any(path.startswith(f"{folder}/") for folder in own):
            frames[len(lines)] = path
        elif found or not line.startswith("    "):
            _fold(lines, frames)
        lines.append(line)
    _fold(lines, frames)
    return "\n".join(lines)


def _fold(lines: list[str], frames: dict[int, str]) -> None:
    """Put one line in the place of frames, by the number of the first line of each."""
    if len(frames) >= MIN_FRAMES:
        first, *_, last = frames
        packages = (_PACKAGE.search(frames[place]) for place in [*frames][:-1])
        names = list(dict.fromkeys(found[1] if found else "" for found in packages))
        listed = some_of(filter(None, names)) or "the standard library"
        lines[first:last] = [f"  … {len(frames) - 1} frames of {listed} …"]
    frames.clear()


LOST_MARK = "\n[{count:,} bytes not kept, from offset {offset}]\n"
LOST = re.compile(r"\n\[([\d,]+ bytes not kept), from offset \d+\]\n")


def ring_text(ring: Ring) -> str:
    """What a ring holds, with a line in the place of what it dropped."""
    parts: list[str] = []
    end = 0
    for segment in ring.segments():
        if segment.start > end:
            parts.append(LOST_MARK.format(count=segment.start - end, offset=end))
        parts.append(segment.data.decode("utf-8", "replace"))
        end = segment.end
    return "".join(parts)


async def fit_to_budget(
    ctx: Ctx, tool: str, body: str, tail: str, lead: str = "", source: str = ""
) -> tuple[str, Next | None]:
    """Output with what stands around it, cut to the budget; and the call that reads the rest."""
    room = max(room_in(ctx.budget(tool)) - estimate(tail) - estimate(lead), 50)
    around = [lead, "", tail]
    head, end, (first, last) = await in_thread_if_large(
        len(body), head_and_tail, body, room, HEAD_SHARE
    )
    if first >= last:
        around[1] = body
        return "\n".join(part for part in around if part), None
    more = await _store_output(ctx, body, source, first)
    lost = "".join(f"; {found}" for found in LOST.findall(body, first, last))
    middle = f"[{last - first:,} of {len(body):,} characters left out here{lost}]"
    around[1] = f"{head.rstrip()}\n{middle}\n{end}"
    return "\n".join(part for part in around if part), more


async def _store_output(ctx: Ctx, body: str, source: str, offset: int = 0) -> Next | None:
    """Store output; the call that reads it from an offset on."""
    try:
        handle = await ctx.use(Results).keep(body, ctx.session.id, source)
    except StorageFailure as error:
        ctx.warn(f"The rest could not be kept: {error.message}")
        return None
    return Next("read_more", {"handle": handle, "offset": offset})


def change_lines(outcome: RunOutcome) -> list[str]:
    """What became of the files, a line each."""
    lines = list(outcome.notes)
    if outcome.state == "none":
        return lines
    named = [_named(changed) for changed in outcome.files[:MAX_FILES]]
    rest = len(outcome.files) + outcome.more - len(named)
    listed = ", ".join(named + ([_unnamed(outcome, rest)] if rest > 0 else []))
    if outcome.state == "applied":
        return [f"[files: {listed}]", *lines]
    state_line = {
        "held": f"[held back as {outcome.pending_id}, nothing is changed yet: {listed}]",
        "dropped": f"[dropped, nothing is changed: {listed}]",
    }[outcome.state]
    return [state_line, *([outcome.diff.rstrip("\n")] if outcome.diff else []), *lines]


def source_of(access: NetworkAccess) -> str:
    """Where what a run wrote may come from; empty where it could reach nobody."""
    return NETWORK_SOURCE if access.hosts else ""


def _refused(ran: RunResult) -> list[str]:
    """What the guard did not let it reach, and what else is to be known of its network."""
    lines = [f"[{note}]" for note in ran.network.notes]
    allowed = list(map(HostRule.parse, ran.network.hosts))
    by_address = [error for error in ran.network.refused if _is_allowed(error, allowed)]
    by_name = [error for error in ran.network.refused if error not in by_address]
    if refused := dict.fromkeys(filter(None, map(_refused_name, by_name))):
        names = ", ".join([*refused][:MAX_REFUSED])
        lines.append(f"[not reached, as they are not in 'network': {names}]")
    # Its address is not public, or its port not one of the web.
    messages = {error.message: error.hint for error in by_address}
    texts = (f"{message} {hint}".strip() for message, hint in [*messages.items()][:MAX_REFUSED])
    return lines + [f"[not reached: {printable(text)}]" for text in texts]


def _is_allowed(error: Blocked, rules: Sequence[HostRule]) -> bool:
    """Whether a host may be reached, so that something else was wrong."""
    host = str(error.details.get("host", ""))
    names = [rule.host for rule in rules]
    return host in names or any(name[:2] == "*." and host.endswith(name[1:]) for name in names)


def _refused_name(error: Blocked) -> str:
    """What was refused: a host, and of this machine the port, which says what was meant."""
    host, port = str(error.details.get("host", "")), error.details.get("port")
    return f"{host}:{port}" if port and host in SERVER_HOSTS else host


def served_lines(ctx: Ctx, running: LiveRun) -> list[str]:
    """Where the ports of a run are reached, a line each; the conversation may open them."""
    lines = []
    for port, url in running.addresses.items():
        ctx.session.remember_link(url)
        taken = "" if url.endswith(f":{port}/") else ", as its own number is taken here"
        lines.append(f"[port {port}: {url} for fetch_url, browsers and other runs{taken}]")
    return lines


def _unnamed(outcome: RunOutcome, count: int) -> str:
    """How many changed files are not named, and the folders that they lie in."""
    folders = dict.fromkeys(
        f"{posixpath.dirname(changed.path) or '.'}/" for changed in outcome.files[MAX_FILES:]
    )
    what = f"{count:,} more" if outcome.files else counted(count, "file")
    return what + (f", some in {some_of(list(folders))}" if folders else "")


def _named(changed: Any) -> str:
    counts = f" +{changed.added} -{changed.removed}" if changed.added or changed.removed else ""
    leads = f", a link to {changed.target}" if changed.target else ""
    return f"{changed.path} {changed.kind}{counts}{leads}"


def _ending(ran: RunResult, *, empty: bool) -> str:
    signal = CRASHES.get(ran.exit_code)
    parts = [f"exit code {ran.exit_code}{f' ({signal})' if signal else ''}"]
    if ran.timed_out:
        parts = ["stopped: its time was up"]
    elif ran.stopped:
        parts = [f"stopped: {LIMITS.get(ran.stopped, ('', ran.stopped))[1]}"]
    if empty:
        parts.append("no output")
    return f"[{', '.join([*parts, f'{ran.seconds:.1f} s'])}]"


def _stopped(ran: RunResult, limit: float, tool: str) -> ErrorInfo | None:
    """The failure of a run that did not come to its own end."""
    if ran.timed_out or ran.stopped == "time":
        return ErrorInfo(
            TimedOut.code,
            f"{tool} was stopped after {limit:g} seconds.",
            "Give a longer 'timeout', or do less at a time.",
        )
    if ran.stopped:
        setting, what = LIMITS.get(ran.stopped, ("run.limits", ran.stopped))
        return ErrorInfo(
            TooLarge.code,
            f"{tool} was stopped: {what}.",
            f"Do less at a time. The user can raise {setting}.",
        )
    return None


# Hints behind the output of a run that went wrong in a usual way, each a line on what it needs.

TAIL = 2_000
MAX_PARSED_CHARS = 20_000
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
FOLLOWS = re.compile(r"\b(?:tail|journalctl)\b[^|;&\n]* (?:-\d*[fF]\b|--follow)|\bwatch ")
"""Commands that go on until they are stopped."""
NO_NPM_PACKAGES = NO_PACKAGES.partition(": ")[0] + ": npm install NAME"
PIP = re.compile(r"\bpip\b|from versions: none|npm (?:ERR!|error)|/simple/")
WINDOWS = re.compile(r"\$'\\r'|\\r'?: |required file not found|bad interpreter|: unexpected end of")
READERS = {"cat", "read", "sort", "wc", "tee", "python", "python3", "node", "bash", "sh", "bc"}
"""Commands that read their stdin where they are given nothing else."""
SCREENS = {
    *("vi", "vim", "nvim", "nano", "pico", "emacs", "htop", "btop", "tmux", "screen", "mc"),
    *("nmtui", "ncdu", "lazygit", "tig", "top"),
}
"""Programs that draw on a screen and wait for keys, if they are given no options."""
KILLERS = {"kill", "pkill", "killall", "fuser"}
PASSING = {"cd", "pushd", "popd", "export", "alias", "set", "source", ".", "unset", "shopt"}
"""What holds for its own shell only."""
BEHIND = re.compile(r"(?<![&>|<\\])&(?![&>\d])|\b(?:nohup|setsid|disown)\b")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
NOTEBOOK = re.compile(r"^[ \t]*[!%]\w", re.MULTILINE)
GIT_SETTINGS = re.compile(r"could not write config file [^\n]*: Device or resource busy")
DOCKER = re.compile(r"[Cc]annot connect to the Docker daemon|docker\.sock")
SERVES = re.compile(
    r"\b(?:serving|listening|running|started|ready|available|local)\b[^\n]{0,80}?"
    r"(?:\bport |(?:https?://[^\s:/]{1,80}|\blocalhost|\d\.\d{1,3}|\]|\*|\s):)(\d{2,5})\b(?!:)",
    re.IGNORECASE,
)
"""What servers say once they can be reached, with the port."""
SERVERS = re.compile(
    r"\b(?:http\.server|runserver|uvicorn|gunicorn|hypercorn|flask\b.{1,40}\brun|streamlit run|vite"
    r"|next dev|(?:npm|yarn|pnpm)(?: run)? (?:start|dev|serve)|php -S|rails s|http-server"
    r"|(?:jekyll|hugo|mkdocs) serv)"
)
"""Commands of usual ones, which may say nothing while their output is a pipe."""
RIGHTS = re.compile(
    r"^sudo: |are you root\?|must be (?:run as )?root|no new privileges", re.MULTILINE
)


def hints_of(ctx: Ctx, command: str, ran: RunResult, folder: SafePath, *, fed: bool) -> list[str]:
    """A line for each thing that a command is in need of."""
    if len(command) > MAX_PARSED_CHARS:
        return []
    tail = f"{ran.stdout.last(TAIL)}\n{ran.stderr.last(TAIL)}".rstrip()
    script = read_script(command)
    found = list(_failed(tail, script, folder)) if ran.exit_code else []
    found += _network(command, ran, _silent(script, ran.exit_code))
    fed = fed or bool(script.reads) or "<<" in command
    if not fed and (ASKS.search(tail) or (not tail.strip() and _reads(script))):
        found.append(f"its stdin is empty: give 'input'{_or_terminal(ctx)}")
    uses_git = any(command.name == "git" for command in script.commands)
    found += place_hints(ctx, ran, tail, folder, git=uses_git)
    names = {c.name for c in script.commands if not c.nested}
    if not ran.exit_code and not tail and names and names <= PASSING:
        found.append("nothing of a shell is kept: write it before what needs it, with &&")
        if "cd" in names:
            found[-1] = f"a cd ends with its call: give 'cwd'{_or_change(ctx)}"
    if ran.timed_out and (serves := SERVES.search(tail)):
        found.append(f"a server: ports=[{serves[1]}] keeps it going, and opens it")
    elif ran.timed_out and SERVERS.search(command):
        found.append("if it is a server, ports=[ITS PORT] keeps it going, and opens it")
    elif ran.timed_out and FOLLOWS.search(command):
        found.append("it never ends by itself: background=true keeps it going for read_job")
    behind = BEHIND.search(QUOTED.sub("", command))
    kills = any(command.name in KILLERS for command in script.commands)
    if kills and ran.level != "none" and (ran.exit_code or not behind):
        found.append(f"no run reaches the programs of others: {_to_stop(ctx)}")
    if not ran.timed_out and "wait" not in names and behind:
        found.append("what still ran was ended with the call: use background=true instead of &")
    return [f"[{line}]" for line in dict.fromkeys(found)]


def python_hints(ctx: Ctx, source: str, ran: RunResult, folder: SafePath) -> list[str]:
    """The same for Python code."""
    errors = ran.stderr.last(TAIL)
    found = []
    if ran.exit_code and "SyntaxError" in errors and NOTEBOOK.search(source):
        found.append("lines with ! or % are of notebooks: run_command runs commands of the shell")
    if ran.exit_code and "EOFError: EOF when reading a line" in errors:
        found.append("nobody can answer input() here: write the values into the code")
    found += place_hints(ctx, ran, errors, folder)
    return [f"[{line}]" for line in (*found, *_network(source, ran))]


def javascript_hints(source: str, ran: RunResult) -> list[str]:
    """The same for JavaScript."""
    return [f"[{line}]" for line in _network(source, ran)]


def needs_screen(command: str) -> str:
    """The program that would wait for keys on a screen; empty for none."""
    if len(command) > MAX_PARSED_CHARS:
        return ""
    commands = [c for c in read_script(command).commands if not c.nested]
    for each in commands:
        if each.name in SCREENS and all(w.text[:1] not in ("-", "+") for w in each.words[1:]):
            return each.name
    return ""


def screen_alternative(ctx: Ctx) -> str:
    """What to do instead."""
    if offers(ctx, "start_terminal"):
        return "Use start_terminal, or edit_file and read_file for files."
    return "Use edit_file and read_file for files, or options that make it run by itself."


def offers(ctx: Ctx, name: str) -> bool:
    """Whether the caller can use a tool."""
    return any(tool.name == name for tool in ctx.offered)


def _failed(tail: str, script: ShellScript, folder: SafePath) -> Iterator[str]:
    missing = NOT_FOUND.search(tail)
    if missing and os.path.isfile(f"{folder.absolute}/{missing[1]}"):  # noqa: PTH113
        yield f"{missing[1]} is a file: cat {missing[1]} shows it, ./{missing[1]} runs it"
    elif missing:
        yield how_to_get(missing[1])
    if WINDOWS.search(tail):
        yield "if the script has Windows line ends: sed -i 's/\\r$//' FILE"
    if GIT_SETTINGS.search(tail):
        yield (
            "the settings of this repository cannot be changed by a run: they hold credentials, "
            "of which it reads a copy without, or it goes on in the background"
        )
    if DOCKER.search(tail):
        yield UNAVAILABLE_PROGRAMS["docker"]
    if RIGHTS.search(tail):
        names = [
            command.name for command in script.commands if command.name in UNAVAILABLE_PROGRAMS
        ]
        yield UNAVAILABLE_PROGRAMS[names[-1] if names else "sudo"]


def _silent(script: ShellScript, code: int) -> str:
    """What a program that was told to be silent would have said."""
    names = {command.name for command in script.commands}
    return "".join(messages.get(code, "") for name, messages in SILENT.items() if name in names)


def _network(source: str, ran: RunResult, silent: str = "") -> list[str]:
    """Why nothing answers, if a run asked some host and got no answer."""
    source = source[:MAX_PARSED_CHARS]
    if ran.level == "none" or not (ran.exit_code or FETCHES.search(source)):
        return []
    tail = f"{ran.stdout.last(TAIL)}\n{ran.stderr.last(TAIL)}\n{silent}"
    unnamed = UNNAMED.search(tail)
    if not unnamed and not REFUSED.search(tail):
        return []
    hosts = ", ".join(ran.network.hosts)
    if PIP.search(tail):
        npm = "npm" in source and "pip" not in source
        return [] if hosts else [NO_NPM_PACKAGES if npm else NO_PACKAGES]
    if unnamed or not LOCAL.search(source):
        reach = f"this run reaches no other hosts than {hosts}" if hosts else "it has no network"
        return [f"{reach}: name the hosts in 'network', and the user is asked"]
    if ran.level == "kernel" or "Requires net access to" in tail:
        return ["runs have no network here, not even a loopback of their own"]
    return ["each run has a loopback of its own: start the server with 'ports' to reach it here"]


def _or_terminal(ctx: Ctx) -> str:
    return ", or use start_terminal to answer it" if offers(ctx, "start_terminal") else ""


def _or_change(ctx: Ctx) -> str:
    return ", or use change_directory" if offers(ctx, "change_directory") else " or write cd X && …"


def _to_stop(ctx: Ctx) -> str:
    with_tool = offers(ctx, "stop_job")
    return f"to end a job, {'use stop_job' if with_tool else 'run the command kill JOB alone'}"


def _reads(script: ShellScript) -> bool:
    """Whether a command would wait for input that is not there."""
    commands = [c for c in script.commands if not c.nested]
    if any(c.name == "read" and any(w.text == "-p" for w in c.words) for c in commands):
        return True
    return len(commands) == 1 and (
        commands[0].name == "read"
        or (commands[0].name in READERS and all(w.text[:1] == "-" for w in commands[0].words[1:]))
    )
