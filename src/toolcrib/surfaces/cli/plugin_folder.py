"""The folder from which LM Studio starts toolcrib as a plugin by itself: written, and taken away.

LM Studio starts plugins with its own node. What stands in the folder is the least that it takes:
a shell that starts toolcrib with the credentials that LM Studio gave it, and ends with it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from toolcrib.core.config import data_folder
from toolcrib.core.errors import BadInput, Conflict, MissingExtra, StorageFailure
from toolcrib.surfaces.cli.host_files import as_json, replace_content

OWNER = NAME = "toolcrib"
FOLDER = "lmstudio-plugin"
SDK = "^1.5.0"
MANIFEST = "manifest.json"
SHELL = """\
// Starts toolcrib, which registers itself with the credentials of this plugin, and ends with it.
// Written by `toolcrib install lmstudio --plugin`, which writes it anew.
import { spawn } from "node:child_process";

const COMMAND: string[] = @COMMAND@;

export async function main(): Promise<void> {
  const [program, ...words] = COMMAND;
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], windowsHide: true });
  process.on("exit", () => child.kill());
  await new Promise<void>((resolve, reject) => {
    // Its first line says that all is registered; LM Studio is told so when this returns.
    child.stdout.once("data", () => resolve());
    child.once("error", reject);
    child.once("exit", (code) => {
      reject(new Error(`toolcrib ended with ${code}`));
      setImmediate(() => process.exit(code ?? 1));
    });
  });
}
"""


def usual_folder() -> Path:
    """Where the folder is written where no other is named; LM Studio copies it from there."""
    return data_folder() / FOLDER


def require_extra() -> None:
    """Refuse where the program that the folder would start cannot be a plugin.

    Raises:
        MissingExtra: the extra lmstudio is not installed.
    """
    if find_spec("websockets") is None:
        raise MissingExtra("lmstudio", "The plugin of LM Studio")


def files_of(command: Sequence[str], revision: int) -> dict[str, str]:
    """The files of a folder whose shell starts a command, by their paths in it."""
    manifest = {
        "type": "plugin",
        "runner": "node",
        "owner": OWNER,
        "name": NAME,
        "revision": revision,
    }
    package = {
        "name": NAME,
        "version": f"{revision}.0.0",
        "private": True,
        "dependencies": {"@lmstudio/sdk": SDK},
    }
    shell = SHELL.replace("@COMMAND@", json.dumps(list(command)))
    return {
        MANIFEST: f"{as_json(manifest)}\n",
        "package.json": f"{as_json(package)}\n",
        "src/index.ts": shell,
    }


def write(folder: Path, command: Sequence[str]) -> bool:
    """Write the folder; False where all of it was there already.

    Raises:
        Conflict: the folder is another plugin's.
        StorageFailure: it cannot be written.
    """
    revision = _revision(folder)
    if all(_is(folder / name, text) for name, text in files_of(command, revision).items()):
        return False
    try:
        for name, text in files_of(command, revision + 1).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            replace_content(folder / name, text.encode())
    except OSError as error:
        raise StorageFailure(f"{folder} cannot be written: {error.strerror}.") from None
    return True


def remove(folder: Path) -> bool:
    """Take away what `write` wrote, and nothing else; False where there was nothing.

    Raises:
        Conflict: the folder is another plugin's.
    """
    if not _revision(folder):
        return False
    for name in files_of((), 0):
        (folder / name).unlink(missing_ok=True)
    for place in (folder / "src", folder):
        with suppress(OSError):  # something of somebody else's is in it
            place.rmdir()
    return True


def _revision(folder: Path) -> int:
    """The revision of our plugin in a folder; 0 where there is none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        return 0
    except (OSError, ValueError):
        manifest = {}
    if not isinstance(manifest, dict) or manifest.get("owner") != OWNER:
        raise Conflict(
            f"{folder} is the folder of something else; nothing was changed.",
            hint="Name another: --file FOLDER",
        )
    revision = manifest.get("revision")
    return revision if isinstance(revision, int) and revision > 0 else 1


def _is(file: Path, text: str) -> bool:
    try:
        return file.read_text("utf-8") == text
    except (OSError, ValueError):
        return False


def require_lmstudio(host: str) -> None:
    """Refuse `--plugin` for another host.

    Raises:
        BadInput: it is another.
    """
    if host != "lmstudio":
        raise BadInput("--plugin is for LM Studio.", hint="toolcrib install lmstudio --plugin")
