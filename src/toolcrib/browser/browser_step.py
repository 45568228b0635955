"""One step in a page: what it is made of, what it may do, and what it cannot do on any page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict
from urllib.parse import urljoin

from toolcrib.browser.browsers import Browsers
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied, ToolError
from toolcrib.core.tool import NET, READ, SEND, Param, Right
from toolcrib.files.paths import WorkspacePath
from toolcrib.net.egress.public_url import open_url
from toolcrib.net.egress.url import web_origin

Action = Literal[
    "click",
    "double_click",
    "type",
    "press",
    "select",
    "check",
    "hover",
    "drag",
    "scroll",
    "wait",
    "goto",
    "back",
    "forward",
    "reload",
    "upload",
    "dialog",
    "evaluate",
]
LOOKING = frozenset(("hover", "scroll", "wait", "goto", "back", "forward", "reload"))
"""Steps that look, or go on to a URL; all others may change something at the site."""
MAX_STEPS = 50
WHOLE_URL = "Give the whole URL, as https://example.com/about."


async def _url_from_page(text: str, ctx: Ctx) -> str:
    """The URL of a step, which may be relative to that of the page which is open at the call.

    Raises:
        BadInput: it is relative, and no page is open.
    """
    if is_relative(text):
        browsers = ctx.use(Browsers)
        is_open = browsers.has(ctx.session.id)
        page = browsers.conversation(ctx.session.id).tab().url if is_open else ""
        if not web_origin(page):
            raise BadInput(f"'{text[:80]}' is relative, and no page is open.", hint=WHOLE_URL)
        text = urljoin(page, text.strip())
    return await open_url(text, ctx, "")


class _Named(TypedDict):
    action: Annotated[Action, Param(aliases=("type", "kind", "name"))]


class BrowserStep(_Named, total=False):
    """One step. `target` is a ref of the snapshot, the visible text, or a selector."""

    target: Annotated[
        str,
        Param(
            "Ref, text or selector.",
            aliases=("ref", "selector", "element", "wait_for_selector"),
        ),
    ]
    value: Annotated[
        str,
        Param(
            "Text or key.",
            aliases=("text", "key", "option", "script", "expression", "seconds", "ms", "to"),
        ),
    ]
    url: Annotated[str, Param("goto", kind="url", check=_url_from_page, aliases=("href",))]
    path: Annotated[WorkspacePath, Param("upload", aliases=("file",))]


def is_relative(url: str) -> bool:
    """Whether a URL is part of one, to be completed by that of a page; a bare word is a host."""
    url = url.strip()
    return url.startswith(("/", "?", "#", "./", "../")) and not url.startswith("//")


def rights_of(steps: Sequence[Mapping[str, Any]] | None) -> Right:
    """What a list of steps may do."""
    rights = NET
    for step in steps or ():
        if step.get("action") not in LOOKING:
            rights |= SEND
        if step.get("action") == "upload" and step.get("path"):
            rights |= READ
    return rights


def acts(steps: Sequence[Mapping[str, Any]] | None) -> bool:
    """Whether a list of steps can change something at a site."""
    return bool(rights_of(steps) & SEND)


_NEEDED: dict[str, tuple[str, tuple[object, ...], str, str]] = {
    "type": ("value", (None,), "The step names no text to type.", 'value="" empties the field.'),
    "press": ("value", (None, ""), "The step names no key.", 'Such as value="Enter", "Control+A".'),
    "goto": ("url", (None, ""), "The step names no url.", "As url=https://example.com/about."),
    "upload": ("path", (None,), "The step names no file.", "As path=report.csv, in the workspace."),
}
"""By action: the field that it needs, what counts as none, and what is said then."""
_DIALOG_FIRST = (
    "A dialog is answered as it opens: send this step and the one that opens it in one call, "
    'as [{"action": "dialog", "value": "accept"}, {"action": "click", "target": "Delete"}].'
)


def check_steps(steps: Sequence[BrowserStep], ctx: Ctx) -> None:
    """Refuse what cannot be done whatever the page is, before somebody is asked about it.

    Raises:
        BadInput: a step says too little, or there are too many.
        Denied: the user does not let scripts run.
    """
    if len(steps) > MAX_STEPS:
        raise BadInput(f"At most {MAX_STEPS} steps in one call, not {len(steps)}.")
    for number, step in enumerate(steps, 1):
        action = step["action"]
        missing = _NEEDED.get(action)
        try:
            if missing is not None and step.get(missing[0]) in missing[1]:
                raise BadInput(missing[2], hint=missing[3])
            if action == "press":
                key_of(step["value"])
            if action == "dialog" and number == len(steps):
                raise BadInput("No step follows that opens a dialog.", hint=_DIALOG_FIRST)
            if action == "evaluate" and not ctx.config.browser.evaluate:
                raise Denied(
                    "Scripts of a model do not run in pages.",
                    hint="Only the user can allow it: browser.evaluate = true.",
                )
        except ToolError as error:
            error.message = f"Step {number} ({action}): {error.message}"
            raise


_KEYS = {
    **{
        name.lower(): name
        for name in (
            *("Alt", "AltGraph", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "Backspace"),
            *("CapsLock", "Clear", "ContextMenu", "Control", "ControlOrMeta", "Delete", "End"),
            *("Enter", "Escape", "Home", "Insert", "Meta", "NumLock", "PageDown", "PageUp"),
            *("Pause", "PrintScreen", "ScrollLock", "Shift", "Space", "Tab"),
            *(f"F{number}" for number in range(1, 13)),
        )
    },
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "option": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
}
_KEY = re.compile(
    r"(?s:.)|Key[A-Z]|Digit\d|Numpad\w+|(?:Shift|Control|Alt|Meta)(?:Left|Right)|"
    rf"(?:Audio|Media)\w+|Back(?:quote|slash)|Bracket(?:Left|Right)|{'|'.join(_KEYS.values())}|"
    "Minus|Equal|Semicolon|Quote|Comma|Period|Slash"
)
_MARKED_KEY = re.compile(r"<(\w[^<>]*)>|\{(\w[^{}]*)\}")


def key_of(text: str) -> str:
    """A key with others held, as `ctrl+a` or `<Enter>`, by the names that browsers have.

    Raises:
        BadInput: there is no such key.
    """
    marked = _MARKED_KEY.fullmatch(text)
    text = (marked[1] or marked[2]) if marked else text
    if len(text) < 2 or text.endswith("++"):
        return text
    found = [_KEYS.get(name.lower(), name) for name in map(str.strip, text.split("+"))]
    for name in found:
        if not _KEY.fullmatch(name):
            raise BadInput(
                f"There is no key '{name[:40]}'.",
                hint='Such as value="Enter" or "Control+A"; the action type writes a text.',
            )
    return "+".join(found)
