"""Reading what is none of the program's business, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin

NOTES = Twin(place="notes")


def _read(name: str, title: str, body: str, target: str = "key", **more: Any) -> Attempt:
    more.setdefault("twin", NOTES)
    return Attempt(name, title, "python", body, target=target, **more)


READING = (
    _read("R01", "open() of a key in the home folder", "say(open(F).read())"),
    _read("R02", "credentials of a cloud in the home folder", "say(open(F).read())", "aws"),
    _read("R03", "a private file elsewhere on the machine", "say(open(F).read())", "secret"),
    _read("R04", "a folder whose name begins like the root's", "say(open(F).read())", "evil"),
    _read(
        "R05",
        "a way up from the workspace by ..",
        "say(open(os.path.relpath(F, os.getcwd())).read())",
        "secret",
    ),
    _read(
        "R06",
        "open() of the C library, by ctypes",
        """
        fd = libc.open(F.encode(), 0)
        if fd < 0: raise OSError(ctypes.get_errno(), "open")
        buffer = ctypes.create_string_buffer(4096)
        size = libc.read(fd, buffer, 4096); say(buffer.raw[:size])
        """,
    ),
    _read(
        "R07",
        "the system call open, by its number",
        "say(os.read(sc(2, F.encode(), 0), 4096))",
        machine="x86_64",
    ),
    _read(
        "R08",
        "openat2 with flags of its own",
        """
        how = struct.pack("<QQQ", 0, 0, 0)
        try: fd = sc(437, -100, F.encode(), how, 24)
        except OSError as e:
            if e.errno != errno.ENOSYS: raise
            fd = os.open(F, 0)
        say(os.read(fd, 4096))
        """,
    ),
    _read("R09", "/proc/self/root in front", "say(open('/proc/self/root' + F).read())"),
    _read(
        "R10",
        "the root of the server in front",
        "for pid in (1, os.getppid(), int(T['SERVER'])):\n"
        "    try: say(open('/proc/%d/root' % pid + F).read()); return\n"
        "    except OSError as e: error = e\n"
        "raise error",
        twin=Twin(
            body="""
          assert open("/proc/self/root" + T["NOTES"]).read(); say("ok")"""
        ),
    ),
    _read(
        "R11",
        "the root of another program in front",
        "say(open('/proc/%s/root' % T['VICTIM'] + F).read())",
        victim=True,
        twin=Twin(
            body="""
        r, w = os.pipe()
        if not (child := os.fork()): os.read(r, 1); os._exit(0)
        try: text = open("/proc/self/cwd/notes.txt").read()
        finally: os.write(w, b"x"); os.waitpid(child, 0)
        assert text; say("ok")"""
        ),
    ),
    _read(
        "R12",
        "the working folder of another program",
        "say(open('/proc/%s/cwd/secret.txt' % T['VICTIM']).read())",
        victim=True,
        twin=Twin(body="assert open('/proc/self/cwd/notes.txt').read(); say('ok')"),
    ),
    _read(
        "R13",
        "the environment of the server, at its /proc",
        """
        found = b""
        for pid in {os.getppid(), int(T["SERVER"]), 1}:
            try: found += open("/proc/%d/environ" % pid, "rb").read()
            except OSError: pass
        say(found or b"refused")
        """,
        twin=Twin(
            body="""
        child = subprocess.run(["/usr/bin/env"], capture_output=True, env={"A_B": "c"})
        assert b"A_B=c" in child.stdout; say("ok")"""
        ),
    ),
    _read(
        "R14",
        "keys of the server in the own environment",
        "say(repr(dict(os.environ)))",
        twin=Twin(body="assert os.environ['PATH'] and os.environ['HOME']; say('ok')"),
    ),
    _read(
        "R15",
        "a link planted in the workspace and followed",
        """
        os.symlink(F, "way"); say(open("way").read())
        """,
    ),
    _read(
        "R16", "a hard link planted in the workspace", "os.link(F, 'way'); say(open('way').read())"
    ),
    _read(
        "R17",
        "a folder link planted and walked",
        "os.symlink(os.path.dirname(F), 'd'); say(open('d/' + os.path.basename(F)).read())",
    ),
    _read(
        "R18",
        "O_PATH, and the descriptor opened again",
        """
        fd = os.open(F, os.O_PATH)
        say(open("/proc/self/fd/%d" % fd).read())
        """,
    ),
    _read(
        "R19",
        "openat beneath a folder descriptor",
        """
        fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY) if 0 else os.open(
            os.path.dirname(F), os.O_PATH)
        say(os.read(os.open(os.path.basename(F), 0, dir_fd=fd), 4096))
        """,
    ),
    _read(
        "R20",
        "sqlite's ATTACH of a foreign database",
        """
        import sqlite3
        c = sqlite3.connect(":memory:"); c.execute("attach ? as x", (F,))
        say(repr(c.execute("select * from x.secrets").fetchall()))
        """,
        "database",
        twin=Twin(place="notebase"),
    ),
    _read(
        "R21",
        "sendfile into a pipe",
        "r, w = os.pipe(); os.sendfile(w, os.open(F, 0), 0, 4096); say(os.read(r, 4096))",
    ),
    _read(
        "R22",
        "splice into a pipe",
        "r, w = os.pipe(); os.splice(os.open(F, 0), w, 4096); say(os.read(r, 4096))",
    ),
    _read(
        "R23",
        "copy_file_range into the workspace",
        "a, b = os.open(F, 0), os.open('copy', 66, 0o600); os.copy_file_range(a, b, 4096)\n"
        "say(open('copy').read())",
    ),
    _read(
        "R24",
        "memory mapped from the file",
        "say(mmap.mmap(os.open(F, 0), 0, prot=mmap.PROT_READ)[:])",
    ),
    _read(
        "R25",
        "another program of the system that reads it",
        "say(subprocess.run(['/bin/cat', F], capture_output=True).stdout)",
    ),
    _read(
        "R26",
        "the loader in front of a program (ld-linux)",
        """
        import glob
        loader = glob.glob("/lib64/ld-linux*") + glob.glob("/lib/ld-linux*")
        say(subprocess.run([loader[0], "/bin/cat", F], capture_output=True).stdout)
        """,
    ),
    _read(
        "R27",
        "a program run out of memory (memfd)",
        """
        fd = os.memfd_create("x", 0); os.write(fd, open("/bin/cat", "rb").read())
        say(subprocess.run(["cat", F], executable="/proc/self/fd/%d" % fd, pass_fds=[fd],
                           capture_output=True).stdout)
        """,
    ),
    _read(
        "R28",
        "_posixsubprocess, beneath every hook",
        """
        r, w = os.pipe()
        pid = os.posix_spawn("/bin/cat", ["cat", F], {}, file_actions=[(os.POSIX_SPAWN_DUP2, w, 1)])
        os.waitpid(pid, 0); os.close(w); say(os.read(r, 4096))
        """,
    ),
    _read(
        "R29",
        "descriptors that the server left open",
        """
        for fd in range(3, 300):
            try: link = os.readlink("/proc/self/fd/%d" % fd)
            except OSError: continue
            try: say(os.pread(fd, 4096, 0))
            except OSError: pass
            try: say(os.read(os.open("secret.txt", 0, dir_fd=fd), 4096))
            except OSError: pass
        """,
        twin=Twin(
            body="""
        fd = os.open("notes.txt", 0); assert os.pread(fd, 100, 0)
        folder = os.open(".", 0); assert os.open("notes.txt", 0, dir_fd=folder); say("ok")"""
        ),
    ),
    _read(
        "R30",
        "a descriptor stolen by pidfd_getfd",
        """
        pidfd = sc(434, int(T["VICTIM"]), 0)
        say(os.pread(sc(438, pidfd, int(T["VICTIM_FD"]), 0), 4096, 0))
        """,
        victim=True,
        twin=Twin(
            body="""
        a, b = socket.socketpair(); fd = os.open("notes.txt", 0)
        socket.send_fds(a, [b"x"], [fd]); _, fds, *_ = socket.recv_fds(b, 1, 1)
        assert os.pread(fds[0], 100, 0); say("ok")"""
        ),
    ),
    _read("R31", ".env in the workspace", "say(open(F).read())", "env"),
    _read("R32", "a key in the workspace", "say(open(F).read())", "pem"),
    _read(
        "R33",
        "a hard link to .env under another name",
        "os.link(F, 'plain.txt.copy'); say(open('plain.txt.copy').read())",
        "env",
    ),
    _read(
        "R34",
        ".env moved to another name",
        "os.rename(F, 'moved.txt'); say(open('moved.txt').read())",
        "env",
        twin=Twin(place="spare"),
    ),
    _read("R35", "toolcrib's own data", "say(open(F).read())", "data"),
    _read("R36", "the user's configuration of toolcrib", "say(open(F).read())", "config"),
    _read(
        "R37",
        "a whole walk for anything that is readable",
        """
        for top in (os.path.dirname(os.path.dirname(F)), T["BASE"]):
            for folder, _, names in os.walk(top):
                for name in names:
                    try: say(open(os.path.join(folder, name), "rb").read(2000))
                    except OSError: pass
        """,
        twin=Twin(
            body="""
        seen = [open(os.path.join(d, n), "rb").read(9) for d, _, ns in os.walk("sub") for n in ns]
        assert seen; say("ok")"""
        ),
    ),
    _read(
        "R38",
        "a name swapped between check and use",
        """
        import threading
        os.symlink("notes.txt", "flip"); done = []
        def flip():
            while not done:
                for to in ("notes.txt", F):
                    os.symlink(to, "flip.new"); os.rename("flip.new", "flip")
        t = threading.Thread(target=flip); t.start()
        try:
            end = time.monotonic() + 0.6; seen = set()
            while time.monotonic() < end and len(seen) < 2:
                try: seen.add(open("flip").read())
                except OSError: pass
        finally: done.append(1); t.join()
        say("".join(seen))
        """,
    ),
    _read(
        "R39",
        "names of the files of a private folder",
        "say(' '.join(os.listdir(os.path.dirname(F))))",
        "named",
        twin=Twin(place="listed"),
    ),
    _read(
        "R40",
        "the arguments of other programs",
        """
        for pid in os.listdir("/proc"):
            if pid.isdigit():
                try: say(open("/proc/%s/cmdline" % pid, "rb").read())
                except OSError: pass
        """,
        victim=True,
        twin=Twin(body="assert b'-S' in open('/proc/self/cmdline', 'rb').read(); say('ok')"),
    ),
    _read(
        "R41",
        "the keyring that was inherited (keyctl)",
        """
          for ring in (-3, -4, -5, -2):
              try: key = sc(250, 10, ring, b"user", T["KEYNAME"].encode(), 0)
              except OSError: continue
              buffer = ctypes.create_string_buffer(200)
              size = sc(250, 11, key, buffer, 200); say(buffer.raw[:size]); return
          raise PermissionError(1, "keyctl")
          """,
        twin=Twin(
            body="""
          fd = os.memfd_create("key"); os.write(fd, b"k"); assert os.pread(fd, 1, 0) == b"k"
          say("ok")"""
        ),
        machine="x86_64",
    ),
    _read(
        "R42",
        "name_to_handle_at and open_by_handle_at",
        """
        handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0) + bytes(128))
        mount = ctypes.c_int()
        sc(303, -100, F.encode(), handle, ctypes.byref(mount), 0)
        folder = os.open(os.path.dirname(F), 0)
        say(os.read(sc(304, folder, handle, 0), 4096))
        """,
        twin=Twin(
            body="""
        a = os.stat("notes.txt"); assert (a.st_dev, a.st_ino) == (
            os.stat(os.open("notes.txt", 0)).st_dev, a.st_ino); say("ok")"""
        ),
        machine="x86_64",
    ),
)
