"""`screenshot_desktop`: a picture of the user's screen."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TimedOut, Unavailable
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import MACHINE, WRITE, Param, Right, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import Workspace, WritablePath
from toolcrib.images.pictures import EDIT, FORMATS, need_extra, run
from toolcrib.system.processes import Processes
from toolcrib.text.display import size_of

SECONDS = 10.0
MAX_OUTPUT = 150_000_000
SCREEN_VARIABLES = (
    *("PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_*"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"),
)


def _rights(arguments: Mapping[str, Any]) -> Right:
    return MACHINE | WRITE if arguments.get("output") else MACHINE


@tool(
    group="images",
    rights=MACHINE | WRITE,
    keywords=("screen", "screenshot", "capture", "display", "monitor", "picture", "window"),
    aliases=("take_desktop_screenshot", "capture_screen", "screen_capture"),
    argument_aliases={"output_path": "output", "path": "output", "file": "output"},
    effective_rights=_rights,
)
async def screenshot_desktop(
    output: Annotated[WritablePath | None, Param("PNG or JPEG.")] = None,
    format: Literal["png", "jpeg"] = "png",  # noqa: A002 - the name that models use
    quality: Annotated[int, Param("1 to 100.", minimum=1, maximum=100, unlisted=True)] = 90,
    monitor: Annotated[int, Param("From 1; 0 is all.", minimum=0, unlisted=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Take a picture of the user's screen, after asking.

    It is shown, and saved to `output` where that is given. What stands on the screen may be
    private. A page is captured by browser_screenshot.
    """
    kind = "JPEG" if format == "jpeg" else "PNG"
    if output is not None:
        named = FORMATS.get(output.name.rpartition(".")[2].lower(), "")
        if named not in ("PNG", "JPEG"):
            raise BadInput(f"{output.name} is no picture.", hint="End it in .png or .jpg.")
        kind = named
    need_extra("mss", "A picture of the screen")
    need_extra("PIL", "A picture of the screen")
    content = await _taken(monitor, ctx)
    request: dict[str, Any] = {
        "format": kind, "crop": None, "rotate": 0, "resize": None, "marks": None,
        "quality": quality if kind == "JPEG" else 0, "max_bytes": 0,
    }  # fmt: skip
    answer, data = await run(EDIT, request, content, ctx)
    made, small = data[: answer["file"]], data[answer["file"] :]
    width, height = answer["size"]
    facts: dict[str, Any] = {"width": width, "height": height, "bytes": len(made)}
    line = f"The screen: {width} x {height} pixels."
    if output is not None:
        step = Step(screenshot_desktop.name)
        step.write(output, made)
        applied = await ctx.use(Changes).apply(step, ctx)
        facts |= {"path": output.display, "step": applied.step}
        where = applied.place(output)
        line = f"Saved to {where}: {width} x {height} pixels, {size_of(len(made))}."
    # What stands on a screen may be anybody's: pages, messages.
    return Result(line, facts, (Image(small, answer["preview"]),), private=True, source="screen")


async def _taken(monitor: int, ctx: Ctx) -> bytes:
    """The screens as PNG.

    Raises:
        Unavailable: there is none, or it cannot be taken.
        BadInput: there is no such monitor.
    """
    spec = find_spec("toolcrib.images.screen_child")
    child = spec.origin if spec is not None else None
    request = json.dumps({"path": sys.path, "monitor": monitor}).encode()
    argv = [sys.executable, "-I", "-S", "-B", str(child)]
    answer = await _output(argv, request, ctx)
    try:
        found: dict[str, Any] = json.loads(answer)
    except ValueError:
        raise Unavailable(
            "The picture of the screen could not be taken.",
            hint="`toolcrib doctor` may say why; the user can take it and save it here.",
        ) from None
    if "picture" in found:
        return b64decode(found["picture"])
    if found["error"] == "wayland":
        return await _by_grim(ctx)
    if found["error"] == "monitor":
        raise BadInput(f"There are {found['monitors']} monitors.", hint="Use monitor=0 for all.")
    if found["error"] == "none":
        raise Unavailable(
            "There is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            hint="Start toolcrib in the session of a desktop. A page is captured by "
            "browser_screenshot.",
        )
    raise Unavailable(
        f"The screen cannot be read: {found['reason']}.",
        hint="It may be locked, or the system has to allow it (on macOS: Screen Recording).",
    )


async def _by_grim(ctx: Ctx) -> bytes:
    program = ctx.use(Workspace).outside_program("grim")
    if not program:
        raise Unavailable(
            "This is a Wayland session, in which programs cannot read the screen.",
            hint="On Sway and its kin install grim; else the user takes the picture.",
        )
    return await _output([program, "-t", "png", "-"], b"", ctx)


async def _output(argv: list[str], stdin: bytes, ctx: Ctx) -> bytes:
    done = await ctx.use(Processes).run(
        argv,
        cwd="/" if sys.platform != "win32" else sys.prefix,
        stdin=stdin,
        timeout=ctx.remaining(SECONDS),
        max_output=MAX_OUTPUT,
        passed_on=SCREEN_VARIABLES,
    )
    if done.timed_out:
        raise TimedOut("The screen did not answer.", hint="It may be locked; try again.")
    return bytes(done.stdout)
