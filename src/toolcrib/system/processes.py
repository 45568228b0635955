"""The service that starts processes and makes sure that none is left."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol
from uuid import uuid4

from toolcrib.core.config import environment
from toolcrib.core.context import PlainService
from toolcrib.core.errors import BadInput, NotFound, Unavailable
from toolcrib.system.child import Process
from toolcrib.system.collector import OnOutput, Output, collect
from toolcrib.system.sweep import HAS_PROC, JANITOR, find, kill_now, own_memory, ticks
from toolcrib.system.threads import random_id

PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "TOOLCRIB_RUN_*",
)
"""What a child sees of our environment. Keys and tokens live in the rest of it."""
ALWAYS_PASSED_ON = ("SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "PATHEXT", "COMSPEC")
"""Without these hardly a program of Windows starts; other systems have none of them."""
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

CLOSING_GRACE = 0.5
Stdin = bytes | Literal["pipe"] | None


class Folder(Protocol):
    """A checked folder, such as a path of the workspace; open, it has a descriptor."""

    @property
    def display(self) -> str:
        """Its name in a message."""

    def open(self) -> Any:
        """Hold it by a descriptor: something with `kind`, `fd` and `absolute`, to be closed."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended. `exit_code` is minus the signal that ended it."""

    exit_code: int
    stdout: Output
    stderr: Output
    timed_out: bool
    seconds: float

    @property
    def truncated(self) -> bool:
        """Whether some output was not kept."""
        return bool(self.stdout.dropped or self.stderr.dropped)


class Mark(NamedTuple):
    """The variable by which the processes of one run are found again."""

    name: str
    value: str


class Processes(PlainService):
    """Starts child processes, each in a session of its own and in a clean environment.

    Whatever happens to this process, what it started is killed: by `run` and `kill`, by
    `close`, by `kill_all_now` where the event loop hangs, and by the janitor (see
    `sweep`) after a crash. Nothing here confines a child; that is the sandbox's part.
    """

    def __init__(self) -> None:
        self._name = f"TOOLCRIB_RUN_{uuid4().hex[:12]}"
        self._since = ticks() - 1
        self._count = 0
        self._running: dict[int, Process] = {}
        self._closed = False
        self._janitor: subprocess.Popen[bytes] | None = None
        self._folders: list[Path] = []

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Folder | str,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None,  # noqa: ASYNC109 - a time-out is a result here, not an error
        max_output: int = 1_000_000,
        on_output: OnOutput | None = None,
        merge: bool = False,
        passed_on: Sequence[str] = PASSED_ON,
        gather: float = 0.0,
    ) -> Finished:
        """Run a program to its end, or to the end of its time; then nothing of it is left.

        Args:
            argv: the program, found on the child's PATH, and its arguments. No shell.
            cwd: where it starts.
            env: variables beside those of `PASSED_ON`.
            stdin: what it reads; None is nothing.
            timeout: in seconds; None waits for the end.
            max_output: bytes kept of each stream, half from its start, half from its end.
            on_output: told of each chunk. The program waits while it takes its time.
            merge: send stderr into stdout, in the order of writing.
            passed_on: what it sees of our environment, as globs on the names.
            gather: see `Process`.

        Raises:
            Unavailable: the program is not there or cannot be started.
            BadInput, NotFound, PathDenied: the folder or the arguments are wrong.
        """
        process = await self.spawn(
            argv, cwd=cwd, env=env, stdin=stdin, merge=merge, passed_on=passed_on
        )
        process.gather = gather
        done = await collect(process, timeout, on_output, max_output, process.has_more)
        return Finished(
            exit_code=process.exit_code if process.exit_code is not None else -9,
            stdout=done.stdout,
            stderr=done.stderr,
            timed_out=done.timed_out,
            seconds=done.seconds,
        )

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Folder | str,
        env: Mapping[str, str] | None = None,
        stdin: Stdin = None,
        merge: bool = False,
        passed_on: Sequence[str] = PASSED_ON,
        descriptors: Sequence[int] = (),
    ) -> Process:
        """Start a program and go on; `Process.kill` ends it. Arguments and errors as `run`.

        `stdin="pipe"` leaves it open for `Process.write`. `descriptors` are open in the program
        too, under the same numbers.
        """
        variables = {
            "PATH": DEFAULT_PATH,
            **environment((*passed_on, *ALWAYS_PASSED_ON) if os.name == "nt" else passed_on),
            **(env or {}),
        }

        def start(mark: Mark) -> subprocess.Popen[bytes]:
            with _folder(cwd) as folder, _input(stdin) as source:
                marked = {**variables, mark.name: mark.value}
                return _start(argv, folder, marked, source, merge=merge, descriptors=descriptors)

        return await self.adopt(start)

    async def adopt(self, start: Callable[[Mark], subprocess.Popen[bytes]]) -> Process:
        """Look after a process that somebody else starts, as after one of `spawn`.

        Args:
            start: starts it, as the leader of a session of its own, with the mark in its
                environment or in that of all that it starts.

        Raises:
            Unavailable: this is closing. What `start` raises is passed on.
        """
        self._refuse_when_closed()
        self._start_janitor()
        self._count += 1
        mark = Mark(self._name, str(self._count))
        since = ticks() - 1
        popen = start(mark)
        process = Process(popen, f"{mark.name}={mark.value}\0", since, self._forget)
        self._running[id(process)] = process
        try:
            self._refuse_when_closed()  # another thread may have closed it meanwhile
            await process.connect()
        except BaseException:
            try:
                await process.kill(0)
            finally:  # also when it is cancelled once more
                process.close()
            raise
        return process

    def mark(self, name: str) -> Mark:
        """A mark for the environment of processes that a library starts.

        The janitor ends them should this process be killed.

        Raises:
            Unavailable: this is closing.
        """
        self._refuse_when_closed()
        self._start_janitor()
        return Mark(self._name, name)

    @contextmanager
    def marked_environment(self, name: str, **more: str) -> Iterator[None]:
        """Mark what a library starts meanwhile with the environment of this process.

        Args:
            name: of the mark.
            more: other variables for it.
        """
        mark = self.mark(name)
        tempfile.gettempdir()  # it is looked up once, and not to be that of the library
        given = {mark.name: mark.value, **more}
        before = {variable: os.environ.get(variable) for variable in given}
        os.environ.update(given)
        try:
            yield
        finally:
            for variable, value in before.items():
                if value is None:
                    os.environ.pop(variable, None)
                else:
                    os.environ[variable] = value

    def marked_memory(self, name: str) -> int:
        """Bytes that the processes with such a mark hold alone; 0 without /proc. Blocking."""
        return sum(own_memory(seen.pid) for seen in find(f"{self._name}={name}\0", {}, self._since))

    def marked_arguments(self, name: str) -> list[str]:
        """The arguments of the processes with such a mark; none without /proc. Blocking."""
        found: list[str] = []
        for seen in find(f"{self._name}={name}\0", {}, self._since):
            with suppress(OSError):
                found += os.fsdecode(Path(f"/proc/{seen.pid}/cmdline").read_bytes()).split("\0")
        return found

    def kill_marked(self, name: str, within: float = 2.0) -> None:
        """Kill them. Blocking, for `within` seconds at most."""
        kill_now(f"{self._name}={name}\0", {}, self._since, within)

    def scratch_folder(self) -> Path:
        """A folder for temporary files of a library's processes, removed with them. Blocking."""
        self._start_janitor()
        folder = Path(tempfile.gettempdir(), f"tc-{random_id(8)}")
        self.remove_later(folder)  # before it is there: this process may be killed between the two
        folder.mkdir(mode=0o700)
        return folder

    def remove_later(self, folder: Path) -> None:
        """Have a folder removed when this closes, or by the janitor should this process die.

        For what a library's processes leave in the place for temporary files.
        """
        self._folders.append(folder)
        if self._janitor is not None and self._janitor.stdin is not None:
            with suppress(OSError):
                self._janitor.stdin.write(os.fsencode(folder) + b"\0")
                self._janitor.stdin.flush()

    def remove_folders(self) -> None:
        """Remove them now. Blocking."""
        folders, self._folders = self._folders, []
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise Unavailable("toolcrib is closing.", hint="Start it again.")

    def _forget(self, process: Process) -> None:
        self._running.pop(id(process), None)

    @property
    def running(self) -> int:
        """How many were started and not yet ended by `kill`."""
        return len(self._running)

    async def close(self) -> None:
        """End everything that still runs."""
        self._closed = True
        processes = list(self._running.values())
        await asyncio.gather(*(process.kill(CLOSING_GRACE) for process in processes))
        for process in processes:
            process.close()
        await asyncio.to_thread(self.remove_folders)
        self._dismiss_janitor()

    def kill_all_now(self, within: float = 0.5) -> None:
        """Kill everything at once, from any thread, without the event loop.

        Args:
            within: seconds after which it returns in any case.
        """
        self._closed = True
        groups: dict[int, int] = {}
        for process in tuple(self._running.values()):
            groups |= process.group
            if sys.platform == "win32":
                process.kill_now()
        kill_now(f"{self._name}=", groups, self._since, within)

    def _start_janitor(self) -> None:
        if self._janitor is not None or not HAS_PROC or not sys.executable:
            return
        argv = [sys.executable, "-I", "-S", "-B", JANITOR, f"{self._name}="]
        try:
            self._janitor = subprocess.Popen(  # noqa: S603 - our own file
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            self._janitor = None

    def _dismiss_janitor(self) -> None:
        if self._janitor is None:
            return
        # Its work is done; should a process not even die by SIGKILL, it stays on for that.
        if not find(f"{self._name}=", {}, self._since):
            self._janitor.kill()
        assert self._janitor.stdin is not None
        self._janitor.stdin.close()
        self._janitor.wait()
        self._janitor = None


def _start(
    argv: Sequence[str],
    folder: str,
    variables: Mapping[str, str],
    source: int,
    *,
    merge: bool,
    descriptors: Sequence[int],
) -> subprocess.Popen[bytes]:
    if not argv or not argv[0]:
        raise BadInput("There is no program to run.")
    try:
        return subprocess.Popen(  # noqa: S603 - what to run is decided before
            list(argv),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE,
            cwd=folder,
            env=variables,
            bufsize=0,
            start_new_session=True,
            pass_fds=descriptors,
        )
    except ValueError as error:
        raise BadInput(f"The command cannot be run: {error}.") from None
    except FileNotFoundError:
        raise Unavailable(
            f"The program {argv[0]} is not on this machine.", hint="Install it, or use another."
        ) from None
    except OSError as error:
        raise Unavailable(
            f"{argv[0]} cannot be started: {error.strerror or error}.",
            hint="Check that it is a program for this machine and may be run.",
        ) from None


@contextmanager
def _folder(cwd: Folder | str) -> Iterator[str]:
    """A name of the folder that stays right until the child is in it."""
    if isinstance(cwd, str):
        if not Path(cwd).is_dir():
            raise NotFound(f"The folder {cwd} does not exist.", hint="Name a folder that exists.")
        yield cwd
        return
    with cwd.open() as handle:
        if handle.kind != "folder":
            raise BadInput(f"{cwd.display} is a file, not a folder.")
        # The child is still a copy of this process when it goes there.
        yield f"/proc/self/fd/{handle.fd}" if HAS_PROC else handle.absolute


@contextmanager
def _input(stdin: Stdin) -> Iterator[int]:
    """What becomes the child's stdin. Bytes go through a file, so that nobody has to feed them."""
    if stdin is None:
        yield subprocess.DEVNULL
    elif isinstance(stdin, str):
        yield subprocess.PIPE
    else:
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            yield file.fileno()
