"""What lies outside of one run: secrets, servers, another program, and how all of it looked."""

from __future__ import annotations

import base64
import ctypes
import itertools
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.escapes.looking import differs, disk, look, own_address
from toolcrib.system.removal import remove

VICTIM = """
import ctypes, os, sys
fd = os.open("secret.txt", os.O_RDONLY)
with_all = ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
held = ctypes.create_string_buffer(sys.stdin.readline().strip().encode(), 200)
print(ctypes.addressof(held), fd, flush=True)
for _ in sys.stdin: print(held.value.decode("latin-1"), flush=True)
"""
PROTECTED = (
    ".env", "deploy.pem", ".git/hooks", ".git/config", ".git/modules", ".mcp.json", ".vscode",
    ".profile", ".gitmodules",
)  # fmt: skip
"""What no run may change in a workspace, as a person would list it."""
UNREADABLE = (
    ".env", "deploy.pem", ".git/credentials", "tool.git/config", "inner/.env.local",
)  # fmt: skip
HIDDEN = (".env", ".env.local", "deploy.pem")
"""Names under which a secret stays one, wherever a run puts it."""
RING, SHARED_USER = -4, 0o600
_numbers = itertools.count(secrets.randbelow(10**7))
libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: int | bytes | None) -> int:
    """A system call; negative where it fails."""
    packed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(libc.syscall(ctypes.c_long(number), *packed))


class World:
    """All that surrounds one run; `close` removes it.

    Args:
        base: a folder of its own.
        git: a repository to start from.
        common: secrets of the process that starts runs, by what they are.
        shared: files of that process: "config" and "data".
    """

    def __init__(
        self,
        base: Path,
        git: Path,
        common: dict[str, str],
        shared: dict[str, Path],
        *,
        victim: bool,
    ) -> None:
        self.base = base
        self.token = f"tok{secrets.token_hex(6)}"
        self.number = f"{next(_numbers):08d}"
        self.canaries = {name: secrets.token_hex(16) for name in (
            "key", "aws", "secret", "evil", "env", "pem", "database", "name", "memory", "argument",
            "keyring", "git", "shared", "queue")} | common  # fmt: skip
        self.nonce = secrets.token_hex(8)
        self.shared = shared
        self.workspace = base / "ws"
        self._make_files(git)
        self._listen()
        self._victims: list[subprocess.Popen[str]] = []
        self._victim_was: tuple[object, ...] = ()
        self.address = self.descriptor = 0
        if victim:
            self._start_victims()
        self._key = call(248, b"user", self.token.encode() + b"-key",
                         self.canaries["keyring"].encode(), 32, RING)  # fmt: skip
        self._segment, self._queue = self._share()
        self.outside = self._outside()
        self.protected = self._protected()
        self.names = set(self._names())

    # Making it.

    def _make_files(self, git: Path) -> None:
        c, base, ws = self.canaries, self.base, self.workspace
        for folder in (
            "home/.ssh", "home/.aws", "home/.local/lib", "outside/named", "cron", "ws_evil",
            "ws/sub", "ws/listed", "ws/.vscode", "ws/inner", "ws/tool.git",
        ):  # fmt: skip
            (base / folder).mkdir(parents=True, exist_ok=True)
        shutil.copytree(git, ws / ".git")
        texts = {
            "home/.ssh/id_ed25519": f"-----BEGIN KEY-----\n{c['key']}\n",
            "home/.aws/credentials": f"aws_secret_access_key = {c['aws']}\n",
            "home/.bashrc": "# start\n",
            "outside/secret.txt": c["secret"],
            "outside/plain.txt": "plain text\n",
            f"outside/named/{c['name']}.txt": "",
            "ws_evil/s": c["evil"],
            "ws/.env": f"TOKEN={c['env']}\n",
            "ws/.git/credentials": f"https://me:{c['git']}@example.com\n",
            "ws/tool.git/config": f"[http]\n\tproxy = me:{c['git']}@proxy:3128\n",
            "ws/inner/.env.local": f"TOKEN={c['env']}\n",
            "ws/deploy.pem": f"-----BEGIN-----\n{c['pem']}\n",
            "ws/.vscode/settings.json": "{}\n",
            "ws/notes.txt": f"{self.nonce}\n",
            "ws/spare.txt": f"{self.nonce}\n",
            "ws/plain.txt": "plain text\n",
            "ws/sub/inner.txt": "inner\n",
            f"ws/listed/{self.nonce}.txt": "",
        }
        for name, text in texts.items():
            (base / name).write_text(text)
            (base / name).chmod(0o600)
        for name, value in (("outside/d.sqlite", c["database"]), ("ws/d.sqlite", self.nonce)):
            with sqlite3.connect(base / name) as db:
                db.execute("create table secrets (value)")
                db.execute("insert into secrets values (?)", (value,))
            db.close()
        (base / "home").chmod(0o700)
        (base / "outside").chmod(0o700)
        (base / "outside/plain.txt").chmod(0o644)

    def _share(self) -> tuple[int, int]:
        """Memory and a queue of another program, with a secret each."""
        libc.shmat.restype = ctypes.c_void_p
        segment, queue = libc.shmget(0, 4096, SHARED_USER), libc.msgget(0, SHARED_USER)
        place = ctypes.c_void_p(libc.shmat(segment, None, 0))
        shared = self.canaries["shared"].encode()
        ctypes.memmove(place, shared, len(shared))
        libc.shmdt(place)
        message = (1).to_bytes(8, "little") + self.canaries["queue"].encode()
        libc.msgsnd(queue, message, len(message) - 8, 0)
        return segment, queue

    def _listen(self) -> None:
        base, token = self.base, self.token
        self._tcp = socket.create_server(("0.0.0.0", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._streams = {"TCP": self._tcp}
        for name, place in (
            ("a socket at a path", str(base / "outside/u")),
            ("docker's socket", str(base / "outside/docker")),
            ("a server's socket in the workspace", str(self.workspace / "app.sock")),
            ("an abstract socket", f"\0{token}"),
            ("the bus", f"\0{token}-bus"),
        ):
            self._streams[name] = socket.socket(socket.AF_UNIX)
            self._streams[name].bind(place)
            self._streams[name].listen()
        self._datagrams = {"UDP": self._udp, "a socket of datagrams": socket.socket(1, 2)}
        self._datagrams["a socket of datagrams"].bind(str(base / "outside/ud"))
        for listener in (*self._streams.values(), *self._datagrams.values()):
            listener.setblocking(False)

    def _start_victims(self) -> None:
        argv = [sys.executable, "-S", "-B", "-c", VICTIM, self.canaries["argument"]]
        self._victims = [
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             cwd=self.base / "outside", start_new_session=True),
            subprocess.Popen(["/bin/sleep", "600"], text=True, start_new_session=True),
        ]  # fmt: skip
        stdin, stdout = self._victims[0].stdin, self._victims[0].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(self.canaries["memory"] + "\n")
        stdin.flush()
        self.address, self.descriptor = map(int, stdout.readline().split())
        self._victim_was = self._victim_state()

    # What programs are told.

    def place(self, name: str) -> str:
        """Where something is."""
        base, ws = self.base, self.workspace
        known = {
            "key": base / "home/.ssh/id_ed25519", "aws": base / "home/.aws/credentials",
            "secret": base / "outside/secret.txt", "evil": base / "ws_evil/s",
            "database": base / "outside/d.sqlite", "notebase": ws / "d.sqlite",
            "named": base / "outside/named/x", "listed": ws / "listed/x",
            "outer": base / "outside/plain.txt", "outer_new": base / "outside/new.txt",
            "bashrc": base / "home/.bashrc", "authorized": base / "home/.ssh/authorized_keys",
            "cron": base / "cron/user", "site": base / "home/.local/lib/python/site.py",
            "env": ws / ".env", "pem": ws / "deploy.pem", "hook": ws / ".git/hooks/pre-commit",
            "gitconfig": ws / ".git/config", "mcp": ws / ".mcp.json",
            "tasks": ws / ".vscode/tasks.json", "settings": ws / ".vscode/settings.json",
            "profile": ws / ".profile", "modules": ws / ".gitmodules",
            "module_hook": ws / ".git/modules/a/hooks/post-checkout",
            "notes": ws / "notes.txt", "spare": ws / "spare.txt", "inner": ws / "plain.txt",
            "new": ws / "new.txt", **self.shared,
        }  # fmt: skip
        return str(known[name]) if name else ""

    def variables(self, place: str) -> dict[str, str]:
        """What a program is told of it, as `T_…`; no secret is among them."""
        reported = {
            "F": self.place(place),
            "NOTES": self.place("notes"),
            "BASE": self.base,
            "SUB": self.workspace / "sub",
            "TOKEN": self.token,
            "NUMBER": self.number,
            "TCP": self._tcp.getsockname()[1],
            "UDP": self._udp.getsockname()[1],
            "UNIX": self.base / "outside/u",
            "UNIX_DATAGRAM": self.base / "outside/ud",
            "DOCKER": self.base / "outside/docker",
            "ABSTRACT": self.token,
            "BUS": f"{self.token}-bus",
            "ADDRESS_OUT": own_address(),
            "SERVER": os.getpid(),
            "KEYNAME": f"{self.token}-key",
            "SHMKEY": int(self.number) + 7_000_000,
            "DISK": disk(),
            "PYTHON": os.path.realpath(sys.executable),
            "VICTIM": self._victims[0].pid if self._victims else 0,
            "SUPER": self._victims[1].pid if self._victims else 0,
            "VICTIM_FD": self.descriptor,
            "ADDRESS": self.address,
            "SEGMENT": self._segment,
            "QUEUE": self._queue,
        }
        return {f"T_{name}": str(value) for name, value in reported.items()}

    # What became of it.

    def evidence(self, output: bytes, *, shared: str) -> list[str]:
        """All that shows that the run got out, a line each; empty where it did not."""
        found = [f"it has the {name}" for name in self._leaked(output)]
        found += self._heard() + self._harmed()
        found += differs("outside", self.outside, self._outside(), shared)
        found += differs("protected", self.protected, self._protected(), "")
        return found + self._left_inside() + self._left_on_machine()

    def _leaked(self, output: bytes) -> list[str]:
        texts = [output]
        for path in self._names():
            if os.path.basename(path) not in HIDDEN and path not in UNREADABLE:
                full = self.workspace / path
                with suppress(OSError):
                    status = full.lstat()
                    if stat.S_ISREG(status.st_mode) and status.st_size < 1_000_000:
                        texts.append(full.read_bytes())
        seen = b"\n".join(texts)
        return [
            name
            for name, value in self.canaries.items()
            if any(form in seen for form in (
                value.encode(), base64.b64encode(value.encode()), value.encode().hex().encode()))
        ]  # fmt: skip

    def _heard(self) -> list[str]:
        found = []
        for name, listener in self._streams.items():
            with suppress(BlockingIOError):
                listener.accept()[0].close()
                found.append(f"{name} was reached")
        for name, listener in self._datagrams.items():
            with suppress(BlockingIOError):
                listener.recv(100)
                found.append(f"{name} was reached")
        return found

    def _harmed(self) -> list[str]:
        names = ("the other program", "the helper")
        ended = [n for n, victim in enumerate(self._victims) if victim.poll() is not None]
        found = [f"{names[n]} was ended" for n in ended]
        if self._victims and not found and self._victim_state() != self._victim_was:
            found.append("the other program was changed")
        return found

    def _victim_state(self) -> tuple[object, ...]:
        victim = self._victims[0]
        folder = Path(f"/proc/{victim.pid}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        known = (
            fields[0] in "Tt", fields[16:17], (folder / "limits").read_text(),
            (folder / "oom_score_adj").read_text(), os.sched_getaffinity(victim.pid),
        )  # fmt: skip
        if fields[0] in "Tt":
            return known
        assert victim.stdin is not None
        assert victim.stdout is not None
        victim.stdin.write("?\n")
        victim.stdin.flush()
        return (*known, victim.stdout.readline())

    def _outside(self) -> dict[str, tuple[object, ...]]:
        tops = [self.base / name for name in ("home", "outside", "ws_evil", "cron")]
        seen = look(self.base, tops)
        return seen | {
            name: (path.read_text() if path.exists() else "",) for name, path in self.shared.items()
        }

    def _protected(self) -> dict[str, tuple[object, ...]]:
        return look(self.workspace, [self.workspace / name for name in PROTECTED])

    def _names(self) -> list[str]:
        found = []
        for folder, folders, names in os.walk(self.workspace):
            found += [os.path.relpath(f"{folder}/{n}", self.workspace) for n in (*folders, *names)]
        return found

    def _left_inside(self) -> list[str]:
        found = []
        root = os.path.realpath(self.workspace)
        for name in self._names():
            path = self.workspace / name
            mode = path.lstat().st_mode
            if name in self.names:
                continue
            if stat.S_ISLNK(mode) and not f"{os.path.realpath(path)}/".startswith(f"{root}/"):
                found.append("a link out is left")
            elif stat.S_ISREG(mode) and mode & 0o6000:
                found.append("a setuid or setgid file is left")
            elif not (stat.S_ISLNK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                found.append("a pipe, socket or device is left")
        return found

    def _left_on_machine(self) -> list[str]:
        found = []
        for folder in ("/dev/shm", "/tmp"):
            for path in Path(folder).glob(f"{self.token}*"):
                path.unlink()
                found = [*found, f"files are left in {folder}"]
        for path in Path("/sys/fs/cgroup").glob(f"**/{self.token}"):
            path.rmdir()
            found.append("a control group is left")
        segment = libc.shmget(int(self.number) + 7_000_000, 0, 0)
        if segment >= 0:
            libc.shmctl(segment, 0, None)
            found.append("shared memory is left")
        posix = ctypes.CDLL("librt.so.1")
        if posix.mq_unlink(f"/{self.token}".encode()) == 0:
            found.append("a queue is left")
        key = call(250, 10, RING, b"user", self.token.encode(), 0)
        if key > 0:
            call(250, 9, key, RING)
            found.append("a key is left")
        return sorted(set(found))

    def close(self) -> None:
        """End what runs and remove the files."""
        for victim in self._victims:
            with suppress(ProcessLookupError):
                os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
            for pipe in (victim.stdin, victim.stdout):
                if pipe:
                    with suppress(BrokenPipeError):
                        pipe.close()
        for listener in (*self._streams.values(), *self._datagrams.values()):
            listener.close()
        libc.shmctl(self._segment, 0, None)
        libc.msgctl(self._queue, 0, None)
        if self._key > 0:
            call(250, 9, self._key, RING)
        # The root itself stays: those who know it go on knowing it.
        for top in (self.base, self.workspace):
            for path in top.iterdir():
                if path.is_dir() and not path.is_symlink() and path != self.workspace:
                    remove(path)
                elif path != self.workspace:
                    path.unlink()
