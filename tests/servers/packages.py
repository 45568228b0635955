"""An index of packages on loopback, for pip and for npm, with one small package in each."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.scripted import Answer, Scripted, scripted

NAME, VERSION = "heronry", "1.2"
WHEEL = f"{NAME}-{VERSION}-py3-none-any.whl"


def wheel(source: str) -> bytes:
    """A wheel with one module."""
    info = f"{NAME}-{VERSION}.dist-info"
    files = {
        f"{NAME}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made.getvalue()


def tarball(files: dict[str, str]) -> bytes:
    """A package of npm, or one of Python's source archives."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def offer_wheel(server: Scripted, source: str = "WORD = 'heron'\n") -> None:
    """Put the wheel into the index."""
    server[f"/files/{WHEEL}"] = Answer(wheel(source), kind="application/octet-stream")
    server[f"/simple/{NAME}/"] = Answer(f'<a href="../../files/{WHEEL}">{WHEEL}</a>')


def offer_npm(server: Scripted, scripts: dict[str, str] | None = None) -> None:
    """Put the package of npm into the registry."""
    manifest = {"name": NAME, "version": VERSION + ".0", "main": "x.js", "scripts": scripts or {}}
    content = tarball(
        {"package/package.json": json.dumps(manifest), "package/x.js": "module.exports = 'heron'\n"}
    )
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    dist = {"tarball": f"{server.url}/npm/x.tgz", "integrity": f"sha512-{digest}"}
    version = {**manifest, "dist": dist, "hasInstallScript": bool(scripts)}
    document = {
        "name": NAME,
        "dist-tags": {"latest": manifest["version"]},
        "versions": {manifest["version"]: version},
    }
    server["/npm/x.tgz"] = Answer(content, kind="application/octet-stream")
    server[f"/npm/{NAME}"] = Answer(json.dumps(document), kind="application/json")


@contextmanager
def index() -> Iterator[Scripted]:
    """A server with both."""
    with scripted() as server:
        offer_wheel(server)
        offer_npm(server)
        yield server
