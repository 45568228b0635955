"""`extract_html_data`: tables, forms, lists and links of HTML as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NoResults, TooLarge
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.new_names import refuse_file_name
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

EXTRACT = Task(
    "toolcrib.documents.html_data_child:extract", "Reading the HTML", 30.0, 1500,
    hint="Send a part of the page.",
)  # fmt: skip
MAX_BYTES = 20_000_000
KINDS = {"table": "tables", "form": "forms", "list": "lists", "link": "links"}


def _adapt(arguments: dict[str, Any]) -> None:
    """A kind in the plural."""
    for name in ("kind", "extractiontype", "type", "what", "extract"):
        if (word := str(arguments.get(name)).lower()) in KINDS.values():
            arguments[name] = word.removesuffix("s")


@tool(
    group="ui",
    rights=READ,
    keywords=("html", "table", "form", "list", "links", "scrape", "parse", "markup"),
    aliases=("extract_ui_data", "parse_html"),
    argument_adapter=_adapt,
    argument_aliases=other_names(
        html=("html_content", "content"),
        kind=("extraction_type", "type", "what", "extract"),
        path=("file",),
    ),
)
async def extract_html_data(
    html: Annotated[str, Param("Or path.")] = "",
    path: WorkspacePath | None = None,
    kind: Literal["all", "table", "form", "list", "link"] = "all",
    *,
    ctx: Ctx,
) -> Result:
    """Give all tables, forms, lists or links of HTML as rows.

    Cells that span several stand in each. Scripts are not run. A page of the web is read by
    fetch_url.
    """
    if bool(html) == (path is not None):
        raise BadInput("Give 'html' or 'path', one of them.", hint='As html="<table>…</table>".')
    if path is not None:
        data = await in_thread(lambda _: path.read_bytes(MAX_BYTES), ctx.deadline)
    else:
        await refuse_file_name(html, "html", ctx)
        data = html.encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise TooLarge(f"The HTML has more than {MAX_BYTES:,} bytes.", hint="Send a part of it.")
    request = {"kinds": list(KINDS) if kind == "all" else [kind]}
    found, _ = await ctx.use(Workers).run(EXTRACT, request, data, ctx.deadline)
    lines = [*_tables(found), *_forms(found), *_lists(found), *_links(found)]
    if not lines:
        raise NoResults(
            f"There is no {'table, form, list or link' if kind == 'all' else kind} in it.",
            hint="Is it the page as a browser has it? browser_read gives that.",
        )
    return Result("\n".join(lines), found, source=path.display if path is not None else "html")


def _tables(found: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for number, table in enumerate(found.get("tables", ()), 1):
        name = f" {table['caption']}" if table["caption"] else ""
        lines.append(f"Table {number}{name}: {counted(len(table['rows']), 'row')}")
        rows = [table["columns"], *table["rows"]] if table["columns"] else table["rows"]
        lines += [" | ".join(row) for row in rows]
    return lines


def _forms(found: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for number, form in enumerate(found.get("forms", ()), 1):
        where = f" to {form['action']}" if form["action"] else ""
        lines.append(f"Form {number} {form['name']}: {form['method']}{where}")
        for field in form["fields"]:
            value = f" = {field['value']}" if field.get("value") else ""
            value += ", checked" if field.get("checked") else ""
            options = f" of {', '.join(_options(field))}" if field.get("options") else ""
            needed = ", required" if field["required"] else ""
            label = f' "{field["label"]}"' if field["label"] else ""
            lines.append(f"- {field['name']} ({field['type']}{needed}){label}{value}{options}")
    return lines


def _options(field: Mapping[str, Any]) -> list[str]:
    """The options as they are read, with what is sent for them where that is another text."""
    values = field.get("option_values") or field["options"]
    return [
        label if label == value else f"{label} [{value}]"
        for label, value in zip(field["options"], values, strict=True)
    ]


def _lists(found: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for number, one in enumerate(found.get("lists", ()), 1):
        lines.append(f"List {number}: {counted(len(one['items']), 'item')}")
        lines += [f"{'  ' * depth}- {text}" for depth, text in one["items"]]
    return lines


def _links(found: Mapping[str, Any]) -> list[str]:
    links = found.get("links", ())
    if not links:
        return []
    return [counted(len(links), "link"), *(f"- {one['text']}: {one['url']}" for one in links)]
