"""Reaching other programs, and outliving the run, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

OWN_CHILD = """
child = subprocess.Popen(["/bin/sleep", "20"]); child.send_signal(signal.SIGTERM)
assert child.wait() == -15; say("ok")
"""
SHARED = """
m = mmap.mmap(-1, 4096)
if not os.fork(): m[0:2] = b"hi"; os._exit(0)
os.wait(); assert m[0:2] == b"hi"; say("ok")
"""
WAITED = "assert subprocess.run(['/bin/true']).returncode == 0; say('ok')"
DAEMON = "os.execve('/bin/sleep', ['sleep', '300.' + T['NUMBER']], {})"


def _reach(name: str, title: str, body: str, twin: str = OWN_CHILD, **more: Any) -> Attempt:
    more.setdefault("victim", True)
    return Attempt(name, title, "python", body, Twin(body=twin), **more)


def _stay(name: str, title: str, body: str, **more: Any) -> Attempt:
    return Attempt(name, title, "python", body, Twin(body=WAITED), **more)


PROCESSES = (
    _reach("P01", "another program killed", "os.kill(int(T['VICTIM']), 9)"),
    _reach("P02", "another program stopped", "os.kill(int(T['VICTIM']), signal.SIGSTOP)"),
    _reach("P03", "the server's helper ended", "os.kill(int(T['SUPER']), signal.SIGTERM)"),
    _reach(
        "P04",
        "a signal by pidfd",
        "signal.pidfd_send_signal(os.pidfd_open(int(T['VICTIM'])), 9)",
        """
           child = subprocess.Popen(["/bin/sleep", "20"])
           signal.pidfd_send_signal(os.pidfd_open(child.pid), 15)
           assert child.wait() == -15; say("ok")""",
    ),
    _reach(
        "P05",
        "a signal by tgkill",
        "sc(234, int(T['VICTIM']), int(T['VICTIM']), 9)",
        machine="x86_64",
    ),
    _reach(
        "P06",
        "a signal by rt_sigqueueinfo",
        "sc(129, int(T['VICTIM']), 9, struct.pack('<iii', 9, 0, -1) + bytes(120))",
        machine="x86_64",
    ),
    _reach(
        "P07",
        "its memory read by process_vm_readv",
        """
           b = ctypes.create_string_buffer(200)
           here = struct.pack("<QQ", ctypes.addressof(b), 200)
           there = struct.pack("<QQ", int(T["ADDRESS"]), 200)
           sc(310, int(T["VICTIM"]), here, 1, there, 1, 0); say(b.raw)
           """,
        SHARED,
        machine="x86_64",
    ),
    _reach(
        "P08",
        "its memory changed by process_vm_writev",
        """
           b = ctypes.create_string_buffer(b"changed!")
           here = struct.pack("<QQ", ctypes.addressof(b), 8)
           there = struct.pack("<QQ", int(T["ADDRESS"]), 8)
           sc(311, int(T["VICTIM"]), here, 1, there, 1, 0)
           """,
        SHARED,
        machine="x86_64",
    ),
    _reach(
        "P09",
        "its memory read at /proc/PID/mem",
        """
           fd = os.open("/proc/%s/mem" % T["VICTIM"], 0)
           say(os.pread(fd, 200, int(T["ADDRESS"])))
           """,
        SHARED,
    ),
    _reach(
        "P10",
        "ptrace of another program",
        """
           pid = int(T["VICTIM"])
           sc(101, 0x4206, pid, 0, 0); sc(101, 0x4207, pid, 0, 0); os.waitpid(pid, 0)
           word = ctypes.c_long(); sc(101, 5, pid, int(T["ADDRESS"]), 0x6465676e61686321)
           sc(101, 17, pid, 0, 0)
           """,
        SHARED,
        machine="x86_64",
    ),
    _reach(
        "P11",
        "its limits lowered by prlimit",
        "import resource; resource.prlimit(int(T['VICTIM']), resource.RLIMIT_NOFILE, (5, 5))",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50)); say('ok')",
    ),
    _reach(
        "P12",
        "its rank with the out-of-memory killer",
        "open('/proc/%s/oom_score_adj' % T['VICTIM'], 'w').write('900')",
        WAITED,
    ),
    _reach(
        "P13",
        "its priority lowered",
        "os.setpriority(os.PRIO_PROCESS, int(T['VICTIM']), 19)",
        "os.setpriority(os.PRIO_PROCESS, 0, 19); say('ok')",
    ),
    _reach(
        "P14",
        "its processors taken",
        "os.sched_setaffinity(int(T['VICTIM']), {0})",
        "os.sched_setaffinity(0, {0}); say('ok')",
    ),
    _stay("P20", "a child that goes on", "subprocess.Popen(['/bin/sleep', '300.' + T['NUMBER']])"),
    _stay(
        "P21",
        "a daemon: fork, setsid, fork, no environment",
        f"""
        if not os.fork():
            os.setsid()
            if not os.fork():
                for fd in range(3): os.close(fd)
                {DAEMON}
            os._exit(0)
        os.wait()
        """,
    ),
    _stay(
        "P22",
        "a daemon that ignores every signal",
        f"""
        if not os.fork():
            os.setsid()
            if not os.fork():
                for n in range(1, 65):
                    try: signal.signal(n, signal.SIG_IGN)
                    except (OSError, ValueError): pass
                {DAEMON}
            os._exit(0)
        os.wait()
        """,
    ),
    _stay(
        "P23",
        "a daemon of a chain of forks that outruns a look at the table",
        f"""
        end = time.monotonic() + 0.3
        for n in range(200):
            if os.fork(): os._exit(0)
            os.setsid()
            if time.monotonic() > end: break
        {DAEMON}
        """,
    ),
    _stay(
        "P24",
        "the parent killed, so that nobody looks after the rest",
        f"""
        if not os.fork():
            time.sleep(0.2)
            {DAEMON}
        os.kill(os.getppid(), 9); time.sleep(0.1)
        """,
    ),
    _stay(
        "P25",
        "all that can be signalled is, and a child stays",
        f"""
        if not os.fork():
            os.setsid(); time.sleep(0.2)
            {DAEMON}
        signal.signal(15, signal.SIG_IGN)
        for target in (0, os.getppid()):
            try: os.kill(target, 15)
            except OSError: pass
        """,
    ),
    _stay(
        "P26",
        "a program that does not stop when asked",
        "signal.signal(15, signal.SIG_IGN)\nsignal.signal(2, signal.SIG_IGN)\n"
        "end = time.monotonic() + 8\n"
        "while time.monotonic() < end: time.sleep(0.05)",
        seconds=1.0,
        over={"wall": 7.5},
    ),
    _stay(
        "P27",
        "a child that keeps the output open",
        f"""
        if not os.fork():
            os.setsid()
            {DAEMON}
        """,
    ),
    _stay(
        "P28",
        "a daemon of a clone in the parent's place (CLONE_PARENT)",
        f"""
        pid = sc(56, 0x8000 | 17, 0, 0, 0, 0)
        if pid == 0:
            {DAEMON}
        """,
        machine="x86_64",
    ),
)
