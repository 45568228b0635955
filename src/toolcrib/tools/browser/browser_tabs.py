"""`browser_tabs`: the tabs of the conversation."""

from __future__ import annotations

from typing import Annotated, Literal

from toolcrib.browser.browsers import Browsers
from toolcrib.browser.tabs import listed
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, Param, tool
from toolcrib.tools.browser.page_view import GUARD_OFF


@tool(
    group="browser",
    rights=NET,
    keywords=("tab", "window", "switch", "list", "close"),
    aliases=("browser_tab_list", "browser_switch_tab", "browser_tab_select"),
    argument_aliases={"index": "tab", "id": "tab"},
)
async def browser_tabs(
    action: Literal["list", "select", "close"] = "list",
    tab: Annotated[int | None, Param("Number.", plain=True, minimum=1)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """List, select or close tabs.

    The other tools use the selected one; a new tab that a page opens is selected at once.
    """
    conversation = ctx.use(Browsers).conversation(ctx.session.id)
    async with conversation.at_work():
        current = conversation.tab()
        tabs = conversation.tabs
        if tab is not None and tab > len(tabs):
            raise BadInput(f"There is no tab {tab}.", hint=f"There are {len(tabs)}.")
        if action == "select" and tab is None:
            raise BadInput("Which tab?", hint="Give its number; action=list shows them.")
        chosen = tabs[tab - 1] if tab is not None else current
        if action == "select":
            conversation.current = chosen
            await chosen.page.bring_to_front()
        elif action == "close":
            await conversation.close_tab(chosen)
        lines = listed(conversation.tabs, conversation.current)
        lines += [] if conversation.guarded else [GUARD_OFF]
        return Result(
            text="\n".join(lines) or "No tab is open.",
            data={"tabs": [each.masked(each.url) for each in conversation.tabs]},
            source="browser tabs" if lines else "",
        )
