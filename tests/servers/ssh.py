"""OpenSSH's own server on loopback, run by the user of the tests, with a key that may log in."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conditions import block_until
from tests.servers.listening import free_port

PROGRAM = Path("/usr/sbin/sshd")
SEPARATION = Path("/run/sshd")
"""Where Debian's server of root wants to be able to go; its service makes it."""


@dataclass(frozen=True)
class SshServer:
    """One that runs.

    Attributes:
        port: on loopback.
        home: a folder to stand in for `~/.ssh`: the key, and the host as a known one.
    """

    port: int
    home: Path

    def url(self, path: Path) -> str:
        user = pwd.getpwuid(os.getuid()).pw_name
        return f"ssh://{user}@127.0.0.1:{self.port}{path}"


def make_key(place: Path) -> None:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place)]
    subprocess.run(argv, check=True)


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Serve until the block ends; `folder` is for its files."""
    home = folder / "ssh"
    home.mkdir(mode=0o700, parents=True)
    make_key(folder / "host_key")
    make_key(home / "id_ed25519")
    if os.getuid() == 0:
        SEPARATION.mkdir(exist_ok=True)
    port = free_port()
    public = (folder / "host_key.pub").read_text().split()[:2]
    (home / "known_hosts").write_text(f"[127.0.0.1]:{port} {' '.join(public)}\n")
    settings = folder / "sshd_config"
    settings.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {home}/id_ed25519.pub\nStrictModes no\nPermitRootLogin yes\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
    )
    argv = [str(PROGRAM), "-D", "-e", "-f", str(settings)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        block_until(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        yield SshServer(port, home)
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def with_home(server: SshServer, argv: list[str], bubblewrap: str) -> list[str]:
    """A command for which `~/.ssh` is the server's: ssh asks the system for `~`, not $HOME."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    words = [bubblewrap, "--dev-bind", "/", "/", "--tmpfs", str(home)]
    for entry in sorted(home.iterdir()) if home.is_dir() else ():
        if entry.name != ".ssh" and not entry.is_symlink():
            words += ["--dev-bind", str(entry), str(entry)]
    return [*words, "--bind", str(server.home), str(home / ".ssh"), "--", *argv]
