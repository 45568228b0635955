"""`toolcrib undo`: a person takes back what a model changed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, NoResults
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import visible
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.files.changes.undo_log import LoggedStep
    from toolcrib.toolbox import Toolbox

MAX_LISTED = 20
HINTS = {
    "conflict": "toolcrib undo --list shows the steps, --path PATH takes back one file alone.",
    "no_results": "toolcrib undo --list shows the steps.",
}
"""By the code of an error; the hints of the tool are meant for models."""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "steps", metavar="STEPS", nargs="?", type=int, default=1, help="how many (1)"
    )
    parser.add_argument("--path", metavar="PATH", help="only what was done to this")
    parser.add_argument("--id", metavar="ID", type=int, help="this step alone, an undo too")
    parser.add_argument("--list", action="store_true", dest="show", help="show the last steps")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask first")
    parser.epilog = (
        "Meant is the workspace; where none is given, the current folder, and where nothing was "
        "changed in that, the folder of the last change. Called again it takes back the step "
        "before; an undo is a step too, and --id with its number makes the change again."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Show what would be taken back, and take it back."""
    if options.steps < 1:
        raise BadInput("STEPS must be at least 1.", hint="toolcrib undo --list shows the steps.")
    return asyncio.run(_run(options, flags.load()))


async def _run(options: Namespace, config: Config) -> int:
    from toolcrib.toolbox import Toolbox

    async with Toolbox(config) as box:
        found = await _steps(box, options)
        if found or config.workspace.roots or options.path:
            return await _undo(box, options, found)
        folder = await _last_folder(box)
    if not folder:
        print("No change of files is in the log.")
        return 1
    async with Toolbox(config, workspace=folder) as box:
        return await _undo(box, options, await _steps(box, options))


async def _steps(box: Toolbox, options: Namespace) -> list[LoggedStep]:
    """What is meant, of the steps in the workspace that still hold; listed are all."""
    from toolcrib.files.changes.changes import Changes
    from toolcrib.files.paths import Workspace

    changes = box.use(Changes)
    if options.id is not None:
        try:
            return [await changes.numbered(options.id)]
        except NoResults:
            return []
    path = box.use(Workspace).resolve(_absolute(options.path)) if options.path else None
    limit = MAX_LISTED if options.show else max(options.steps, 1)
    return await changes.steps(path, limit, standing=not options.show)


def _absolute(path: str) -> str:
    """As the person means it: from where they are."""
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - links stay


async def _last_folder(box: Toolbox) -> str:
    """The folder that holds all of the last step, wherever that was made."""
    from toolcrib.files.changes.changes import Changes

    paths = await box.use(Changes).newest_paths()
    return os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""  # noqa: PTH120


async def _undo(box: Toolbox, options: Namespace, found: list[LoggedStep]) -> int:
    from toolcrib.surfaces.cli import person

    if not found:
        where = f"There is no step {options.id} here" if options.id else "Nothing was changed here"
        print(f"{where} that can be taken back.")
        return 1
    if options.id is None and not options.show and len(found) < options.steps:
        have = counted(len(found), "step")
        print(
            f"toolcrib: Only {have} can be taken back here, not {options.steps}.", file=sys.stderr
        )
        print(f"`toolcrib undo {len(found)}` takes back all, --list shows them.", file=sys.stderr)
        return 1
    if options.show or (person.is_there() and not options.yes):
        for step in found:
            print(f"{step.id:4}  {_line(step)}")
    if options.show:
        return 0
    if person.is_there() and not options.yes:
        each = "this" if len(found) == 1 else f"these {len(found)}"
        if not await person.confirm(f"Take back {each}?"):
            print("Nothing was changed.")
            return 1
    return await _take_back(box, options, found)


async def _take_back(box: Toolbox, options: Namespace, found: list[LoggedStep]) -> int:
    from toolcrib.core.context import Caller
    from toolcrib.tools.files.undo_changes import USER_SESSION

    sent: dict[str, Any] = {"steps": options.steps}
    if options.id is not None:
        sent = {"id": options.id}
    elif options.path:
        sent["path"] = _absolute(options.path)
    caller = Caller("cli", typed_by_user=True, single=True)
    result = await box.call("undo_changes", sent, session=USER_SESSION, caller=caller)
    if result.error is not None:
        print(f"toolcrib: {visible(result.error.message)}", file=sys.stderr)
        print(HINTS.get(result.error.code) or visible(result.error.hint), file=sys.stderr)
        return 1
    for step in found:
        print(f"Taken back: {_line(step)}")
    again = " and ".join(f"toolcrib undo --id {step}" for step in result.data["steps"])
    if again:
        print(f"{again} makes this undone; toolcrib undo takes back the step before.")
    return 0


def _line(step: LoggedStep) -> str:
    from toolcrib.text.display import some_of

    when = time.strftime("%d %b %H:%M", time.localtime(step.time))
    home = f"{Path.home()}{os.sep}"
    names = [f"~/{p.removeprefix(home)}" if p.startswith(home) else p for p in step.paths]
    return f"{step.tool}, {when}: {visible(some_of(names))}"
