"""Runs a program with toolcrib as if on another system: `other_system.py PLATFORM -m MODULE …`.

The modules of toolcrib find here what typeshed knows of Windows or macOS and nothing more:
modules and names that only Linux has are missing, folders have no descriptors on Windows,
and event loops wait on no pipes there. The standard library and other packages keep all.
What only Windows has (`msvcrt`, pipes by handles) stands in, by the calls of this system.
Children that are started by this interpreter run in the same way.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import errno
import os
import runpy
import sys
import types
from pathlib import Path
from typing import Any

ABSENT_MODULES = {
    "win32": set(
        "fcntl grp posix pty pwd readline resource syslog termios tty curses".split()  # noqa: SIM905
    ),
    "darwin": set(),
}
STRIPPED = ("os", "signal", "select", "socket", "time")
OURS = str(Path(__file__).resolve().parents[2] / "src" / "toolcrib")


def typeshed_names(module: str, platform: str) -> set[str]:
    """The names that a module of the standard library has on a platform, by mypy's stubs."""
    import mypy

    stubs = Path(mypy.__file__).parent / "typeshed" / "stdlib"
    found: set[str] = set()
    for name in (module, f"_{module}"):
        for path in (stubs / name / "__init__.pyi", stubs / f"{name}.pyi"):
            if path.exists():
                found |= _names(ast.parse(path.read_text()).body, platform)
    return found


def _names(body: list[ast.stmt], platform: str) -> set[str]:
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.If):
            chosen = node.body if _holds(node.test, platform) else node.orelse
            found |= _names(chosen, platform)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _holds(test: ast.expr, platform: str) -> bool:
    scope = {"sys": types.SimpleNamespace(platform=platform, version_info=sys.version_info)}
    return bool(eval(compile(ast.Expression(test), "stub", "eval"), scope))


def stripped(module: types.ModuleType, platform: str) -> types.ModuleType:
    """A module without what Linux has and the platform has not."""
    name = module.__name__
    gone = typeshed_names(name, "linux") - typeshed_names(name, platform)
    if name == "signal":
        gone |= {n.name for n in module.Signals if n.name not in typeshed_names(name, platform)} | (
            {"Signals"} & gone
        )
    copy = types.ModuleType(name, module.__doc__)
    copy.__dict__.update({k: v for k, v in vars(module).items() if k not in gone})
    return copy


def without(function: Any, *keywords: str) -> Any:
    """A function of `os` that does not take some arguments; "fd" is a descriptor for a path."""

    def call(*arguments: Any, **named: Any) -> Any:
        for keyword in keywords:
            if named.get(keyword) is not None:
                raise NotImplementedError(f"{keyword} unavailable on this platform")
        if "fd" in keywords and arguments and isinstance(arguments[0], int):
            raise TypeError("path should be string, bytes or os.PathLike, not int")
        return function(*arguments, **named)

    return call


def open_file(path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return os.open(path, flags, mode)


def rename(source: Any, target: Any) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source, target)


def windows_os(module: types.ModuleType) -> None:
    """What functions of `os` do not take on Windows."""
    folders = ("dir_fd", "src_dir_fd", "dst_dir_fd", "follow_symlinks")
    names = vars(module)
    for name in ("mkdir", "rmdir", "unlink", "replace", "link", "symlink", "readlink"):
        names[name] = without(names[name], *folders)
    for name in ("scandir", "listdir", "chmod", "utime", "access"):
        names[name] = without(names[name], "fd", "effective_ids", *folders)
    names["stat"] = without(os.stat, "dir_fd")
    names.update(
        open=open_file,
        rename=rename,
        name="nt",
        supports_dir_fd=set(),
        supports_fd=set(),
        supports_effective_ids=set(),
        supports_follow_symlinks=set(),
    )


class OtherSys(types.ModuleType):
    """`sys`, but for the platform."""

    def __init__(self, platform: str) -> None:
        super().__init__("sys")
        self.__dict__["platform"] = platform

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(sys, name, value)


def msvcrt() -> types.ModuleType:
    import fcntl

    module = types.ModuleType("msvcrt")

    def locking(fd: int, mode: int, count: int) -> None:
        assert (mode, count) == (2, 1)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    vars(module).update(LK_NBLCK=2, locking=locking, get_osfhandle=lambda fd: fd)
    return module


def winapi() -> types.ModuleType:
    import select
    import stat

    module = types.ModuleType("_winapi")

    def peek(handle: int, size: int) -> tuple[int, int]:
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a pipe")
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        for _, event in poll.poll(0):
            if event & select.POLLHUP and not event & select.POLLIN:
                raise BrokenPipeError(errno.EPIPE, "the pipe has been ended")
        return 0, 0

    def open_process(access: int, inherit: bool, pid: int) -> int:
        if not os.path.exists(f"/proc/{pid}"):
            error = OSError(errno.EINVAL, "no such process")
            error.winerror = 87  # type: ignore[attr-defined]
            raise error
        return pid

    vars(module).update(
        PeekNamedPipe=peek,
        OpenProcess=open_process,
        GetExitCodeProcess=lambda handle: 259,
        CloseHandle=lambda handle: None,
    )
    return module


def other_subprocess(platform: str) -> types.ModuleType:
    import subprocess

    module = types.ModuleType("subprocess")
    module.__dict__.update(vars(subprocess))

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        """Starts programs of this interpreter in the same way as this one."""

        def __init__(self, args: Any, *rest: Any, **named: Any) -> None:
            words = list(args)
            place = next((i for i, word in enumerate(words) if str(word).startswith(OURS)), 0)
            if words[0] == sys.executable and place:
                words[place:place] = [__file__, platform, "--child"]
                words = [word for word in words if word != "-S"]
            super().__init__(words, *rest, **named)

    module.Popen = Popen  # type: ignore[attr-defined]
    return module


class ProactorLike(asyncio.SelectorEventLoop):
    """An event loop that waits on no pipes and descriptors of its user, as that of Windows."""

    def add_reader(self, *_: Any) -> Any:
        raise NotImplementedError

    add_writer = add_signal_handler = add_reader

    async def connect_read_pipe(self, *_: Any) -> Any:
        raise NotImplementedError

    connect_write_pipe = connect_read_pipe


class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = ProactorLike


def become(platform: str) -> None:
    """From now on, what toolcrib imports is that of the platform."""
    import importlib

    stand_ins: dict[str, types.ModuleType] = {
        name: stripped(importlib.import_module(name), platform) for name in STRIPPED
    }
    stand_ins["sys"] = OtherSys(platform)
    stand_ins["subprocess"] = other_subprocess(platform)
    if platform == "win32":
        windows_os(stand_ins["os"])
        stand_ins |= {"msvcrt": msvcrt(), "_winapi": winapi()}
        asyncio.set_event_loop_policy(Policy())
    plain = builtins.__import__

    def guarded(
        name: str, scope: Any = None, names: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        importer = str((scope or {}).get("__file__") or "")
        if importer.startswith(OURS) and not level:
            top, _, below = name.partition(".")
            if top in ABSENT_MODULES[platform]:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if top in stand_ins and (not below or not fromlist):
                return stand_ins[top]
        return plain(name, scope, names, fromlist, level)

    builtins.__import__ = guarded


def main() -> None:
    """Be the other system."""
    platform, *words = sys.argv[1:]
    sys.path[:] = [
        str(Path(OURS).parent),
        *(p for p in sys.path if p != str(Path(__file__).parent)),
    ]
    become(platform)
    if words[0] == "-m":
        sys.argv = [words[1], *words[2:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        words = words[1:] if words[0] == "--child" else words
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
