"""`preview_html`: a page saved, opened for the person, and captured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import MACHINE, READ, WRITE, Param, Right, other_names, tool
from toolcrib.execution.workers import Workers
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.new_names import refuse_file_name, refuse_source
from toolcrib.files.paths import Workspace, WorkspacePath, WritablePath, resolve_writable
from toolcrib.images.pictures import MAX_VISIBLE_BYTES
from toolcrib.system.opener import open_for_person
from toolcrib.system.threads import in_thread
from toolcrib.text.display import size_of
from toolcrib.tools.ui.page_tasks import MARKDOWN, page_picture
from toolcrib.tools.ui.pages import guarded_page

MAX_BYTES = 10_000_000
MARKDOWN_ENDINGS = (".md", ".markdown")


def _rights(arguments: Mapping[str, Any]) -> Right:
    opens = MACHINE if arguments.get("show", True) else WRITE
    return READ | WRITE | opens


async def _complete(arguments: Mapping[str, Any], ctx: Ctx) -> None:
    """Nobody is asked about a call that shows nothing."""
    del ctx
    if bool(arguments["content"]) == (arguments["path"] is not None):
        raise BadInput("Give 'content' or 'path', one of them.", hint='As content="<h1>…</h1>".')


@tool(
    group="ui",
    rights=READ | WRITE | MACHINE,
    keywords=("html", "page", "markdown", "show", "browser", "render", "look", "screenshot"),
    aliases=("markdown_preview", "render_and_preview_ui", "show_html"),
    argument_aliases=other_names(
        content=("html_content", "html", "markdown"),
        path=("file_path",),
        output=("file_name", "filename"),
        screenshot=("screenshot_path",),
        show=("open",),
    ),
    effective_rights=_rights,
    policy_check=_complete,
)
async def preview_html(
    content: Annotated[str, Param("HTML or Markdown.")] = "",
    path: WorkspacePath | None = None,
    output: WritablePath | None = None,
    screenshot: Annotated[WritablePath | None, Param("PNG.")] = None,
    show: Annotated[bool, Param("To the user; asks.", plain=True)] = True,
    *,
    ctx: Ctx,
) -> Result:
    """Save HTML or Markdown as a page and open it for the user.

    The page can load nothing from the network. `path` is a file instead of content. With
    show=false nobody is asked, and `screenshot` shows you the page by the extra browser.
    """
    if screenshot is not None and not screenshot.name.lower().endswith(".png"):
        raise BadInput("A screenshot is PNG.", hint="End screenshot in .png.")
    name = path.name if path is not None else (output.name if output is not None else "Preview")
    if path is not None:
        data = await in_thread(lambda _: path.read_bytes(MAX_BYTES), ctx.deadline)
        text = data.decode("utf-8", "replace")
    else:
        await refuse_file_name(content, "content", ctx)
        text = content
    is_markdown = (
        path.name.lower().endswith(MARKDOWN_ENDINGS)
        if path is not None
        else not text.lstrip().startswith("<")
    )
    if is_markdown:
        request = {"title": name.rpartition(".")[0] or name}
        source = text.encode("utf-8", "replace")
        _, made = await ctx.use(Workers).run(MARKDOWN, request, source, ctx.deadline)
        text = made.decode()
    page = guarded_page(text, name)
    place = output or resolve_writable("preview.html", ctx)
    if path is not None:
        await refuse_source(place, path, ctx)
    if not place.name.lower().endswith((".html", ".htm")):
        raise BadInput(f"{place.name} is no page.", hint="End output in .html.")
    step = Step(preview_html.name)
    step.write(place, page.encode("utf-8", "replace"))
    images: tuple[Image, ...] = ()
    if screenshot is not None:
        picture = await page_picture(page, ctx)
        step.write(screenshot, picture)
        images = (Image(picture, "image/png"),) if len(picture) <= MAX_VISIBLE_BYTES else ()
    applied = await ctx.use(Changes).apply(step, ctx)
    lines = [f"Saved to {applied.place(place)}: {size_of(len(page.encode()))}."]
    if screenshot is not None:
        lines.append(f"Its picture is {applied.place(screenshot)}.")
    opened = False
    if show:
        opener = ctx.use(Workspace).outside_program("xdg-open")
        try:
            await in_thread(lambda _: open_for_person(place.absolute, opener), ctx.deadline)
            opened = True
            lines.append("It was opened for the user.")
        except ToolError as error:
            lines.append(f"It was not opened: {error.message} {error.hint}")
    facts = {"path": place.display, "step": applied.step, "opened": opened}
    return Result("\n".join(lines), facts, images, private=True)
