"""`toolcrib uninstall`: takes toolcrib out of an application."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from toolcrib.surfaces.cli import host_files
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.hosts import HOSTS, NAME
from toolcrib.surfaces.cli.install import named_host


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("host", metavar="HOST", help=", ".join(HOSTS))
    parser.add_argument("--file", metavar="FILE", help="change this file instead of the usual one")
    parser.add_argument(
        "--plugin", action="store_true", help="LM Studio: take away the folder of the plugin"
    )
    parser.epilog = "Files of the model's work, the history and your settings stay."


def run(options: Namespace, flags: Flags) -> int:
    """Take the entry out of the file of the host, or say how that is done."""
    del flags
    name, host = named_host(options.host)
    if options.plugin:
        return _remove_plugin(name, options)
    if host.file is None:
        how = host.removal or (
            f"Take the entry '{NAME}' out where you put it, or stop `toolcrib serve`."
        )
        print(how)
        print(f"{host.title}: toolcrib did not write this entry itself.", file=sys.stderr)
        return 0
    file = Path(options.file).expanduser() if options.file else host.file()
    backup = host_files.remove(file, host.key, NAME)
    if backup is None:
        print(f"{file} has no entry '{NAME}'; nothing was changed.")
        return 0
    print(f"Took '{NAME}' out of {file}")
    print(f"As it was: {backup}")
    print(f"Start {host.title} again. Your files, the history and the settings are still there.")
    return 0


def _remove_plugin(name: str, options: Namespace) -> int:
    from toolcrib.surfaces.cli import plugin_folder

    plugin_folder.require_lmstudio(name)
    folder = Path(options.file).expanduser() if options.file else plugin_folder.usual_folder()
    gone = plugin_folder.remove(folder)
    print(f"Took away {folder}" if gone else f"There is no plugin in {folder}.")
    print("What LM Studio has taken of it is removed in LM Studio, under the plugins.")
    return 0
