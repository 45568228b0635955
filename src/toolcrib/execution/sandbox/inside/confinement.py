"""Runs inside the sandbox: confines its own process step by step and becomes the program."""

from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found]
import posix

from toolcrib.execution.sandbox.inside.syscalls import (
    AMBIENT,
    AMBIENT_CLEAR,
    DROP_BOUND,
    MACHINE,
    NO_NEW_PRIVS,
    NR_CAPSET,
    NR_IOCTL,
    NR_PRCTL,
    NR_PRLIMIT,
    NR_RESTRICT,
    NR_RULE,
    NR_RULESET,
    NR_SECCOMP,
    PATH_ONLY,
    TIOCSCTTY,
    WITH_LISTENER,
    LaunchPlan,
    buffer,
    call,
    keep_only,
    require,
    send_status,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def start_relay(plan: LaunchPlan) -> None:
    """Fork a process that passes connections to a port in here on to the guard proxy's socket."""
    import _socket

    port, path = plan["relay"]
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    if posix.fork():
        listener.close()
        return
    posix.closerange(0, 3)
    keep_only(listener.fileno())
    try:
        forward(_socket, listener, path)
    finally:
        posix._exit(0)  # noqa: SLF001


def forward(sockets: Any, listener: Any, path: str) -> None:  # noqa: C901, PLR0912
    """Copy bytes between each connection and one of its own to the proxy."""
    import select

    poll = select.poll()
    poll.register(listener.fileno(), select.POLLIN)
    connections: dict[int, Any] = {}
    peers: dict[int, int] = {}
    pending: dict[int, bytes] = {}
    while True:
        for fd, events in poll.poll():
            if fd == listener.fileno():
                try:
                    taken, _ = listener._accept()  # noqa: SLF001
                    one = sockets.socket(fileno=taken)
                    two = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
                    two.connect(path)
                except OSError:
                    continue
                for a, b in ((one, two), (two, one)):
                    a.setblocking(False)
                    connections[a.fileno()], peers[a.fileno()] = a, b.fileno()
                    pending[a.fileno()] = b""
                    poll.register(a.fileno(), select.POLLIN)
                continue
            if fd not in connections:
                continue
            peer = peers[fd]
            try:
                if events & select.POLLOUT:
                    pending[fd] = pending[fd][connections[fd].send(pending[fd]) :]
                if events & (select.POLLIN | select.POLLHUP | select.POLLERR) and not pending[peer]:
                    data = connections[fd].recv(65536)
                    if not data:
                        raise OSError
                    pending[peer] = data[connections[peer].send(data) :]
            except BlockingIOError:
                pass
            except OSError:
                for end in (fd, peer):
                    poll.unregister(end)
                    connections.pop(end).close()
                    peers.pop(end)
                    pending.pop(end)
                continue
            for end, opposite in ((fd, peer), (peer, fd)):
                wanted = 0 if pending[opposite] else select.POLLIN
                poll.modify(end, wanted | (select.POLLOUT if pending[end] else 0))


def confine_and_exec(plan: LaunchPlan, status: int) -> None:  # noqa: C901, PLR0912
    """Confine this process and become the program."""
    enter_group(plan["group"])
    set_pid_max(plan["kernel_settings"], plan["pid_max"])
    if plan["relay"]:
        start_relay(plan)
    if plan["terminal"]:
        try:  # noqa: SIM105
            posix.setsid()
        except OSError:
            pass  # it leads its session already
        require("terminal", call(NR_IOCTL[MACHINE], 0, TIOCSCTTY, 0))
    posix.umask(0o022)
    try:
        posix.chdir(plan["cwd"])
    except OSError as error:
        send_status(status, "D", error=error.errno or 0)
        posix._exit(126)  # noqa: SLF001
    program = find_program(plan)
    if not program:
        send_status(status, "M")
        posix._exit(127)  # noqa: SLF001
    keep_only(status, plan["listener_writer"], plan["ack_reader"])
    if plan["nice"]:
        posix.nice(plan["nice"])
    set_rlimits(plan["limits"])
    if plan["confined"]:
        require("no new privileges", call(NR_PRCTL[MACHINE], NO_NEW_PRIVS, 1, 0, 0, 0))
    if plan["capabilities"]:
        drop_capabilities()
    if plan["landlock"]:
        landlock(*plan["landlock"])
    # Python ignores the first two, nohup the others, and that is inherited.
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGINT, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_DFL)
    posix.set_inheritable(status, False)
    if plan["listener_writer"] >= 0:
        # The supervisor fetches it by this number, and acknowledges it.
        listener = seccomp(plan["notify_filter"], WITH_LISTENER)
        posix.write(plan["listener_writer"], listener.to_bytes(4, "little"))
        posix.read(plan["ack_reader"], 1)
        posix.close(listener)
        posix.close(plan["listener_writer"])
        posix.close(plan["ack_reader"])
    elif plan["filter"]:
        seccomp(plan["filter"], 0)
    send_status(status, "R")
    try:
        posix.execve(program, plan["argv"], plan["env"])
    except OSError as error:
        send_status(status, "X", program, error.errno or 0)
        posix._exit(126)  # noqa: SLF001


def enter_group(group: int) -> None:
    """Go into the control group of the run, if it has one."""
    try:  # noqa: SIM105
        posix.write(group, b"0")
    except OSError:
        pass  # the watchdog looks at all runs


def set_pid_max(settings: int, highest: bytes) -> None:
    """Set the highest process number of the namespace, where that is wanted."""
    try:
        fd = posix.open("pid_max", posix.O_WRONLY, dir_fd=settings)
        posix.write(fd, highest)
    except (OSError, ValueError):
        return  # the watchdog looks at all runs
    posix.close(fd)


def find_program(plan: LaunchPlan) -> str:
    """The program on the PATH that it will have, or "" where there is none."""
    name: str = plan["argv"][0]
    if "/" in name:
        return name if posix.access(name, posix.F_OK) else ""
    for folder in plan["env"].get("PATH", "").split(":"):
        whole = (folder or ".") + "/" + name
        try:
            # Folders may be run too, in the eyes of the system.
            if posix.access(whole, posix.X_OK) and posix.stat(whole).st_mode & 0o170000 == 0o100000:
                return whole
        except OSError:
            continue
    return ""


def set_rlimits(limits: list[tuple[int, int, int]]) -> None:
    """Set the limits of this process."""
    for which, soft, hard in limits:
        pair = soft.to_bytes(8, "little") + hard.to_bytes(8, "little")
        require("limit", call(NR_PRLIMIT[MACHINE], 0, which, pair, 0))


def drop_capabilities() -> None:
    """Give up the capabilities of root."""
    for number in range(64):
        call(NR_PRCTL[MACHINE], DROP_BOUND, number, 0, 0, 0)
    call(NR_PRCTL[MACHINE], AMBIENT, AMBIENT_CLEAR, 0, 0, 0)
    head = (0x20080522).to_bytes(4, "little") + bytes(4)
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
        done = call(NR_RULE, ruleset, 1, rule, 0)
        posix.close(fd)
        require("Landlock for " + path, done)
    for port, access in ports:
        rule = access.to_bytes(8, "little") + port.to_bytes(8, "little")
        require("Landlock for a port", call(NR_RULE, ruleset, 2, rule, 0))
    require("Landlock", call(NR_RESTRICT, ruleset, 0))
    posix.close(ruleset)


def seccomp(program: bytes, flags: int) -> int:
    """Load the filter; the descriptor on which it asks about calls, if it asks."""
    lines = buffer(len(program))
    lines[:] = program
    count = (len(program) // 8).to_bytes(8, "little")
    whole = count + _ctypes.addressof(lines).to_bytes(8, "little")
    return require("seccomp", call(NR_SECCOMP[MACHINE], 1, flags, whole))
