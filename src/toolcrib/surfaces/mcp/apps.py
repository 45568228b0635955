"""MCP Apps: the page in which a host shows what the tool `show` has made.

The page is fixed and loads nothing; what is shown comes with each result, in `_meta`, to hosts
that said that they have apps. Text and picture stand in every result all the same: hosts agree
to apps and then show none.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import mcp_types as types

from toolcrib.surfaces.mcp.calls import Context
from toolcrib.toolbox import Toolbox

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://toolcrib/show.html"
TOOL = "show"
PAGE_KEY = "toolcrib/page"
"""Under which a result has its page in `_meta`."""
UI_META: dict[str, Any] = {
    "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
    "permissions": {},
    "prefersBorder": True,
}
"""What the page needs of a host: nothing."""
STYLE = (
    "html{color-scheme:light dark}:root[data-theme=light]{color-scheme:light}"
    ":root[data-theme=dark]{color-scheme:dark}"
    "body{margin:0;padding:.75rem;font-family:system-ui,sans-serif;line-height:1.5;"
    "color:CanvasText;background:Canvas;overflow-wrap:anywhere}"
    "#page{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{border:1px solid GrayText;padding:.3rem .6rem;text-align:left}"
    "pre{white-space:pre-wrap}svg,img{max-width:100%;height:auto}"
    "[role=link]{color:LinkText;text-decoration:underline;cursor:pointer}"
)


def is_offered(toolbox: Toolbox) -> bool:
    """Whether hosts are told of the page: the tool is listed, and the setting is not off."""
    return toolbox.config.ui.apps == "auto" and any(t.name == TOOL for t in toolbox.listed)


def tool_meta(name: str, *, offered: bool) -> dict[str, Any] | None:
    """What `tools/list` says of a tool about its page."""
    if name != TOOL or not offered:
        return None
    return {"ui": {"resourceUri": URI, "visibility": ["model"]}}


def is_wanted(ctx: Context) -> bool:
    """Whether the host of a request said that it shows such pages."""
    capabilities = ctx.session.client_capabilities
    extensions = capabilities.extensions if capabilities is not None else None
    settings = (extensions or {}).get(EXTENSION)
    listed = settings.get("mimeTypes") if settings is not None else None
    return isinstance(listed, list | tuple) and MIME_TYPE in listed


def resource() -> types.Resource:
    """The page as `resources/list` shows it."""
    return types.Resource(
        uri=URI,
        name=TOOL,
        title="Page of show",
        description="Shows tables, charts, Markdown, HTML and diffs of the tool show.",
        mime_type=MIME_TYPE,
        _meta={"ui": UI_META},
    )


def contents() -> types.ReadResourceResult:
    """The page itself."""
    page = types.TextResourceContents(
        uri=URI, mime_type=MIME_TYPE, text=app_page(), _meta={"ui": UI_META}
    )
    return types.ReadResourceResult(contents=[page])


@cache
def app_page() -> str:
    """The HTML of the page: one script, known by its hash, and nothing else that runs or loads."""
    script = files("toolcrib.surfaces.mcp").joinpath("show_app.js").read_text("utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; form-action 'none'; base-uri 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>toolcrib</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<main id="page"></main>\n<script>{script}</script>\n</body>\n</html>\n'
    )
