"""What is left behind in the workspace or beside it, for others to fall over, in Python."""

from __future__ import annotations

from typing import Any

from tests.escapes.attempt import Attempt, Twin


def _leave(name: str, title: str, body: str, twin: str, **more: Any) -> Attempt:
    return Attempt(name, title, "python", body, Twin(body=twin), **more)


COPY = "import shutil; shutil.copy('/bin/true', 'tool'); "
LEAVING = (
    _leave(
        "L01",
        "a link out of the workspace",
        "os.symlink(F, 'innocent.txt')",
        "os.symlink('notes.txt', 'innocent.txt'); assert open('innocent.txt').read(); say('ok')",
        target="key",
    ),
    _leave(
        "L02",
        "a folder link out of the workspace",
        "os.symlink('/', 'docs')",
        "os.symlink('sub', 'docs'); os.listdir('docs'); say('ok')",
    ),
    _leave(
        "L03",
        "a link that climbs out step by step",
        "os.symlink('..', 'a'); os.symlink('a/outside/secret.txt', 'b')",
        "os.symlink('sub', 'a'); os.symlink('a/inner.txt', 'b'); open('b').read(); say('ok')",
    ),
    _leave(
        "L04",
        "a FIFO on which a reader would wait",
        "os.mkfifo('report.txt')",
        "r, w = os.pipe(); os.write(w, b'x'); assert os.read(r, 1) == b'x'; say('ok')",
    ),
    _leave(
        "L05",
        "a listening socket in the workspace",
        "s = socket.socket(socket.AF_UNIX); s.bind('service.sock'); s.listen()",
        "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'; say('ok')",
    ),
    _leave(
        "L06",
        "a setuid program, by chmod",
        COPY + "os.chmod('tool', 0o4755)",
        COPY + "os.chmod('tool', 0o755); subprocess.run(['./tool'], check=True); say('ok')",
    ),
    _leave(
        "L07",
        "a setgid program, by fchmod",
        COPY + "os.fchmod(os.open('tool', 0), 0o2755)",
        COPY + "os.fchmod(os.open('tool', 0), 0o750); say('ok')",
    ),
    _leave(
        "L08",
        "a setuid program, by O_CREAT",
        "os.umask(0); os.write(os.open('tool', 65, 0o4755), b'#!/bin/sh')",
        "os.umask(0); os.write(os.open('tool', 65, 0o755), b'#!/bin/sh'); say('ok')",
    ),
    _leave(
        "L09",
        "a setuid program, by fchmodat2",
        COPY + "sc(452, -100, b'tool', 0o4755, 0)",
        COPY
        + "os.chmod('tool', 0o700); assert os.stat('tool').st_mode & 0o777 == 0o700; say('ok')",
    ),
    _leave(
        "L10",
        "a setuid program, unpacked from an archive",
        """
           import io, tarfile
           member = tarfile.TarInfo("tool"); member.mode = 0o4755; member.size = 2
           data = io.BytesIO(); t = tarfile.open(fileobj=data, mode="w")
           t.addfile(member, io.BytesIO(b"#!")); t.close(); data.seek(0)
           open("t.tar", "wb").write(data.read())
           subprocess.run(["tar", "--same-permissions", "-xf", "t.tar"])
           """,
        """
           import tarfile
           with tarfile.open("t.tar", "w") as t: t.add("notes.txt")
           os.mkdir("x"); subprocess.run(["tar", "-xf", "t.tar", "-C", "x"], check=True); say("ok")
           """,
    ),
    _leave(
        "L11",
        "a device node",
        "os.mknod('null', 0o20666, os.makedev(1, 3))",
        "os.mknod('plain', 0o100644); assert os.path.isfile('plain'); say('ok')",
    ),
    _leave(
        "L12",
        "a hard link to a file outside",
        "os.link(F, 'mine.txt')",
        "os.link('notes.txt', 'mine.txt'); assert open('mine.txt').read(); say('ok')",
        target="outer",
    ),
    _leave(
        "L13",
        "a file in shared memory that stays",
        "open('/dev/shm/' + T['TOKEN'], 'w').write('left')",
        """
           from multiprocessing import shared_memory
           m = shared_memory.SharedMemory(create=True, size=10); m.buf[0] = 1
           m.close(); m.unlink(); say("ok")
           """,
    ),
    _leave(
        "L14",
        "a file in the machine's /tmp that stays",
        "open('/tmp/' + T['TOKEN'], 'w').write('left')",
        """
           import tempfile
           with tempfile.NamedTemporaryFile() as f: f.write(b'x')
           say("ok")
           """,
    ),
    _leave(
        "L15",
        "a segment of System V memory that stays",
        "id = libc.shmget(int(T['SHMKEY']), 4096, 0o1666)\n"
        "if id < 0: raise OSError(ctypes.get_errno(), '')",
        "m = mmap.mmap(-1, 4096); m[0] = 1; say('ok')",
    ),
    _leave(
        "L16",
        "a queue of POSIX messages that stays",
        """
           rt = ctypes.CDLL("librt.so.1", use_errno=True)
           if rt.mq_open(("/" + T["TOKEN"]).encode(), os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
               raise OSError(ctypes.get_errno(), "mq_open")
           """,
        """
           import queue
           q = queue.Queue(); q.put(1); assert q.get() == 1; say("ok")
           """,
    ),
)
