"""Using more than is there for it. Each ends of itself at a size that the machine can bear."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

MB = 1_000_000
BURST = 450
"""Three times the limit of 40, and the 300 that a first burst may have as root; see `numbering`."""
MEMORY = {"memory_bytes": 200 * MB}
TOO_MUCH = {"memory": 420 * MB}
TOO_MUCH_AT_ONCE = {"memory": 700 * MB}
"""Of many processes that fill at the same time, until a busy machine has looked at them."""
DISK = {"disk_bytes": 20 * MB, "file_bytes": 15 * MB}
SMALL = "b = bytearray(30_000_000); b[::4096] = b'x' * len(b[::4096]); say('ok')"
FILES = "for n in range(20): open('f%d' % n, 'wb').write(bytes(100_000))\nsay('ok')"
CHILDREN = """
ps = [subprocess.Popen(["/bin/true"]) for _ in range(8)]; assert not any(p.wait() for p in ps)
say("ok")
"""
LINES = "print('x' * 100_000); say('ok')"


def _flood(name: str, title: str, body: str, twin: str, **more: Any) -> Attempt:
    return Attempt(name, title, "python", body, Twin(body=twin), alone=True, **more)


def _memory(
    name: str, title: str, body: str, twin: str = SMALL, over: dict[str, int] = TOO_MUCH
) -> Attempt:
    return _flood(name, title, body, twin, limits=MEMORY, over=over)


FLOODS = (
    _memory(
        "F01",
        "memory of one process",
        """
        held = []
        for n in range(16):
            b = bytearray(40_000_000); b[::4096] = b"x" * len(b[::4096]); held.append(b)
        hold(0.3)
        """,
    ),
    _memory(
        "F02",
        "memory of sixteen processes, each with little",
        """
        for n in range(16):
            if not os.fork():
                b = bytearray(60_000_000); b[::4096] = b"x" * len(b[::4096]); hold(0.8); os._exit(0)
        hold(0.8)
        """,
        """
        if not os.fork(): b = bytearray(9_000_000); os._exit(0)
        assert os.wait()[1] == 0; say("ok")
        """,
        TOO_MUCH_AT_ONCE,
    ),
    _memory(
        "F03",
        "memory shared by mmap",
        """
        held = []
        for n in range(16):
            m = mmap.mmap(-1, 40_000_000); m[::4096] = b"x" * len(m[::4096]); held.append(m)
        hold(0.3)
        """,
        "m = mmap.mmap(-1, 9_000_000); m[:] = b'x' * len(m); say('ok')",
    ),
    _memory(
        "F04",
        "files in shared memory",
        """
        for n in range(16): open("/dev/shm/%s-%d" % (T["TOKEN"], n), "wb").write(bytes(40_000_000))
        hold(0.3)
        """,
        """
        from multiprocessing import shared_memory
        m = shared_memory.SharedMemory(create=True, size=9_000_000); m.buf[0] = 1
        m.close(); m.unlink(); say("ok")
        """,
    ),
    _memory(
        "F05",
        "files without a place (memfd)",
        """
        held = []
        for n in range(16):
            held.append(os.memfd_create("x")); os.write(held[-1], bytes(40_000_000))
        hold(0.3)
        """,
        "fd = os.memfd_create('x'); os.write(fd, bytes(9_000_000)); say('ok')",
    ),
    _memory(
        "F06",
        "segments of System V memory",
        """
        libc.shmat.restype = ctypes.c_void_p
        ids = []
        for n in range(16):
            id = libc.shmget(0, 40_000_000, 0o1600)
            if id < 0: raise OSError(ctypes.get_errno(), "shmget")
            at = libc.shmat(id, None, 0); libc.shmctl(id, 0, None)
            ctypes.memset(at, 1, 40_000_000)
        hold(0.3)
        """,
        "m = mmap.mmap(-1, 9_000_000); m[0] = 1; say('ok')",
    ),
    _flood(
        "F10",
        "a fork bomb",
        """
        made = 0
        for n in range(600):
            try: pid = os.fork()
            except OSError: break
            if pid == 0: time.sleep(1.2); os._exit(0)
        time.sleep(0.4)
        """,
        CHILDREN,
        limits={"processes": 40},
        over={"processes": BURST},
    ),
    _flood(
        "F11",
        "a fork bomb whose children fork",
        """
        for n in range(9):
            try: os.fork()
            except OSError: pass
        time.sleep(1.0); os._exit(0)
        """,
        CHILDREN,
        limits={"processes": 40},
        over={"processes": BURST},
    ),
    _flood(
        "F12",
        "threads without end",
        """
        import threading
        stop = threading.Event()
        try:
            for n in range(600):
                t = threading.Thread(target=stop.wait, args=(1.0,), daemon=True); t.start()
        except RuntimeError: pass
        hold(0.3); os._exit(0)
        """,
        """
        import threading
        ts = [threading.Thread(target=int) for _ in range(8)]; [t.start() for t in ts]
        [t.join() for t in ts]; say("ok")
        """,
        limits={"processes": 40},
        over={"threads": BURST},
    ),
    _flood(
        "F20",
        "the disk, in one file",
        """
        fd = os.open("big", 65)
        for n in range(60): os.write(fd, bytes(2_000_000))
        """,
        FILES,
        limits=DISK,
        over={"disk": 60 * MB},
    ),
    _flood(
        "F21",
        "the disk, in many files",
        """
        for n in range(120):
            with open("big%d" % n, "wb") as f: f.write(bytes(1_000_000)); os.fsync(f.fileno())
        """,
        FILES,
        limits=DISK,
        over={"disk": 60 * MB},
    ),
    _flood(
        "F22",
        "names without content",
        """
        for n in range(100_000): os.close(os.open("empty%d" % n, 65))
        """,
        "for n in range(200): open('empty%d' % n, 'w')\nsay('ok')",
        limits={"disk_bytes": 20 * MB},
        over={"files": 75_000},
        seconds=20.0,
    ),
    _flood(
        "F23",
        "space reserved by fallocate",
        """
        for n in range(8):
            fd = os.open("r%d" % n, 65)
            try: os.posix_fallocate(fd, 0, 14_000_000)
            except OSError:
                sc(285, fd, 0, 0, 14_000_000)
        """,
        "fd = os.open('r', 65); os.ftruncate(fd, 1000); say('ok')",
        limits=DISK,
        over={"disk": 60 * MB},
        machine="x86_64",
    ),
    _flood(
        "F24",
        "a file of a terabyte with a hole",
        """
        fd = os.open("hole", 65); os.pwrite(fd, b"x", 1 << 40)
        """,
        "fd = os.open('hole', 65); os.pwrite(fd, b'x', 1 << 20); say('ok')",
        limits=DISK,
        over={"largest": 60 * MB},
    ),
    _flood(
        "F25",
        "the machine's /tmp filled",
        """
        for n in range(60): open("/tmp/%s-%d" % (T["TOKEN"], n), "wb").write(bytes(2_000_000))
        """,
        """
        import tempfile
        with tempfile.TemporaryFile() as f: f.write(bytes(1000))
        say("ok")
        """,
        limits=DISK,
        over={"disk": 60 * MB},
    ),
    _flood(
        "F30",
        "output without end",
        """
        line = b"x" * 65536
        for n in range(700): os.write(1, line)
        """,
        LINES,
        limits={"output_bytes": 2 * MB},
        over={"output": 8 * MB},
    ),
    _flood(
        "F31",
        "errors without end",
        """
        line = b"x" * 65536
        for n in range(700): os.write(2, line)
        """,
        LINES,
        limits={"output_bytes": 2 * MB},
        over={"output": 8 * MB},
    ),
    _flood(
        "F32",
        "the processor, for longer than it may",
        "end = time.process_time() + 3\nwhile time.process_time() < end: pass",
        "sum(range(100_000)); say('ok')",
        limits={"cpu_seconds": 1.0},
        over={"cpu": 2.4},
    ),
    _flood(
        "F33",
        "descriptors without end",
        """
        held = []
        for n in range(3000): held.append(os.open("/dev/null", 0))
        hold(0.3)
        """,
        "[os.open('/dev/null', 0) for _ in range(50)]; say('ok')",
        limits={"open_files": 256},
        over={"descriptors": 600},
    ),
)
