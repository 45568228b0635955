"""Run by another interpreter: confines itself as it is told, and becomes the program.

It starts what runs without namespaces: at level kernel behind Landlock and seccomp, with a parent
that ends what is left; at level none with limits alone. All was worked out before, so only calls
are made in here, and nothing is imported but what is built in: this stands in the way of every
such run.
"""

from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found]
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    if sys.platform != "linux":  # nothing here is called elsewhere
        raise ImportError

    LaunchPlan = dict[str, Any]
else:
    LaunchPlan = dict

MACHINE = posix.uname().machine
NR_PRCTL = {"x86_64": 157, "aarch64": 167}
NR_PRLIMIT = {"x86_64": 302, "aarch64": 261}
NR_IOCTL = {"x86_64": 16, "aarch64": 29}
NR_CAPSET = {"x86_64": 126, "aarch64": 91}
NR_SECCOMP = {"x86_64": 317, "aarch64": 277}
NR_UNSHARE = {"x86_64": 272, "aarch64": 97}
NR_RULESET, NR_RULE, NR_RESTRICT = 444, 445, 446
NEW_PROCESS_IDS = 0x20000000
SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_BOUND, SUBREAPER, NO_NEW_PRIVS = 1, 4, 24, 36, 38
AMBIENT, AMBIENT_CLEAR = 47, 4
CAPABILITY_VERSION = 0x20080522
TIOCSCTTY = 0x540E
PATH_ONLY = 0x200000
UNDER_PATH, OF_PORT = 1, 2
SET_FILTER = 1
HIGHEST_FD = 1 << 16
CANNOT_EXECUTE, KILLED = 126, 137


# System calls, without ctypes, whose import takes too long.


class CLong(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001
    """A number of the machine's size."""

    _type_ = "l"


class CChar(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001
    """A byte."""

    _type_ = "c"


class _SyscallFunction(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = CLong


_library: Any = None
_call = _SyscallFunction(_ctypes.dlsym(_ctypes.dlopen(_library, 0), "syscall"))


class StepFailed(Exception):
    """A step of the confinement did not work, so nothing is run."""


def call(number: int, *arguments: Any) -> int:
    """A system call; minus the error number where it fails."""
    done: int = _call(CLong(number), *(CLong(a) if isinstance(a, int) else a for a in arguments))
    return done if done >= 0 else -int(_ctypes.get_errno())


def require(what: str, done: int) -> int:
    """What a call gave.

    Raises:
        StepFailed: it failed.
    """
    if done < 0:
        raise StepFailed(f"{what}: {posix.strerror(-done)}")
    return done


def send_status(fd: int, text: str) -> None:
    """Report how far this got: R is ready, X and F with words say why not."""
    try:  # noqa: SIM105
        posix.write(fd, text.encode("utf-8", "replace"))
    except OSError:
        pass


def keep_only(*descriptors: int) -> None:
    """Close all descriptors but these and the first three."""
    low = 3
    for fd in sorted(fd for fd in descriptors if fd >= 0):
        posix.closerange(low, fd)
        low = fd + 1
    posix.closerange(low, HIGHEST_FD)


# The confinement of this process.


def confine_and_exec(plan: LaunchPlan) -> None:
    """Confine this process and become the program."""
    status: int = plan["status"]
    if plan["terminal"]:
        try:  # noqa: SIM105
            posix.setsid()
        except OSError:
            pass  # it leads its session already
        require("terminal", call(NR_IOCTL[MACHINE], 0, TIOCSCTTY, 0))
    posix.chdir(plan["cwd"])
    keep_only(status)
    posix.nice(plan["nice"])
    for which, soft, hard in plan["limits"]:
        pair = soft.to_bytes(8, "little") + hard.to_bytes(8, "little")
        require("limit", call(NR_PRLIMIT[MACHINE], 0, which, pair, 0))
    if plan["filter"]:
        require("no new privileges", call(NR_PRCTL[MACHINE], NO_NEW_PRIVS, 1, 0, 0, 0))
    if plan["landlock"]:
        if posix.getuid() == 0:
            drop_capabilities()
        landlock(*plan["landlock"])
    # Python ignores the first two, nohup the others, and that is inherited.
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGINT, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_DFL)
    posix.set_inheritable(status, False)
    if plan["filter"]:
        seccomp(plan["filter"])
    send_status(status, "R")
    try:
        posix.execve(plan["argv"][0], plan["argv"], plan["env"])
    except OSError as error:
        send_status(status, f"X{plan['argv'][0]}: {error.strerror}")
        posix._exit(CANNOT_EXECUTE)  # noqa: SLF001


def drop_capabilities() -> None:
    """Give up the capabilities of root."""
    for number in range(64):
        call(NR_PRCTL[MACHINE], DROP_BOUND, number, 0, 0, 0)
    call(NR_PRCTL[MACHINE], AMBIENT, AMBIENT_CLEAR, 0, 0, 0)
    head = CAPABILITY_VERSION.to_bytes(4, "little") + bytes(4)
    require("capabilities", call(NR_CAPSET[MACHINE], head, bytes(24)))


def landlock(attributes: bytes, paths: list[tuple[str, int]], ports: list[tuple[int, int]]) -> None:
    """Allow these paths and ports, and no others."""
    ruleset = require("Landlock", call(NR_RULESET, attributes, len(attributes), 0))
    for path, access in paths:
        try:
            fd = posix.open(path, PATH_ONLY | posix.O_CLOEXEC)
        except OSError:
            continue  # not there, so nothing to allow
        rule = access.to_bytes(8, "little") + fd.to_bytes(4, "little")
        done = call(NR_RULE, ruleset, UNDER_PATH, rule, 0)
        posix.close(fd)
        require("Landlock for " + path, done)
    for port, access in ports:
        rule = access.to_bytes(8, "little") + port.to_bytes(8, "little")
        require("Landlock for a port", call(NR_RULE, ruleset, OF_PORT, rule, 0))
    require("Landlock", call(NR_RESTRICT, ruleset, 0))
    posix.close(ruleset)


def seccomp(program: bytes) -> None:
    """Load the filter."""

    class Lines(_ctypes.Array):  # type: ignore[type-arg]
        _type_ = CChar
        _length_ = len(program)

    lines: Any = Lines()
    lines[:] = program
    count = (len(program) // 8).to_bytes(8, "little")
    whole = count + _ctypes.addressof(lines).to_bytes(8, "little")
    require("seccomp", call(NR_SECCOMP[MACHINE], SET_FILTER, 0, whole))


# The supervisor: the parent of a program at level kernel. It ends all that descends from it.


def supervise(plan: LaunchPlan) -> int:
    """Run the program as a child; its exit code, once nothing of it is left."""
    import select

    require("subreaper", call(NR_PRCTL[MACHINE], SUBREAPER, 1, 0, 0, 0))
    lifeline: int = plan["lifeline"]
    wakeup_reader, wakeup_writer = posix.pipe()
    posix.set_blocking(wakeup_reader, False)
    posix.set_blocking(wakeup_writer, False)
    # Before there is a child: one that ends at once is heard of too.
    _signal.set_wakeup_fd(wakeup_writer)
    # Whoever ends the run tells the program itself; this one goes last.
    ended = (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
    for number in ended:
        _signal.signal(number, lambda *_: None)
    own_pid = posix.getpid()
    # The system does not limit the processes of root, but it ends those of a namespace at once.
    namespaced = posix.getuid() == 0 and call(NR_UNSHARE[MACHINE], NEW_PROCESS_IDS) >= 0
    child = posix.fork()
    if child == 0:
        _signal.set_wakeup_fd(-1)
        for number in ended:
            _signal.signal(number, _signal.SIG_DFL)
        call(NR_PRCTL[MACHINE], SET_DEATH_SIGNAL, _signal.SIGKILL, 0, 0, 0)
        if namespaced:
            become_init(plan["pid_max"])
        elif posix.getppid() != own_pid:
            posix._exit(CANNOT_EXECUTE)  # noqa: SLF001
        if not plan["terminal"]:
            posix.setsid()
        confine_and_exec(plan)
    call(NR_PRCTL[MACHINE], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, 3)
    keep_only(lifeline, wakeup_reader, wakeup_writer)
    poll = select.poll()
    poll.register(lifeline, select.POLLHUP)
    poll.register(wakeup_reader, select.POLLIN)
    code: int | None = None
    while code is None:
        for fd, _ in poll.poll():
            if fd == lifeline:
                code = KILLED
            else:
                posix.read(wakeup_reader, 4096)
                ending = reap(child)
                code = ending if code is None else code
    end_descendants()
    return code


def become_init(pid_max: str) -> None:
    """Be the first process of a namespace: fork, and end with what was forked."""
    child = posix.fork()
    if child == 0:
        if pid_max:
            set_pid_max(pid_max)
        return
    call(NR_PRCTL[MACHINE], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, HIGHEST_FD)
    while True:
        pid, status = posix.waitpid(-1, 0)
        if pid == child:
            posix._exit(exit_code(status))  # noqa: SLF001


def set_pid_max(highest: str) -> None:
    """Set the highest number of a process in this namespace."""
    try:
        fd = posix.open("/proc/sys/kernel/pid_max", posix.O_WRONLY)
        posix.write(fd, highest.encode())
        posix.close(fd)
    except OSError:
        pass  # the watchdog looks at all runs


def exit_code(status: int) -> int:
    """As shells tell it."""
    code = posix.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def reap(child: int) -> int | None:
    """Collect who ended; the exit code of the program once it is among them."""
    code: int | None = None
    while True:
        try:
            pid, status = posix.waitpid(-1, posix.WNOHANG)
        except ChildProcessError:
            return KILLED if code is None else code
        if pid == 0:
            return code
        if pid == child:
            code = exit_code(status)


def end_descendants() -> None:
    """Kill all that is left."""
    import time

    pause = 0.001
    while True:
        for pid in descendants():
            try:  # noqa: SIM105
                posix.kill(pid, _signal.SIGKILL)
            except OSError:
                pass
        try:
            while posix.waitpid(-1, posix.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def descendants() -> list[int]:
    """All processes that descend from this one."""
    parents: dict[int, list[int]] = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            try:
                fd = posix.open(f"/proc/{name}/stat", posix.O_RDONLY)
            except OSError:
                continue
            try:
                data = posix.read(fd, 512)
            except OSError:
                continue
            finally:
                posix.close(fd)
            parents.setdefault(int(data[data.rfind(b")") + 4 :].split()[0]), []).append(int(name))
    found: list[int] = []
    new = parents.get(posix.getpid(), [])
    while new:
        found += new
        new = [pid for parent in new for pid in parents.get(parent, [])]
    return found


def main() -> None:
    """Follow the plan to the program, or report why not."""
    fd = int(sys.argv[1])
    # The server wrote it, into a file in memory.
    plan: LaunchPlan = marshal.loads(posix.pread(fd, posix.fstat(fd).st_size, 0))  # noqa: S302
    code = CANNOT_EXECUTE
    try:
        if plan["level"] == "kernel":
            code = supervise(plan)
        else:
            confine_and_exec(plan)
    except StepFailed as error:
        send_status(plan["status"], f"F{error}")
    except OSError as error:
        words = f"{error.strerror or error} {error.filename or ''}"
        send_status(plan["status"], f"F{words.strip()}")
    posix._exit(code)  # noqa: SLF001


if __name__ == "__main__":
    main()
