"""What a confined program cannot do, each beside something like it that it can."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.execution.sandbox.conftest import Box, Open
from toolcrib.core.config import data_folder
from toolcrib.core.errors import BadInput, NotFound, ToolError, Unavailable
from toolcrib.execution.sandbox.layout import MAX_MASKS, SandboxRoot
from toolcrib.execution.sandbox.masks import Mask, masks_of_settings
from toolcrib.execution.sandbox.namespaces import MountsMoved, check_mounts
from toolcrib.execution.sandbox.preparation import NICE, check_program, empty_file
from toolcrib.execution.sandbox.resources import tree
from toolcrib.execution.sandbox.terms import Bind, Limits, Overlay, Pty, ReadOnly

pytestmark = pytest.mark.rows("X3", "X19", "E31", "C073")


async def test_reads_nothing_of_the_user(box: Box, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary")
    (box.root / "plain").write_text("benign")
    done = await box.sh('cat plain; cat "$1"; ls ~root /home', str(tmp_path / "secret"))
    assert "benign" in done.out
    assert "canary" not in done.out


async def test_the_environment_is_clean(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary")
    done = await box.sh("env; echo $GIVEN; cat /proc/[0-9]*/environ", env={"GIVEN": "benign"})
    assert "benign" in done.out
    assert "canary" not in done.out


@pytest.mark.parametrize("code", ["s.connect(('127.0.0.1', {port}))", "s.bind(('0.0.0.0', 99))"])
async def test_no_network(box: Box, code: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = f"import socket; s = socket.socket(); {code.format(port=port)}; print('o' + 'ut')"
        done = await box.python(f"print('in')\n{text}")
    assert "in" in done.out
    assert "out" not in done.out


async def test_sockets_outside_are_out_of_reach(box: Box, tmp_path: Path) -> None:
    place = f"/tmp/{tmp_path.name}-{id(box)}"
    with (
        socket.socket(socket.AF_UNIX) as path,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
    ):
        path.bind(place)
        abstract.bind("\0" + place)
        for listener in (path, abstract):
            listener.listen()
        datagrams.bind(f"{place}-datagrams")
        datagrams.setblocking(False)
        code = """
import socket, sys
socket.socketpair()
print("in")
for name in (sys.argv[1], "\\0" + sys.argv[1]):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        print("out")
    except OSError:
        pass
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    try:
        socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b"x", sys.argv[1] + "-datagrams")
        print("out")
    except OSError:
        pass
"""
        done = await box.python(code, place)
        with pytest.raises(BlockingIOError):
            datagrams.recv(1)
    for name in ("", "-datagrams"):
        Path(place + name).unlink()
    assert done.out.split() == ["in"]


# A name, the call, and what it gives where it is refused.
CALLS = {
    "unshare": (272, (0x10000000,), "1"),
    "ptrace": (101, (0, 0, 0, 0), "1"),
    "mount": (165, (0, 0, 0, 0, 0), "1"),
    "keyctl": (250, (0, -3, 1), "1"),
    "bpf": (321, (0, 0, 0), "1"),
    "io_uring": (425, (1, 0), "38"),
    "userfaultfd": (323, (1,), "1"),
    "personality": (135, (0x0040000,), "1"),
    "clone3": (435, (0, 0), "38"),
    "memfd_secret": (447, (0,), "38"),
    "open_tree": (428, (-100, 0, 0), "1"),
    "pidfd_getfd": (438, (0, 0, 0), "1"),
    "io_setup": (206, (1, 0), "38"),
    "msgget": (68, (0, 0), "38"),
    "renameat2 that leaves a device": (316, (-100, 0, -100, 0, 4), "22"),
}


@pytest.mark.parametrize("name", CALLS)
async def test_calls_are_refused(box: Box, name: str) -> None:
    number, arguments, error = CALLS[name]
    code = f"""
import ctypes
c = ctypes.CDLL(None, use_errno=True)
assert c.syscall(39) > 0  # getpid
assert c.syscall({number}, *{arguments!r}) == -1
print(ctypes.get_errno())
"""
    assert (await box.python(code)).out.strip() == error


async def test_no_setuid_files_and_no_devices(box: Box) -> None:
    code = """
import os
def no(call, *a):
    try:
        call(*a)
        print("yes", call.__name__)
    except PermissionError:
        pass
open("f", "w").close()
os.chmod("f", 0o755)
no(os.chmod, "f", 0o4755)
no(os.chmod, "f", 0o2755)
no(os.open, "g", os.O_CREAT | os.O_WRONLY, 0o4755)
no(os.mknod, "d", 0o020666, os.makedev(1, 3))
no(os.mknod, "b", 0o060666, os.makedev(8, 0))
os.mkfifo("fifo")
print("done")
"""
    done = await box.python(code)
    assert done.out.split() == ["done"]
    assert not (box.root / "f").stat().st_mode & (stat.S_ISUID | stat.S_ISGID)


async def test_another_processs_input_is_not_typed(box: Box) -> None:
    code = """
import fcntl, termios
try:
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    print("typed")
except OSError as error:
    print(error.errno, fcntl.ioctl(0, termios.TIOCGWINSZ, b"12345678")[:4])
"""
    async with await box.sandbox.spawn(
        [__import__("sys").executable, "-c", code],
        cwd=box.workspace.start(),
        views=Bind(),
        pty=Pty(33, 77),
    ) as run:
        out = b"".join([chunk.data async for chunk in run.output()])
    assert out.split()[0] in (b"1", b"5")
    assert b"!\\x00M\\x00" in out


async def test_nothing_is_hidden_from_what_measures_a_run(box: Box) -> None:
    """Space is reserved by no other call, and a thread has the descriptors of its process."""
    code = """
import ctypes, fcntl, os, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
with open("f", "wb") as file:
    for request in (0x40305828, 0x4030582A, 0x40305839):
        try:
            fcntl.ioctl(file, request, struct.pack("hhqqiI4i", 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0))
            print("reserved", os.fstat(file.fileno()).st_blocks)
        except OSError:
            pass
    try:
        fcntl.ioctl(file, 0x50009417, bytearray(4096))  # a snapshot on btrfs
    except OSError as error:
        assert error.errno == 25, error
def apart():
    if libc.unshare(0x400) == 0 or libc.syscall(436, 900, 901, 2) == 0:
        print("apart")
thread = threading.Thread(target=apart)
thread.start()
thread.join()
assert libc.syscall(436, 900, 901, 0) == 0
print("works")
"""
    done = await box.python(code)
    assert done.out == "works\n", done


async def test_facts_of_others_and_attributes_of_files(box: Box) -> None:
    """Keys of the user, timers of the machine; and what no undo could take back."""
    code = """
import ctypes, fcntl, os, struct
for name in ("keys", "key-users", "timer_list"):
    try:
        print(name, open(f"/proc/{name}").read(20))
    except OSError:
        pass
with open("f", "w") as file:
    flags = bytearray(8)
    fcntl.ioctl(file, 0x80086601, flags)
    for request, value in ((0x40086602, flags), (0x40046602, flags), (0x401C5820, bytes(28))):
        try:
            fcntl.ioctl(file, request, bytes(value))
            print("set", hex(request))
        except OSError as error:
            assert error.errno == 25, error
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(469, -100, b"f", bytes(24), 24, 0) == -1
print(ctypes.get_errno())
"""
    done = await box.python(code)
    assert done.out == "38\n", done


async def test_signals_stay_inside(box: Box) -> None:
    import os

    done = await box.sh(f"kill -0 {os.getpid()} && echo out; kill -0 $$ && echo in")
    assert done.out.splitlines()[-1] == "in"
    assert "out" not in done.out.split()


async def test_nobody_is_root(box: Box) -> None:
    done = await box.sh("while read -r a b; do echo $a $b; done < /proc/self/status; echo x > n")
    values = dict(line.split(": ", 1) for line in done.out.split("\n") if ": " in line)
    assert int(values["CapEff"], 16) == 0
    assert values["NoNewPrivs"] == "1"
    assert (box.root / "n").stat().st_uid == box.root.stat().st_uid


async def test_what_other_programs_share_is_theirs(box: Box) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment, queue = libc.shmget(0, 4096, 0o600), libc.msgget(0, 0o600)
    assert min(segment, queue) >= 0
    try:
        at = ctypes.c_void_p(libc.shmat(segment, None, 0))
        ctypes.memmove(at, b"canary", 6)
        libc.shmdt(at)
        libc.msgsnd(queue, struct.pack("l16s", 1, b"canary"), 16, 0)
        code = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
at = libc.shmat(int(sys.argv[1]), None, 0)
if at not in (None, ctypes.c_void_p(-1).value):
    print(ctypes.string_at(at, 6))
taken = ctypes.create_string_buffer(24)
if libc.msgrcv(int(sys.argv[2]), taken, 16, 0, 0) >= 0:
    print(taken.raw)
from multiprocessing import shared_memory
own = shared_memory.SharedMemory(create=True, size=100_000)
own.close(); own.unlink()
print("works")
"""
        done = await box.python(code, str(segment), str(queue))
    finally:
        libc.shmctl(segment, 0, None)
        libc.msgctl(queue, 0, None)
    assert done.out == "works\n"


async def test_nothing_of_the_user_is_used_up_or_started(box: Box) -> None:
    code = """
import fcntl, resource
print(*(resource.getrlimit(n)[1] for n in (4, 11, 12, 13, 14)))
try:
    fcntl.ioctl(0, 0x5423, bytes(4))
except OSError as error:
    print(error.errno)
"""
    done = await box.python(code)
    assert done.out == "1 4096 200000 0 0\n1\n"


def test_more_masks_than_can_be_told_to_bubblewrap() -> None:
    places = [f"/w/d{number}/.env" for number in range(4000)]
    masks = [*(Mask(place, "hidden file") for place in places), Mask("/w/z/.git/config", "copy")]
    root = SandboxRoot({"/w": Bind()}, {}, [], [], masks, "/e", 1)
    early, pins, late = root.split()
    assert len(root.arguments({"/w/z/.git/config": 0})) < 9_000
    assert Mask("/w/z/.git/config", "copy") in early
    assert {mask.path for mask in (*early, *late)} > {*places, "/w/d0", "/w/z/.git", "/w/z"}
    assert (len(early), pins) == (MAX_MASKS + 1, {})


async def test_a_name_that_a_run_has_folders_at_is_no_link_there(strong: Box) -> None:
    names = ("/home", "/tmp", "/run", "/elsewhere/name")
    links = dict.fromkeys(names, str(strong.root))
    (strong.root / "file").write_text("found")
    done = await strong.sh("cat /elsewhere/name/file; ls -d $HOME", links=links)
    assert done.out == "found/home/sandbox\n"


async def test_a_file_is_not_leased(box: Box) -> None:
    code = """
import fcntl
file = open("f", "w")
try:
    fcntl.fcntl(file, 1024, fcntl.F_WRLCK)
    print("leased")
except OSError:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("locked")
"""
    assert (await box.python(code)).out == "locked\n"


# What is protected in the workspace.


async def test_protected_names_are_covered(strong: Box) -> None:
    root = strong.root
    for name in (".env", "deep/er/.env", ".ssh/id", ".git/hooks/x", ".git/config", ".mcp.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("canary")
    (root / "link").symlink_to(".env")
    done = await strong.sh(
        "cat .env deep/er/.env .ssh/id link; echo x > .git/hooks/y; echo x > .git/config;"
        "echo x > .mcp.json; mv .git .git2; rm -rf .ssh; cat .git/config; echo x > .git/fine"
    )
    assert done.out.count("canary") == 1  # that of .git/config, which can be read
    assert not (root / ".git/hooks/y").exists()
    assert (root / ".git/config").read_text() == "canary"
    assert (root / ".mcp.json").read_text() == "canary"
    assert (root / ".ssh/id").read_text() == "canary"
    assert (root / ".git/fine").read_text() == "x\n"


async def test_mounts_are_as_they_were_meant(strong: Box) -> None:
    root = strong.root
    for name in ("a/.env", "b/c/.vscode/x", "b/.env"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    place = strong.workspace.resolve(".")
    masks = [
        Mask(f"{root}/a/.env", "hidden file"),
        Mask(f"{root}/b/c/.vscode", "fixed"),
        Mask(f"{root}/b/.env", "copy", b"other"),
    ]

    def layout(masks: list[Mask]) -> SandboxRoot:
        return SandboxRoot({str(root): Bind()}, {}, [], [], masks, empty_file(), 1)

    wrong = (
        [*masks, Mask(f"{root}/b/c/more", "fixed")],
        masks[1:],
        [*masks[:2], Mask(f"{root}/b/.env", "fixed")],
        [Mask(f"{root}/a/.env", "copy", b"x"), *masks[1:]],
    )
    async with await strong.sandbox.spawn(
        ["sleep", "60"], cwd=place, views=Bind(), masks=masks
    ) as confined:
        facts = Path(f"/proc/self/fdinfo/{confined.namespace}").read_text()
        pid = int(facts.partition("Pid:")[2].split()[0])
        check_mounts(pid, layout(masks))
        for others in wrong:
            with pytest.raises(MountsMoved):
                check_mounts(pid, layout(others))
        (root / "a").rename(root / "old")
        (root / "a").symlink_to("old")
        with pytest.raises(MountsMoved):
            check_mounts(pid, layout(masks))


async def test_a_root_in_a_root_is_not_moved(open_box: Open, tmp_path: Path) -> None:
    (tmp_path / "ws/in/inner").mkdir(parents=True)
    box = open_box("strong", roots=[tmp_path / "ws", tmp_path / "ws/in/inner"])
    done = await box.sh("mv in out; mv in/inner in/x; echo x > in/inner/made; ls in")
    assert done.out.endswith("inner\n")
    assert (tmp_path / "ws/in/inner/made").exists()


async def test_no_stub_is_left_for_an_absent_name(strong: Box) -> None:
    await strong.sh("true")
    assert list(strong.root.iterdir()) == []


async def test_our_own_files_are_not_seen(open_box: Open, tmp_path: Path) -> None:
    box = open_box("strong", roots=[tmp_path])
    (data_folder() / "undo").mkdir(parents=True)
    (data_folder() / "undo" / "x").write_text("canary")
    (tmp_path / "plain").write_text("benign")
    done = await box.sh("cat plain; find . -type f | xargs cat; echo x > state/new")
    assert "benign" in done.out
    assert "canary" not in done.out
    assert not (data_folder() / "new").exists()


# Views.


async def test_each_root_has_its_view(open_box: Open, tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("one", "two", "three", "upper", "work")]
    for root in roots:
        root.mkdir()
        (root / "f").write_text("old") if root.name in ("one", "two", "three") else None
    one, two, three, upper, work = roots
    box = open_box("strong", roots=[one, two, three])
    views = {str(one): Bind(), str(two): ReadOnly(), str(three): Overlay(upper, work)}
    done = await box.sh(
        'for r in "$@"; do cat $r/f; echo new > $r/f; echo x > $r/g; cat $r/f; done',
        *map(str, (one, two, three)),
        views=views,
        cwd=str(one),
    )
    assert done.out.count("new") == 2
    assert [(root / "f").read_text() for root in (one, two, three)] == ["new\n", "old", "old"]
    assert not (three / "g").exists()
    assert (upper / "g").read_text() == "x\n"


async def test_a_root_that_is_a_link(open_box: Open, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("benign")
    (tmp_path / "name").symlink_to("real")
    box = open_box("strong", roots=[tmp_path / "name"])
    assert (await box.sh("pwd; cat f", cwd=".")).out.split() == [f"{tmp_path}/name", "benign"]


def through_a_link(folder: Path) -> Path:
    """A Python in a folder that is reached by a link, as uv makes them."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    real = folder / f"c{version}.0-linux"
    (real / "bin").mkdir(parents=True)
    (real / "lib").mkdir()
    shutil.copy(os.path.realpath(sys.executable), real / "bin" / version)
    (real / "lib" / version).symlink_to(Path(os.__file__).parent)
    (folder / f"c{version}-linux").symlink_to(real.name)
    return folder / f"c{version}-linux/bin" / version


@pytest.mark.parametrize("where", ["itself", "environment", "ws/.venv"])
async def test_a_python_that_is_reached_by_a_link(box: Box, tmp_path: Path, where: str) -> None:
    program = base = through_a_link(tmp_path / "uv")
    if where != "itself":
        program = tmp_path / where / "bin/python"
        program.parent.mkdir(parents=True)
        program.symlink_to(base)
        (tmp_path / where / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    readable = [base.resolve().parents[1]] if where.startswith("ws") else []
    done = await box.run(
        str(program), "-c", "import os, sys; print(sys.executable)", readable=readable
    )
    assert (done.code, done.out.strip()) == (0, str(program))


async def test_an_environment_of_the_workspace_opens_nothing(box: Box, tmp_path: Path) -> None:
    base = through_a_link(tmp_path / "uv")
    (box.root / "bin").mkdir()
    (box.root / "bin/python").symlink_to(base)
    (box.root / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    with suppress(Unavailable):
        done = await box.run(str(box.root / "bin/python"), "-c", "print(1)")
        assert done.code, done.out


async def test_no_link_that_came_later_is_followed(open_box: Open, tmp_path: Path) -> None:
    """A run of another server, with a wider workspace, may make one; the user makes folders."""
    places = [tmp_path / "wide" / name for name in ("docs", "new", "in/docs", "file")]
    (tmp_path / "private").mkdir()
    (tmp_path / "private/docs").mkdir()
    for folder in (tmp_path / "private", tmp_path / "private/docs", *places[::2]):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "f").write_text("secret" if "private" in str(folder) else "plain")
    places[3].write_text("plain")
    (tmp_path / "link").symlink_to("wide")
    named = [*places[:3], tmp_path / "link/file"]
    box = open_box(readable=[str(place) for place in named])
    report = await box.sandbox.report()
    if report.level not in ("strong", "kernel"):
        absent(f"there is no boundary here: {report.why}")
    files = " ".join(str(place / "f") for place in places[:3]) + f" {places[3]}"
    reads = f"cat {files} {tmp_path}/private/f {tmp_path}/private/docs/f 2>&1; true"
    done = await box.sh(reads)
    assert (done.out.count("plain"), done.notes) == (3, ())

    places[0].rename(tmp_path / "wide/d")
    places[0].symlink_to(tmp_path / "private")
    places[1].symlink_to(tmp_path / "private")
    places[2].parent.rename(tmp_path / "wide/i")
    places[2].parent.symlink_to(tmp_path / "private")
    places[3].unlink()
    places[3].symlink_to(tmp_path / "private/f")
    done = await box.sh(reads)
    assert "secret" not in done.out
    assert [str(place) in " ".join(done.notes) for place in named] == [True] * 4, done.notes

    for link in (places[0], places[1], places[2].parent, places[3]):
        link.unlink()
    for folder in places[:3]:  # others than before, and no links
        folder.mkdir(parents=True)
        (folder / "f").write_text("plain")
    places[3].write_text("plain")
    done = await box.sh(reads)
    assert (done.out.count("plain"), done.notes) == (4, ())


async def test_the_kernel_level_has_no_overlay(open_box: Open, tmp_path: Path) -> None:
    box = open_box("kernel")
    with pytest.raises(Unavailable, match="overlay"):
        await box.sh("true", views=Overlay(tmp_path / "u", tmp_path / "w"))


async def test_what_cannot_be_run(box: Box) -> None:
    with pytest.raises(Unavailable, match="no-such-program"):
        await box.run("no-such-program")
    with pytest.raises(NotFound, match="nowhere"):
        await box.run("true", cwd="nowhere")
    for argv in ([], [""], ["echo", "a\0b"], ["echo", "\ud800"]):
        with pytest.raises(BadInput):
            await box.run(*argv)
    for env in ({"": "x"}, {"A=B": "x"}, {"A": "x\0y"}, {"A\0": "x"}, {"A": "\ud800"}):
        with pytest.raises(BadInput):
            await box.run("true", env=env)
    (box.root / "data").write_bytes(bytes(range(256)) * 10)
    (box.root / "data").chmod(0o755)
    with pytest.raises(Unavailable, match=r"cannot be run: .*/data: Exec format error"):
        await box.run(f"{box.root}/data")


async def test_a_boundary_that_cannot_be_made_is_told(strong: Box, tmp_path: Path) -> None:
    views = Overlay(tmp_path / "no upper", tmp_path / "no work")
    with pytest.raises(Unavailable, match=r"could not be started: bwrap: .*no upper"):
        await strong.sh("echo out > made", views=views)
    assert not (strong.root / "made").exists()


async def test_what_every_program_starts_with(box: Box) -> None:
    code = """
import os, resource
def is_open(fd):
    try:
        return bool(os.fstat(fd))
    except OSError:
        return False
print(os.umask(0), os.nice(0), *resource.getrlimit(resource.RLIMIT_NOFILE))
print(resource.getrlimit(resource.RLIMIT_CPU)[0], [fd for fd in range(3, 5000) if is_open(fd)])
"""
    done = await box.python(code, limits=Limits(open_files=77, cpu_seconds=9))
    nice = min(os.getpriority(os.PRIO_PROCESS, 0) + NICE, 19)
    mask = os.umask(0)
    os.umask(mask)
    assert done.out.splitlines() == [f"{mask} {nice} 77 77", "9 []"]


async def test_a_server_that_hears_no_interrupt_starts_programs_that_do(box: Box) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = await box.python("import signal as s; print(s.getsignal(s.SIGINT))")
        shell = await box.sh("kill -PIPE $$; echo on")
    finally:
        signal.signal(signal.SIGINT, before)
    assert "default_int_handler" in done.out
    assert (shell.code, shell.out) == (128 + signal.SIGPIPE, "")


async def test_folders_on_the_path_are_no_programs(box: Box) -> None:
    (box.root / "one" / "here").mkdir(parents=True)
    (box.root / "two").mkdir()
    script = box.root / "two" / "here"
    script.write_text("#!/bin/sh\necho found\n")
    script.chmod(0o700)
    env = {"PATH": f"{box.root}/none:{box.root}/one:{box.root}/two:/bin"}
    assert (await box.run("here", env=env)).out == "found\n"
    with pytest.raises(Unavailable, match="here is not there"):
        await box.run("here", env={"PATH": f"{box.root}/one"})


@pytest.mark.timeout(30)
def test_nobody_waits_for_a_pipe_in_the_place_of_a_program(tmp_path: Path) -> None:
    """A program may exchange one for the other after it was seen to be a plain file."""
    os.mkfifo(tmp_path / "pipe", 0o700)
    check_program(str(tmp_path / "pipe"))


async def test_variables_stand_in_no_command_line(box: Box) -> None:
    async with await box.sandbox.spawn(
        ["/bin/sh", "-c", "echo up; sleep 60"],
        cwd=box.workspace.start(),
        env={"TOKEN": "canary"},
    ) as run:
        async for _ in run.read("stdout"):
            break
        lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in tree(run.pid)]
    assert len(lines) > 1
    assert not any(b"canary" in line for line in lines)


async def test_exit_codes(box: Box) -> None:
    assert (await box.sh("exit 3")).code == 3
    assert (await box.sh("kill -9 $$")).code == 137
    assert (await box.python("import os; os.abort()")).code == 134


@pytest.mark.parametrize("data", [b"", b"abc" * 200_000])
async def test_stdin(box: Box, data: bytes) -> None:
    done = await box.run("cat", stdin=data)
    assert done.out == data.decode()[-100_000:]


# Work that must be possible.

BENIGN = {
    "subprocess": "import subprocess as s; print(s.run('echo a|cat', shell=True).returncode + 7)",
    "threads": "import threading as t; x = t.Thread(target=print, args=(7,)); x.start(); x.join()",
    "semaphores": "import multiprocessing as m; l = m.Lock(); l.acquire(); l.release(); print(7)",
    "pool": "import multiprocessing as m\nwith m.Pool(2) as p: print(sum(p.map(abs, [3, -4])))",
    "shared memory": "from multiprocessing import shared_memory as s\n"
    "x = s.SharedMemory(create=True, size=9); x.buf[0] = 7; print(x.buf[0]); x.close(); x.unlink()",
    "asyncio": "import asyncio, sys\nasync def f():\n"
    "    p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(7)')\n"
    "    await p.wait()\nasyncio.run(f())",
    "temporary": "import tempfile as t\nwith t.TemporaryFile() as f: f.write(b'x')\nprint(7)",
    "sqlite": "import sqlite3 as s; c = s.connect('x.db'); c.execute('create table t (a)')\n"
    "print(7)",
}


@pytest.mark.parametrize("name", BENIGN)
async def test_python_works(box: Box, name: str) -> None:
    done = await box.python(BENIGN[name])
    assert (done.code, done.out.split()[-1:]) == (0, ["7"]), done.out


SHELL = {
    "pipes": "seq 1000 | sort -rn | tail -1 | grep -qx 1 && echo 7",
    "git": "git init -q . && git config user.email a@b.c && git config user.name n && echo x > f"
    " && git add f && git commit -qm m && git log --format=%s | grep -qx m && echo 7",
    "node": "command -v node > /dev/null || { echo 7; exit; }; node -e \"require('fs')"
    ".writeFileSync('n', '7'); console.log(require('child_process').execSync('cat n') + '')\"",
}


@pytest.mark.parametrize("name", SHELL)
async def test_shells_work(box: Box, name: str) -> None:
    done = await box.sh(SHELL[name])
    assert (done.code, done.out.split()[-1:]) == (0, ["7"]), done.out


async def test_terminals_of_the_user_are_out_of_reach(box: Box) -> None:
    theirs, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        code = """
import os, sys
for flags in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY):
    try:
        os.open(sys.argv[1], flags | os.O_NOCTTY)
        print("out")
    except OSError:
        pass
print(os.isatty(0), os.write(os.open("/dev/tty", os.O_RDWR), b"own "), os.ttyname(0)[:5])
"""
        done = await box.python(code, name, pty=Pty())
        assert "own True 4 /dev/" in done.out
        assert "out" not in done.out
    finally:
        os.close(theirs)
        os.close(slave)


async def test_the_scheduling_of_others_stays(box: Box) -> None:
    code = """
import ctypes, os, sys
other, me = int(sys.argv[1]), os.getuid()
call = ctypes.CDLL(None, use_errno=True).syscall
mask = ctypes.create_string_buffer(b"\\x01" + bytes(127))
param = ctypes.create_string_buffer(bytes(64))
head = (48).to_bytes(4, "little") + (3).to_bytes(4, "little")
attr = ctypes.create_string_buffer(head + bytes(40))
calls = {
    "affinity": (203, other, 128, mask), "param": (142, other, param),
    "scheduler": (144, other, 3, param), "attr": (314, other, attr, 0),
    "priority": (141, 0, other, 19), "priority of all": (141, 2, me, 19),
    "priority of mine": (141, 2, 0, 19), "io": (251, 1, other, 3 << 13),
    "io of mine": (251, 3, 0, 3 << 13), "limits": (302, other, 7, bytes(16), 0),
}
for name, (number, *arguments) in calls.items():
    if call(number, *arguments) >= 0:
        print("changed:", name)
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.nice(1)
print("works")
"""
    if platform.machine() != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    with subprocess.Popen(["/bin/sleep", "60"]) as other:
        try:
            done = await box.python(code, str(other.pid))
            assert os.getpriority(os.PRIO_PROCESS, other.pid) == os.getpriority(os.PRIO_PROCESS, 0)
        finally:
            other.kill()
    found = set(done.out.splitlines())
    # At strong those of its user are those that it sees, and so of the run itself.
    own = {f"changed: {name}" for name in ("priority of all", "priority of mine", "io of mine")}
    assert found - (own if done.level == "strong" else set()) == {"works"}


async def test_calls_that_nobody_has_looked_at_are_absent(box: Box) -> None:
    code = """
import ctypes, errno
library = ctypes.CDLL(None, use_errno=True)
for number in (470, 500, 1000, 0x3FFFFFFF):
    library.syscall(number)
    print(errno.errorcode[ctypes.get_errno()])
"""
    assert (await box.python(code)).out.split() == ["ENOSYS"] * 4


async def test_beneath_var_tmp_all_works(open_box: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        root = Path(place, "work")
        root.mkdir()
        monkeypatch.setenv("TOOLCRIB_DATA", f"{place}/state")
        box = open_box("auto", roots=[root])
        if (await box.sandbox.report()).level != "strong":
            absent(f"the level strong does not work here: {(await box.sandbox.report()).why}")
        done = await box.sh("echo y > new; cat new", cwd=str(root))
        assert (done.code, done.out.strip(), (root / "new").read_text()) == (0, "y", "y\n")


async def test_other_names_of_what_is_masked_are_masked_too(strong: Box) -> None:
    (strong.root / "keys").mkdir()
    (strong.root / "keys/id_rsa").write_text("a key")
    (strong.root / ".git/hooks").mkdir(parents=True)
    (strong.root / ".git/hooks/pre-commit").write_text("true")
    (strong.root / ".env").write_text("a secret")
    os.link(strong.root / ".env", strong.root / "linked.txt")
    os.link(strong.root / "keys/id_rsa", strong.root / "keys/notes")
    os.link(strong.root / ".git/hooks/pre-commit", strong.root / "check.sh")
    (strong.root / "first").write_text("plain")
    os.link(strong.root / "first", strong.root / "second")
    ran = await strong.sh(
        "cat linked.txt keys/notes; cat check.sh second; echo x >> check.sh; echo x >> second"
    )
    assert "a secret" not in ran.out
    assert "a key" not in ran.out
    assert "trueplain" in ran.out
    assert (strong.root / ".git/hooks/pre-commit").read_text() == "true"
    assert (strong.root / "first").read_text() == "plainx\n"
    # Made since by the user, with nothing else changed there.
    os.link(strong.root / ".env", strong.root / "keys/again")
    assert "a secret" not in (await strong.sh("cat keys/again; true")).out


def test_settings_of_a_working_tree_are_read_without_their_credentials(tmp_path: Path) -> None:
    trees = tmp_path / ".git/worktrees"
    (trees / "x").mkdir(parents=True)
    settings = trees / "x/config.worktree"
    settings.write_text("[http]\n\textraHeader = Authorization: TOKEN99\n[core]\n\tbare = false\n")
    found = masks_of_settings([Mask(str(trees), "fixed")], [str(tmp_path)])
    (copy,) = [mask for mask in found if mask.path == str(settings)]
    assert copy.kind == "copy"
    assert b"bare = false" in copy.data
    assert b"TOKEN99" not in copy.data


async def test_other_versions_of_settings_are_read_without_their_credentials(strong: Box) -> None:
    """As editors, git and people leave them, in the repositories of submodules too."""
    address = '[remote "o"]\n\turl = https://me:TOKEN99@h.org/x\n'
    names = (
        "config-old",
        "old-config",
        "#config#",
        "config (1)",
        "config.lock",
        "config~",
        ".config.swp",
    )
    for folder in (".git", ".git/modules/sub", ".git/modules/a/b", "bare"):
        for name in ("objects", "refs"):
            (strong.root / folder / name).mkdir(parents=True, exist_ok=True)
        (strong.root / folder / "HEAD").write_text("ref: refs/heads/main\n")
        for name in names:
            end = "\0" if name.endswith("swp") else ""
            (strong.root / folder / name).write_text(address + end)
    ran = await strong.sh("cat .git/?onfig* .git/[.#]* .git/modules/sub/* bare/*; ls -a bare; true")
    assert "[remote" in ran.out
    assert "#config#" in ran.out
    assert "TOKEN99" not in ran.out
    assert "TOKEN99" not in (await strong.sh("cat $(find . -type f -name '*config*')")).out


SWAPS = """
import ctypes, time
swap = ctypes.CDLL(None).renameat2
for _ in range(4000):
    swap(-100, b"link", -100, b"in", 2)
    time.sleep(0.0015)
    swap(-100, b"link", -100, b"in", 2)
    time.sleep(0.004)
"""


async def test_no_root_is_swapped_for_a_link_meanwhile(open_box: Open, tmp_path: Path) -> None:
    """A run of another server, with a wider workspace, may do so while ours is set up."""
    (tmp_path / "ws/in").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    (tmp_path / "private/key").write_text("canary")
    (tmp_path / "ws/link").symlink_to("../private")
    wide = open_box("strong", roots=[tmp_path / "ws"])
    box = open_box("strong", roots=[tmp_path / "ws/in"])
    async with await wide.sandbox.spawn(
        [sys.executable, "-c", SWAPS], cwd=wide.workspace.resolve("."), views=Bind()
    ) as swapping:
        for _ in range(40):
            with suppress(ToolError):
                done = await box.sh("cat key; echo mine > made", views=ReadOnly())
                assert "canary" not in done.out
        await swapping.kill(0)
    assert sorted(os.listdir(tmp_path / "private")) == ["key"]
