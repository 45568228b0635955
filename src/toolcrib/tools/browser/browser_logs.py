"""`browser_logs`: what the open page logged, asked for, and gave to download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.browser.browsers import Browsers
from toolcrib.browser.downloads import FileDownload
from toolcrib.browser.tabs import Tab
from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, WRITE, Count, Param, Right, tool
from toolcrib.files.paths import WritablePath
from toolcrib.net.egress.url import web_origin
from toolcrib.tools.browser.page_view import GUARD_OFF, save


def _rights(arguments: Mapping[str, Any]) -> Right:
    return NET | (WRITE if arguments.get("save_as") else NET)


@tool(
    group="browser",
    rights=WRITE | NET,
    keywords=("console", "network", "requests", "errors", "download", "downloads", "debug"),
    aliases=("browser_console_messages",),
    argument_aliases={"path": "save_as", "type": "kind"},
    effective_rights=_rights,
)
async def browser_logs(
    kind: Literal["console", "network", "downloads"] = "console",
    limit: Annotated[Count, Param("Lines.", plain=True, maximum=200)] = 30,
    save_as: Annotated[WritablePath | None, Param("Saves a download.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Show the page's console, requests or downloads; saves a download.

    A download is held until save_as names a file of the workspace for it.
    """
    conversation = ctx.use(Browsers).conversation(ctx.session.id)
    async with conversation.at_work():
        tab = conversation.tab()
        if save_as is not None:
            download, others = _chosen(conversation.tabs, save_as.name)
            content = await download.content(ctx.deadline)
            text = await save(save_as, content, browser_logs.name, ctx)
            download.is_saved = True
            if download.name != save_as.name:
                text += f"\nIt is {download.name}, the last download."
            if others:
                text += f"\nNot saved: {', '.join(others)}; save_as with the name saves that one."
            return Result(text=text, data={"path": save_as.display, "download": download.name})
        lines = {
            "console": list(tab.console),
            "network": list(tab.network),
            "downloads": [f"{d.name} from {d.url}" for t in conversation.tabs for d in t.downloads],
        }[kind][-limit:]
        lines += [] if conversation.guarded else [GUARD_OFF]
        return Result(
            text="\n".join(lines) or f"No {kind} yet.",
            data={"lines": len(lines)},
            source=web_origin(tab.url) if lines else "",
        )


def _chosen(tabs: list[Tab], name: str) -> tuple[FileDownload, list[str]]:
    """The last download of a name, else the last one; and the names of the others."""
    downloads = [download for tab in tabs for download in tab.downloads]
    if not downloads:
        raise NoResults("Nothing was downloaded.", hint="Click what downloads it first.")
    named = [each for each in downloads if each.name.lower() == name.lower()]
    chosen = (named or downloads)[-1]
    others = [d.name for d in downloads if not d.is_saved and d.name != chosen.name]
    return chosen, list(dict.fromkeys(others))
