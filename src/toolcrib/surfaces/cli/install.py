"""`toolcrib install`: adds toolcrib to an application, after a try of the very entry."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from toolcrib.core.errors import BadInput, StorageFailure, ToolError, Unavailable
from toolcrib.surfaces.cli import host_files
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.hosts import HOSTS, NAME, Host, Launch
from toolcrib.surfaces.cli.screen import wrapped
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.core.config import Config


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
    form.add_argument(
        "--plugin",
        action="store_true",
        help="LM Studio: write the folder of a plugin, which it starts by itself",
    )
    parser.add_argument(
        "--wsl",
        action="store_true",
        help="on Windows: start the toolcrib that is installed in WSL, which can run programs",
    )
    parser.add_argument("--file", metavar="FILE", help="write this file instead of the usual one")
    parser.epilog = (
        "--config, --profile, --workspace and --set become part of the entry. Without a folder "
        "it is ~/toolcrib, which is made, or the project for hosts that have one. Written are "
        "the files of " + ", ".join(n for n, h in HOSTS.items() if h.file) + "; for others the "
        "entry is printed. toolcrib uninstall HOST takes it out again."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Print the entry, or try it and write it into the file of the host."""
    name, host = named_host(options.host)
    if options.plugin:
        return _add_plugin(name, options, flags)
    file = _file(options, host)
    quiet = options.show or options.link
    require_windows(options.wsl)
    program = ("toolcrib",) if options.wsl else _program()
    flags = _with_options_before(_with_folder(flags, host, file, quiet=quiet), host, file)
    if host.confirms and not quiet:
        flags = _with_question(flags, host)
    # What an entry holds is checked now, not when the host fails to start it.
    config = flags.load()
    _check(config)
    http = config.http
    local = http.host if http.host not in ("0.0.0.0", "::", "") else "127.0.0.1"  # noqa: S104
    launch = Launch(program, tuple(flags.words()), local, http.port, options.wsl)
    _warn()
    note = wsl_note(name, already=options.wsl)
    if note:
        print(note, file=sys.stderr)
    if options.link:
        _link(name, host, launch)
    elif options.show:
        print(host.text(launch), flush=True)
        _tell(host, launch)
    else:
        _add(host, launch, file, flags.roots or config.workspace.roots)
    return 0


def named_host(wanted: str) -> tuple[str, Host]:
    """The host that a word means.

    Raises:
        BadInput: none.
    """
    from difflib import get_close_matches

    plain = wanted.lower().replace("_", "-").replace(" ", "-")
    by_letters = {name.replace("-", ""): name for name in HOSTS}
    name = by_letters.get(plain.replace("-", ""))
    if name is None:
        near = get_close_matches(plain, HOSTS, n=3, cutoff=0.4)
        guess = f"Nearest: {', '.join(near)}. " if near else ""
        raise BadInput(
            f"toolcrib knows no host '{wanted[:40]}'.",
            hint=f"{guess}Known: {', '.join(HOSTS)}. Others: toolcrib install lmstudio --print.",
        )
    return name, HOSTS[name]


def _file(options: Namespace, host: Host) -> Path | None:
    if host.file is None:
        return None
    return Path(options.file).expanduser() if options.file else host.file()


def require_windows(wanted: bool, platform: str = sys.platform) -> None:
    """Refuse `--wsl` where there is none.

    Raises:
        BadInput: this is another system.
    """
    if wanted and platform != "win32":
        raise BadInput("--wsl is for Windows.", hint="Leave it out: here programs run anyway.")


def wsl_note(host: str, *, already: bool = False, platform: str = sys.platform) -> str:
    """What is offered on Windows, where no program can be run behind a boundary."""
    if platform != "win32" or already:
        return ""
    return (
        "note: On Windows itself no programs are run (run_python, run_command). With the Linux of "
        "Windows they are: wsl --install; in it, uv tool install toolcrib; then here\n"
        f"  toolcrib install {host} --wsl"
    )


def _program() -> tuple[str, ...]:
    """What an entry starts, by its absolute path: this installation, or uvx that finds one.

    Raises:
        Unavailable: it runs from a cache, and uvx is not on PATH.
    """
    from shutil import which

    from toolcrib.system.installation import in_cache, start_flag

    if not in_cache(sys.executable):
        # A host starts us in some project, whose toolcrib.py must not be taken for ours.
        return sys.executable, start_flag(), "-m", "toolcrib"
    uvx = which("uvx")
    if uvx is None:
        raise Unavailable(
            f"This toolcrib runs from a cache and may be gone tomorrow: {sys.executable}.",
            hint="Install it (uv tool install toolcrib, or pipx install toolcrib), then run this.",
        )
    return str(Path(uvx).absolute()), "toolcrib"


def _with_folder(flags: Flags, host: Host, file: Path | None, *, quiet: bool) -> Flags:
    """The flags with a folder that the model works in; it is there, or made."""
    flags.require_folders()
    _refuse_wide(flags.roots, flags.load())
    if flags.workspace or not host.folder:
        return flags
    # What is set for all hosts is not meant for one that opens another project each time.
    is_project = "${" in host.folder
    if flags.load().workspace.roots and not is_project:
        return flags
    before = () if file is None or quiet else _folders_before(host, file)
    if before:
        return replace(flags, workspace=before)
    if is_project:
        return replace(flags, workspace=(host.folder,))
    usual = _usual(Path(host.folder).expanduser())
    if quiet:
        if not usual.is_dir():
            print(f"note: make its folder first: mkdir -p {usual}", file=sys.stderr)
        return replace(flags, workspace=(str(usual),))
    chosen = str(_chosen(usual))
    _refuse_wide([chosen], flags.load())
    return replace(flags, workspace=(chosen,))


def _usual(folder: Path) -> Path:
    """The folder for the model alone, or another name where a repository has that one.

    As that of toolcrib itself, which many clone to `~/toolcrib`.
    """
    return folder.with_name(f"{folder.name}-files") if (folder / ".git").exists() else folder


def _refuse_wide(folders: Sequence[str], config: Config) -> None:
    """Refuse folders that hold more than a model should have, as those that a host offers are.

    Raises:
        BadInput: naming the first.
    """
    from toolcrib.files.paths import own_places
    from toolcrib.files.real_paths import real_path
    from toolcrib.files.roots import too_wide

    own = own_places(config)
    for folder in folders:
        why = "" if "${" in folder else too_wide(real_path(folder), own)
        if why:
            raise BadInput(
                f"{folder} is not written into the entry: {why}.",
                hint="Name a folder for this alone: --workspace ~/toolcrib. For all of it "
                f"nonetheless, set it yourself: toolcrib config set workspace.roots "
                f"{shlex.quote(folder)}",
            )


def _folders_before(host: Host, file: Path) -> tuple[str, ...]:
    """Those of the entry that is there already, if they still are."""
    found = _values_before(host, file, "--workspace")
    return tuple(folder for folder in found if Path(folder).is_dir())


def _values_before(host: Host, file: Path, flag: str) -> list[str]:
    """What stands behind a flag in the entry that is there already."""
    words = (host_files.find(file, host.key, NAME) or {}).get("args")
    return [str(b) for a, b in pairwise(words) if a == flag] if isinstance(words, list) else []


def _with_options_before(flags: Flags, host: Host, file: Path | None) -> Flags:
    """The flags with those of the entry that is there already, where they are not given anew."""
    if file is None:
        return flags
    profile = flags.profile or next(iter(_values_before(host, file, "--profile")), None)
    given = {text.partition("=")[0].strip() for text in flags.settings}
    settings = [
        text
        for text in _values_before(host, file, "--set")
        if text.partition("=")[0].strip() not in given
    ]
    same = [] if flags.profile or not profile else [f"--profile {profile}"]
    same += [f"--set {text}" for text in settings]
    if not same:
        return flags
    full = replace(flags, profile=profile, settings=(*settings, *flags.settings))
    try:
        _check(full.load())
    except ToolError as error:
        why = error.message.rstrip(".")
        print(f"note: left out of the entry so far: {' '.join(same)} ({why})", file=sys.stderr)
        return flags
    print(f"note: as in the entry so far: {' '.join(same)}", file=sys.stderr)
    return full


def _chosen(usual: Path) -> Path:
    """The folder that the person names, else the usual one, made where it is missing."""
    from toolcrib.surfaces.cli import person
    from toolcrib.surfaces.cli.folders import folder_fault

    if person.is_there():
        answer = asyncio.run(person.answer(f"Folder that the model may work in [{usual}]: "))
        if answer:
            if (fault := folder_fault(answer)) is not None:
                raise fault
            return Path(answer).expanduser().absolute()
    try:
        usual.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailure(
            f"{usual} cannot be made: {error.strerror}.", hint="Name another: --workspace DIR"
        ) from None
    return usual


def _with_question(flags: Flags, host: Host) -> Flags:
    """Where the host asks before each call anyway, offer that this is the only question."""
    from toolcrib.surfaces.cli import person

    if any(text.startswith("policy.ask") for text in flags.settings):
        return flags
    offer = f"{host.title} shows you every call before it is made."
    if person.is_there():
        question = f"{offer} Is that enough, so that toolcrib asks nothing more?"
        if asyncio.run(person.confirm(question)):
            return replace(flags, settings=(*flags.settings, "policy.ask=host"))
    else:
        print(
            f"note: {offer} If that is enough, so that toolcrib asks nothing more, add "
            "--set policy.ask=host (docs/security.md says what that gives up).",
            file=sys.stderr,
        )
    return flags


def _check(config: Config) -> None:
    """Refuse what is looked at only later: an unknown profile, a store of another kind."""
    from toolcrib.surfaces.cli.settings_check import faults

    wrong = faults(config)
    for name in ("profile", "store.url"):
        if name in wrong:
            raise wrong[name]


def _warn() -> None:
    """What works in this shell and would not where the host starts it."""
    own = sorted(name for name in os.environ if name.startswith("TOOLCRIB_"))
    if own:
        print(
            f"note: The host may not see these variables of your shell: {', '.join(own)}.",
            file=sys.stderr,
        )


def _link(name: str, host: Host, launch: Launch) -> None:
    if host.link is None:
        raise BadInput(
            f"There is no link that adds a command of your machine to {host.title}.",
            hint=f"toolcrib install {name} --print shows what to add.",
        )
    print(host.link(launch))


def _add_plugin(name: str, options: Namespace, flags: Flags) -> int:
    """Write the folder of a plugin, and say how LM Studio takes it."""
    from toolcrib.surfaces.cli import plugin_folder
    from toolcrib.system.installation import command_line, program_words

    plugin_folder.require_lmstudio(name)
    plugin_folder.require_extra()
    flags.require_folders()
    _refuse_wide(flags.roots, flags.load())
    _check(flags.load())
    program = _program()
    if program[1:] == ("toolcrib",):  # uvx, which takes it with its extra
        program = (program[0], "--from", "toolcrib[lmstudio]", "toolcrib")
    folder = Path(options.file).expanduser() if options.file else plugin_folder.usual_folder()
    fresh = plugin_folder.write(folder, [*program, "lmstudio", *flags.words(), "--shell"])
    print(f"Wrote {folder}" if fresh else f"{folder} is as it should be; nothing was changed.")
    print("Have LM Studio take it, with the program `lms` that comes with LM Studio:")
    print(f"  cd {shlex.quote(str(folder))} && lms dev --install")
    print("Then turn it on in a chat, under the plugins; its settings are beside it.")
    ours = command_line(program_words())
    print(f"Without installing anything there: {ours} lmstudio")
    _warn()
    return 0


def _tell(host: Host, launch: Launch) -> None:
    """Where it belongs, beside what was printed, so that that can be piped."""
    title = host.title[:1].upper() + host.title[1:]
    print(f"\n{title}. {host.where(launch)}", file=sys.stderr)
    if host.link is not None:
        print(f"Or open: {host.link(launch)}", file=sys.stderr)


def _add(host: Host, launch: Launch, file: Path | None, roots: list[str]) -> None:
    """Try the entry, write it where it is ours to write, and say what to do then."""
    from toolcrib.system.installation import command_line, program_words

    tools = asyncio.run(listed_tools(launch.stdio)) if host.starts else []
    if file is None:
        print(host.text(launch), flush=True)
        _tell(host, launch)
        stream = sys.stderr
    else:
        written = host_files.add(file, host.key, NAME, host.entry(launch))
        stream = sys.stdout
        if written is None:
            print(f"{file} has the entry already; nothing was changed.")
        else:
            print(f"Wrote {file}")
            if written != file:
                print(f"As it was: {written}")
    if tools:
        text = f"It starts, and shows {counted(len(tools), 'tool')}: {', '.join(tools)}."
        print(wrapped(text, indent="").rstrip(), file=stream)
    folders = [folder for folder in roots if "${" not in folder]
    where = ", ".join(folders) or "the project that is open (elsewhere: --workspace DIR)"
    print(f"The model works in {where}.", file=stream)
    if file is not None:
        print(f"Start {host.title} again, open a new chat and try first:", file=stream)
        print(f"  {_first_words(tools)}", file=stream)
        ours = command_line(program_words())
        print(f"`{ours} history` shows what it did, `{ours} undo` takes it back.", file=stream)


def _first_words(tools: list[str]) -> str:
    """What a person says to a model first, that these tools can do without a network."""
    if "write_file" in tools:
        return "Write a file hello.txt with a greeting, then show me what the folder holds."
    if "web_search" in tools:
        return "Search the web for news about your favourite subject."
    return "Which tools do you have? Try one of them."


# The try of an entry: it is started as a host does, and asked for its tools.

TRIAL_SECONDS = 60.0
MAX_ERROR_CHARS = 500


async def listed_tools(command: Sequence[str]) -> list[str]:
    """The names of the tools that a stdio server lists, started in the home folder.

    It gets the few variables that hosts pass on, and not those of this shell.

    Raises:
        Unavailable: it does not start, or does not answer in time.
    """
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *words = command
    parameters = StdioServerParameters(command=program, args=words, cwd=Path.home())
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            async with (
                asyncio.timeout(TRIAL_SECONDS),
                Client(
                    stdio_client(parameters, errlog=cast("TextIO", log)), mode="legacy"
                ) as client,
            ):
                return [tool.name for tool in (await client.list_tools()).tools]
        except TimeoutError:
            raise _not_started(f"it did not answer within {TRIAL_SECONDS:g} s") from None
        except Exception as error:  # noqa: BLE001 - whatever the start of a program brings
            log.seek(0)
            raise _not_started(log.read()[-MAX_ERROR_CHARS:].strip() or repr(error)) from None


def _not_started(why: str) -> ToolError:
    return Unavailable(
        f"The entry was tried and does not start, so nothing was written: {why}",
        hint="toolcrib doctor checks this installation; --print shows the entry all the same.",
    )
