"""`toolcrib install`: the entry that makes an application start toolcrib."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.hosts import HOSTS, NAME, Host, Launch


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("host", metavar="HOST", help=", ".join(HOSTS))
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--print", action="store_true", dest="show", help="print the entry and change nothing"
    )
    form.add_argument(
        "--link", action="store_true", help="print a link that adds it, for hosts that have one"
    )
    parser.add_argument("--file", metavar="FILE", help="write this file instead of the usual one")
    parser.epilog = (
        "--config, --profile, --workspace and --set become part of the entry. Written are the "
        "files of " + ", ".join(n for n, h in HOSTS.items() if h.file) + "; for others the "
        "entry is printed."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Print the entry, or write it into the file of the host."""
    name, host = _host(options.host)
    # What an entry holds is checked now, not when the host fails to start it.
    config = flags.load()
    http = config.http
    local = http.host if http.host not in ("0.0.0.0", "::", "") else "127.0.0.1"  # noqa: S104
    launch = Launch(sys.executable, tuple(flags.words()), local, http.port)
    _warn(launch, has_folder=bool(config.workspace.roots))
    if options.link:
        _link(name, host, launch)
    elif options.show or host.file is None:
        print(host.text(launch), flush=True)
        _tell(host, launch)
    else:
        _write(host, launch, Path(options.file).expanduser() if options.file else host.file())
    return 0


def _host(wanted: str) -> tuple[str, Host]:
    from difflib import get_close_matches

    from toolcrib.core.errors import BadInput

    plain = wanted.lower().replace("_", "-").replace(" ", "-")
    by_letters = {name.replace("-", ""): name for name in HOSTS}
    name = by_letters.get(plain.replace("-", ""))
    if name is None:
        near = get_close_matches(plain, HOSTS, n=3, cutoff=0.4)
        guess = f"Nearest: {', '.join(near)}. " if near else ""
        raise BadInput(
            f"toolcrib knows no host '{wanted[:40]}'.",
            hint=f"{guess}Known: {', '.join(HOSTS)}. For others, see --print of lmstudio.",
        )
    return name, HOSTS[name]


def _link(name: str, host: Host, launch: Launch) -> None:
    from toolcrib.core.errors import BadInput

    if host.link is None:
        raise BadInput(
            f"There is no link that adds a command of your machine to {host.title}.",
            hint=f"toolcrib install {name} --print shows what to add.",
        )
    print(host.link(launch))


def _tell(host: Host, launch: Launch) -> None:
    """Where it belongs, beside what was printed, so that that can be piped."""
    print(f"\n{host.title}. {host.where(launch)}", file=sys.stderr)
    if host.link is not None:
        print(f"Or open: {host.link(launch)}", file=sys.stderr)


def _write(host: Host, launch: Launch, file: Path) -> None:
    from toolcrib.surfaces.cli import hosts

    written = hosts.add(file, host.key, NAME, host.entry(launch))
    if written is None:
        print(f"{file} has the entry already; nothing was changed.")
        return
    print(f"Wrote {file}")
    if written != file:
        print(f"As it was: {written}")
    print(f"Start {host.title} again to see the tools.")


def _warn(launch: Launch, *, has_folder: bool) -> None:
    """What works in this shell and would not where the host starts it."""
    import platformdirs

    warnings = []
    if Path(launch.interpreter).is_relative_to(platformdirs.user_cache_path()):
        warnings.append(
            f"{launch.interpreter} is in a cache and may go. Install toolcrib first "
            "(uv tool install toolcrib), then run this from there."
        )
    if not has_folder:
        warnings.append("No folder is given for the file tools: add --workspace DIR.")
    own = sorted(name for name in os.environ if name.startswith("TOOLCRIB_"))
    if own:
        warnings.append(f"The host may not see these variables of your shell: {', '.join(own)}.")
    for warning in warnings:
        print(f"note: {warning}", file=sys.stderr)
