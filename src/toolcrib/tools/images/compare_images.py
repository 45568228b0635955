"""`compare_images`: how like two pictures are, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import READ, WRITE, Param, Right, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.new_names import refuse_source
from toolcrib.files.paths import WorkspacePath, WritablePath
from toolcrib.images.pictures import COMPARE, FORMATS, read_picture, run
from toolcrib.text.display import some_of


def _rights(arguments: Mapping[str, Any]) -> Right:
    return READ | WRITE if arguments.get("output") else READ


def _adapt(arguments: dict[str, Any]) -> None:
    """Both pictures in one list."""
    for name in ("paths", "images", "imagepaths", "files"):
        if isinstance(arguments.get(name), list) and len(arguments[name]) == len(("path", "other")):
            arguments["path"], arguments["other"] = arguments.pop(name)


@tool(
    group="images",
    rights=READ | WRITE,
    keywords=("picture", "difference", "similarity", "same", "pixels", "visual", "diff"),
    aliases=("image_diff", "diff_images"),
    argument_aliases=other_names(
        path=("a", "first", "image1", "image1_path"),
        other=("b", "second", "image2", "image2_path"),
        tolerance=("threshold",),
        output=("output_path",),
    ),
    effective_rights=_rights,
    argument_adapter=_adapt,
)
async def compare_images(
    path: WorkspacePath,
    other: WorkspacePath,
    tolerance: Annotated[
        int, Param("Of a channel, 0 to 255.", minimum=0, maximum=255, unlisted=True)
    ] = 0,
    output: Annotated[WritablePath | None, Param("PNG of the differences.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Compare two pictures: identical, similarity, differing pixels.

    It shows a picture with what differs in red. Of two sizes the second is brought to that of
    the first before pixels are compared.
    """
    if output is not None and FORMATS.get(output.name.rpartition(".")[2].lower()) != "PNG":
        raise BadInput("The differences are saved as PNG.", hint="End output in .png.")
    for source in (path, other):
        await refuse_source(output, source, ctx)
    one, _ = await read_picture(path, ctx)
    two, _ = await read_picture(other, ctx)
    request = {"first": len(one), "tolerance": tolerance}
    answer, data = await run(COMPARE, request, one + two, ctx)
    made = data[: answer.pop("file")]
    small = data[len(made) :]
    media_type = answer.pop("preview", "")
    facts = {"identical": one == two, **answer}
    facts["percent"] = round(100 * answer["differing"] / answer["pixels"], 4)
    lines = _lines(facts, tolerance)
    if output is not None and made:
        step = Step(compare_images.name)
        step.write(output, made)
        applied = await ctx.use(Changes).apply(step, ctx)
        facts |= {"path": output.display, "step": applied.step}
        lines.append(f"What differs is red in {applied.place(output)}.")
    elif output is not None:
        lines.append("No picture was saved: nothing differs.")
    pictures = (Image(small, media_type),) if small else ()
    return Result("\n".join(lines), facts, pictures, private=True)


def _lines(facts: dict[str, Any], tolerance: int) -> list[str]:
    if facts["identical"]:
        return ["The files are identical, byte by byte."]
    (width, height), (other_width, other_height) = facts["sizes"]
    lines = []
    if facts["sizes"][0] != facts["sizes"][1]:
        lines.append(
            f"The sizes differ: {width} x {height} and {other_width} x {other_height}; the second "
            "was resized to the first before pixels were compared."
        )
    lines += _limits(facts)
    within = f" by more than {tolerance}" if tolerance else ""
    if not facts["differing"]:
        same = "All pixels are the same" if not tolerance else f"No pixel differs{within}"
        same += " as far as they were compared" if _limits(facts) else ""
        return [*lines, f"{same}; the files differ. Similarity {facts['similarity']:g} %."]
    left, top, right, bottom = facts["area"]
    lines.append(
        f"Similarity {facts['similarity']:g} %. {facts['differing']:,} of {facts['pixels']:,} "
        f"pixels differ{within} ({facts['percent']:g} %), all within {right - left} x "
        f"{bottom - top} pixels at {left},{top}."
    )
    if facts["frames_compared"] > 1:
        numbers = some_of([str(number) for number in facts["differing_frames"]], 10)
        lines.append(
            f"Frames that differ, of {facts['frames_compared']}: {numbers}; the first is shown."
        )
    return lines


def _limits(facts: dict[str, Any]) -> list[str]:
    """What of the pictures was not compared."""
    lines = []
    if max(facts["frames"]) > facts["frames_compared"]:
        first, second = facts["frames"]
        lines.append(
            f"They have {first} and {second} frames; compared: {facts['frames_compared']}."
        )
    if facts["bits"] > 8:
        lines.append(f"Compared by 8 bits of a channel; {facts['bits']} are there.")
    return lines
