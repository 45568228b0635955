"""`show`: a table, a chart, Markdown, HTML or a diff for a person to look at."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge, ToolError, install_line
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import WRITE, AnyJson, Param, other_names, tool
from toolcrib.execution.workers import Workers
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.new_names import new_file, refuse_file_name
from toolcrib.images.pictures import MAX_VISIBLE_BYTES
from toolcrib.text.display import size_of
from toolcrib.tools.ui.page_tasks import DRAW_PAGE, page_picture
from toolcrib.tools.ui.pages import guarded_page, whole_page
from toolcrib.tools.ui.views import PageView, ViewKind, view_of

MAX_CHARS = 2_000_000
MAX_PAGE_CHARS = 500_000
"""Of a page that goes to a host; a longer one is in the file alone."""
MAX_TITLE = 200


def _adapt(arguments: dict[str, Any]) -> None:
    """Content under the name of its kind, such as `html`, is of that kind."""
    named = next((kind for kind in ("html", "diff", "markdown") if arguments.get(kind)), "")
    if named and not {"kind", "type", "format"} & set(arguments):
        arguments["kind"] = named


@tool(
    group="ui",
    rights=WRITE,
    keywords=("display", "present", "visualize", "render", "canvas", "artifact"),
    aliases=("display", "render"),
    argument_aliases=other_names(
        content=("data", "text", "html", "markdown", "diff"),
        kind=("type", "format"),
        title=("heading",),
    ),
    argument_adapter=_adapt,
)
async def show(
    content: Annotated[AnyJson, Param("Text, or JSON rows.")],
    kind: ViewKind = "markdown",
    title: str = "",
    *,
    ctx: Ctx,
) -> Result:
    """Show the user a table, chart, Markdown, HTML or diff.

    It is saved as a page and given as text and as a picture; hosts with MCP Apps also show the
    page. Which of them the user sees depends on the host. A chart has the data of make_chart.
    """
    title = " ".join(title.split())[:MAX_TITLE]
    if isinstance(content, str) and len(content) > MAX_CHARS:
        raise TooLarge(f"It has more than {MAX_CHARS:,} characters.", hint="Show a part of it.")
    if content is None or (isinstance(content, str | list | dict) and not content):
        raise BadInput("There is nothing to show.", hint='Such as content="# Done".')
    if isinstance(content, str):
        await refuse_file_name(content, "content", ctx, "Read it, and send what it says.")
    view = await view_of(kind, content, title, ctx)
    page = guarded_page(view.body, title or kind) if kind == "html" else _framed(view, title)
    picture, notes = await _picture(view, page, title, ctx)
    place = await new_file(title, kind, "html", ctx)
    step = Step(show.name)
    step.write(place, page.encode("utf-8", "replace"))
    applied = await ctx.use(Changes).apply(step, ctx)
    line = f"Saved to {place.display}: {size_of(len(page.encode('utf-8', 'replace')))}."
    facts: dict[str, Any] = {"kind": kind, "path": place.display, "step": applied.step}
    return Result(
        "\n".join([line, *notes, *view.notes, "", view.text]),
        {**facts, **view.facts},
        (Image(picture, "image/png"),) if picture else (),
        page=view.body if len(view.body) <= MAX_PAGE_CHARS else "",
    )


def _framed(view: PageView, title: str) -> str:
    return whole_page(view.body, title or view.kind.capitalize())


async def _picture(view: PageView, page: str, title: str, ctx: Ctx) -> tuple[bytes, list[str]]:
    """A picture as PNG, and why there is none or not all of it."""
    try:
        if view.kind == "html":
            picture, cut = await page_picture(page, ctx), False
        elif view.picture:
            picture, cut = view.picture, False
        elif find_spec("PIL") is None:
            return b"", [f"A picture of it needs: {install_line('toolcrib[images]')}"]
        else:
            request = {"kind": view.drawn_as, "title": title, **view.drawing}
            source = view.text.encode("utf-8", "replace")
            answer, picture = await ctx.use(Workers).run(DRAW_PAGE, request, source, ctx.deadline)
            cut = answer["cut"]
    except ToolError as error:
        return b"", [f"There is no picture: {error.message} {error.hint}".rstrip()]
    if len(picture) > MAX_VISIBLE_BYTES:
        return b"", ["The picture is too large to be sent; the page has it all."]
    return picture, ["The picture shows the beginning; the page has it all."] if cut else []
