"""Parts of the kernel that a program has no use for, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

POLL = """
import select
r, w = os.pipe(); p = select.epoll(); p.register(r, 1); os.write(w, b"x"); assert p.poll(1)
say("ok")
"""
CHILD = "assert subprocess.run(['/bin/true']).returncode == 0; say('ok')"
FOLDER = "os.makedirs('x/y'); os.chdir('x/y'); open('z', 'w').write('1'); say('ok')"
PAGES = "m = mmap.mmap(-1, 1 << 20); m[5] = 1; m.madvise(mmap.MADV_DONTNEED); say('ok')"
NAMES = "assert os.uname().nodename and socket.gethostname(); say('ok')"
READ_PROC = "assert open('/proc/self/status').read() and open('/proc/meminfo').read(); say('ok')"
USER_NS = "open('/proc/self/setgroups', 'w').write('deny')"


def _kernel(name: str, title: str, body: str, twin: str, **more: Any) -> Attempt:
    return Attempt(name, title, "python", body, Twin(body=twin), **more)


def _held(name: str, title: str, path: str, twin: str = READ_PROC) -> Attempt:
    """A file of the kernel opened for writing; nothing is written, since it would count."""
    body = f"fd = os.open('{path}', os.O_WRONLY); hold()"
    return _kernel(name, title, body, twin, held=(f"^{path}$", True))


X86 = {"machine": "x86_64"}
KERNEL = (
    _kernel(
        "K01",
        "io_uring",
        "fd = sc(425, 4, ctypes.create_string_buffer(256)); hold()",
        POLL,
        held=("io_uring", False),
    ),
    _kernel(
        "K02", "userfaultfd", "fd = sc(323, 1); hold()", PAGES, held=("userfaultfd", False), **X86
    ),
    _kernel(
        "K03",
        "a map of bpf",
        "a = struct.pack('<4I', 1, 4, 4, 1) + bytes(100); fd = sc(321, 0, a, len(a)); hold()",
        POLL,
        held=("bpf-map", False),
        **X86,
    ),
    _kernel(
        "K04",
        "a counter of perf",
        "a = struct.pack('<IIQQQQQ', 1, 128, 1, 0, 0, 0, 0x60) + bytes(80)\n"
        "fd = sc(298, a, 0, -1, -1, 0); hold()",
        "import resource; assert resource.getrusage(0).ru_maxrss; say('ok')",
        held=("perf_event", False),
        **X86,
    ),
    _kernel(
        "K05",
        "memory that the kernel itself cannot see",
        "fd = sc(447, 0); hold()",
        PAGES,
        held=("secretmem", False),
    ),
    _kernel(
        "K06",
        "a key left in the user's keyring",
        "sc(248, b'user', T['TOKEN'].encode(), b'x', 1, -4)",
        "import hashlib; hashlib.sha256(b'x').digest(); say('ok')",
        **X86,
    ),
    _kernel(
        "K07",
        "a user namespace by unshare, and a mount in it",
        "sc(272, 0x10020000); libc.mount(T['TOKEN'].encode(), T['SUB'].encode(), b'tmpfs', 0, None)"
        "\nhold()",
        FOLDER,
        sees=frozenset({"mount"}),
        **X86,
    ),
    _kernel(
        "K08",
        "a user namespace by clone",
        "if sc(56, 0x10020000 | 17, 0, 0, 0, 0) == 0:\n"
        "    libc.mount(T['TOKEN'].encode(), T['SUB'].encode(), b'tmpfs', 0, None); hold()\n"
        "else: os.wait()",
        CHILD,
        sees=frozenset({"mount"}),
        **X86,
    ),
    _kernel(
        "K09",
        "a user namespace by clone3",
        "a = struct.pack('<5Q', 0x10020000, 0, 0, 0, 17) + bytes(24)\n"
        "if sc(435, a, 64) == 0:\n"
        "    libc.mount(T['TOKEN'].encode(), T['SUB'].encode(), b'tmpfs', 0, None); hold()\n"
        "else: os.wait()",
        "import threading; t = threading.Thread(target=int); t.start(); t.join(); say('ok')",
        sees=frozenset({"mount"}),
    ),
    _kernel(
        "K10",
        "a mount",
        "if libc.mount(T['TOKEN'].encode(), T['SUB'].encode(), b'tmpfs', 0, None):\n"
        "    sc(272, 0x10020000)\n"
        "    libc.mount(T['TOKEN'].encode(), T['SUB'].encode(), b'tmpfs', 0, None)\n"
        "hold()\nlibc.umount2(T['SUB'].encode(), 2)",
        FOLDER,
        sees=frozenset({"mount"}),
        **X86,
    ),
    _kernel(
        "K11",
        "a mount by fsopen",
        "try: fs = sc(430, b'tmpfs', 0)\n"
        "except PermissionError: sc(272, 0x10020000); fs = sc(430, b'tmpfs', 0)\n"
        "sc(431, fs, 1, b'source', T['TOKEN'].encode(), 0); sc(431, fs, 6, 0, 0, 0)\n"
        "m = sc(432, fs, 0, 0); sc(429, m, b'', -100, T['SUB'].encode(), 4)\nhold()\n"
        "libc.umount2(T['SUB'].encode(), 2)",
        FOLDER,
        sees=frozenset({"mount"}),
        **X86,
    ),
    _kernel(
        "K12",
        "chroot",
        "try: os.chroot(T['SUB'])\n"
        "except PermissionError: sc(272, 0x10000000); os.chroot(T['SUB'])\nhold()",
        FOLDER,
        sees=frozenset({"root"}),
        **X86,
    ),
    _kernel(
        "K13",
        "pivot_root",
        "sc(272, 0x10020000); libc.mount(b'none', b'/', None, 0x44000, None)\n"
        "s = T['SUB'].encode(); libc.mount(s, s, None, 4096, None); os.chdir(s)\n"
        "sc(155, b'.', b'.'); libc.umount2(b'.', 2); hold()",
        FOLDER,
        sees=frozenset({"pivot"}),
        **X86,
    ),
    _kernel(
        "K14",
        "the name of the machine, in a namespace of its own",
        "sc(272, 0x14000000); socket.sethostname(T['TOKEN']); hold()",
        NAMES,
        sees=frozenset({"uts"}),
        **X86,
    ),
    _kernel(
        "K15",
        "the namespaces of another program entered",
        "fd = os.open('/proc/%s/ns/mnt' % T['VICTIM'], 0); hold()",
        CHILD,
        victim=True,
        held=("^mnt:", False),
    ),
    _held("K16", "the program for crashes (core_pattern)", "/proc/sys/kernel/core_pattern"),
    _held("K17", "the number of files for everybody", "/proc/sys/fs/file-max"),
    _held("K18", "swap for everybody", "/proc/sys/vm/swappiness"),
    _held("K19", "a setting in /sys", "/sys/kernel/mm/transparent_hugepage/enabled"),
    _held(
        "K20",
        "the way out of a control group (release_agent)",
        "/sys/fs/cgroup/memory/release_agent",
    ),
    _kernel(
        "K21",
        "a control group of its own",
        "for t in ('/sys/fs/cgroup/pids/', '/sys/fs/cgroup/'):\n"
        "    try: os.mkdir(t + T['TOKEN']); return\n"
        "    except FileNotFoundError: pass",
        READ_PROC,
    ),
    _kernel(
        "K22",
        "the disk itself",
        "fd = os.open(T['DISK'], 0); say(os.pread(fd, 16, 0)); hold()",
        "assert os.statvfs('.').f_blocks; say('ok')",
        held=("^/dev/(vd|sd|xvd|nvme|loop|mapper)", False),
    ),
    _kernel(
        "K23",
        "the log of the kernel",
        "fd = os.open('/dev/kmsg', 0); hold()",
        "os.write(os.open('/dev/null', 1), b'x'); assert os.urandom(3); say('ok')",
        held=("^/dev/kmsg$", False),
    ),
    _kernel(
        "K24",
        "the log of the kernel by syslog",
        "b = ctypes.create_string_buffer(65536); n = sc(103, 3, b, 65536)\n"
        "open('kernel.log', 'wb').write(b.raw[:n] or b'empty')",
        "open('own.log', 'w').write('x'); say('ok')",
        sees=frozenset({"kernel log"}),
        **X86,
    ),
    _kernel(
        "K25",
        "i386 system calls, past a filter of the others",
        """
            code = b"\\x53\\xb8\\x25\\0\\0\\0\\xbb" + struct.pack("<I", int(T["VICTIM"]))
            code += b"\\xb9\\x09\\0\\0\\0\\xcd\\x80\\x5b\\xc3"
            m = mmap.mmap(-1, 4096, prot=7); m.write(code)
            ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
            """,
        """
            m = mmap.mmap(-1, 4096, prot=7); m.write(b"\\xb8\\x07\\0\\0\\0\\xc3")
            f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
            assert f() == 7; say("ok")
            """,
        victim=True,
        **X86,
    ),
    _kernel(
        "K26",
        "x32 system calls",
        "sc(0x40000000 | 62, int(T['VICTIM']), 9)",
        "assert sc(39) == os.getpid(); say('ok')",
        victim=True,
        **X86,
    ),
    _kernel(
        "K27",
        "input pushed into the terminal (TIOCSTI)",
        """
            import fcntl, termios
            fd = os.open("/dev/tty", os.O_RDWR)
            for c in b"PUSHED\\n": fcntl.ioctl(fd, termios.TIOCSTI, bytes([c]))
            hold(0.2)
            """,
        "import termios; assert os.isatty(0); termios.tcgetattr(0); say('ok')",
        terminal=True,
        sees=frozenset({"pushed"}),
    ),
    _kernel(
        "K28",
        "the console taken (TIOCLINUX, TIOCCONS)",
        """
            import fcntl
            fd = os.open("/dev/tty", os.O_RDWR)
            fcntl.ioctl(fd, 0x541D, 0); fd = os.open("/dev/console", os.O_WRONLY); hold()
            """,
        "import termios; termios.tcgetattr(0); os.get_terminal_size(0); say('ok')",
        terminal=True,
        held=("^/dev/console$", True),
    ),
    _kernel(
        "K29",
        "root, by a setuid program",
        "p = subprocess.Popen(['/bin/su', '-c', 'true'], stdin=subprocess.PIPE)\n"
        "hold(0.6); p.kill()",
        CHILD,
        sees=frozenset({"uid"}),
    ),
    _kernel(
        "K30",
        "addresses without chance, for the next attack (personality)",
        "sc(135, 0x0040000); hold()",
        CHILD,
        sees=frozenset({"personality"}),
        **X86,
    ),
    _kernel(
        "K31",
        "every event of the file system (fanotify)",
        "try: fd = sc(300, 0, 0)\nexcept PermissionError: fd = sc(300, 0x200, 0)\nhold()",
        "i = libc.inotify_init(); assert i >= 0; say('ok')",
        held=("fanotify", False),
        **X86,
    ),
    _kernel(
        "K32",
        "the memory of the machine",
        "fd = os.open('/proc/kcore', 0); hold()",
        READ_PROC,
        held=("^/proc/kcore$", False),
    ),
    _kernel(
        "K34",
        "a share of a disk image (loop device)",
        "fd = os.open('/dev/loop-control', os.O_RDWR); hold()",
        "open('image', 'wb').truncate(1000); say('ok')",
        held=("^/dev/loop-control$", False),
    ),
)
