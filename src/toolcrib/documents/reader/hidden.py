"""Text that a reader of the page does not see."""

from __future__ import annotations

import re
from typing import Any, Literal

Visibility = Literal["shown", "revealed", "hidden"]

_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!)"
    r"|font-size\s*:\s*0(?:px|em|rem|pt|%)?\s*(?:;|$|!)",
    re.IGNORECASE,
)
# The first frame of an animation, not a disguise.
_ANIMATED = re.compile(r"transform|translate|transition|will-change|animation", re.IGNORECASE)
_TABS = re.compile(
    r"tab|panel|accordion|collaps|expand|faq|answer|toggle|disclosure|reveal|spoiler|read-?more"
    r"|show-?more|details|slide|carousel|content-?body",
    re.IGNORECASE,
)
MAX_STYLE = 2000
"""Characters of a style attribute that are looked at."""
_STREAMED = re.compile(r"[SBP]:[0-9a-f]+\Z")


def _may_hide(style: str) -> bool:
    """Whether the expression may find something: most styles are soon passed over."""
    return "none" in style or "hidden" in style or "opacity" in style or "size" in style


def visibility(node: Any) -> Visibility:
    """Whether an element is marked as invisible where it stands.

    "revealed" is what a click or a script of the page makes visible: the panels of tabs and
    accordions, parts that arrive after the rest, the first frame of an animation.
    """
    style = node.attr("style")
    found = _STYLE.search(style[:MAX_STYLE]) if style and _may_hide(style.lower()) else None
    if found is None:
        if node.attr("hidden") is None:
            return "shown"
        if _STREAMED.match(node.attr("id") or ""):
            return "revealed"
    elif found.group().lstrip("; ").lower().startswith("opacity"):
        return "revealed" if _ANIMATED.search(style[:MAX_STYLE]) else "hidden"
    elif "size" in found.group().lower():
        return "hidden"
    if node.attr("role") in ("tabpanel", "region") or node.attr("aria-labelledby"):
        return "revealed"
    name = f"{node.attr('class') or ''} {node.attr('id') or ''}"
    return "revealed" if _TABS.search(name[:MAX_STYLE]) else "hidden"
