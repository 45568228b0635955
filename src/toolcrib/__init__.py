"""toolcrib: a full, safe set of tools for local language models.

The public face. Everything else is private and may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.core.version import VERSION

if TYPE_CHECKING:
    from toolcrib.core.config import Config as Config
    from toolcrib.core.context import Ctx as Ctx
    from toolcrib.core.errors import BadInput as BadInput
    from toolcrib.core.errors import NotFound as NotFound
    from toolcrib.core.errors import ToolError as ToolError
    from toolcrib.core.result import Image as Image
    from toolcrib.core.result import Next as Next
    from toolcrib.core.result import Result as Result
    from toolcrib.core.tool import ERASE as ERASE
    from toolcrib.core.tool import EXEC as EXEC
    from toolcrib.core.tool import MACHINE as MACHINE
    from toolcrib.core.tool import NET as NET
    from toolcrib.core.tool import NONE as NONE
    from toolcrib.core.tool import READ as READ
    from toolcrib.core.tool import SEND as SEND
    from toolcrib.core.tool import WRITE as WRITE
    from toolcrib.core.tool import Count as Count
    from toolcrib.core.tool import JsonObject as JsonObject
    from toolcrib.core.tool import Line as Line
    from toolcrib.core.tool import Offset as Offset
    from toolcrib.core.tool import Param as Param
    from toolcrib.core.tool import Seconds as Seconds
    from toolcrib.core.tool import Tool as Tool
    from toolcrib.core.tool import tool as tool
    from toolcrib.documents.reader.extraction import Extraction as Extraction
    from toolcrib.documents.reader.extraction import extract as extract
    from toolcrib.files.paths import WorkspacePath as WorkspacePath
    from toolcrib.files.paths import WritablePath as WritablePath
    from toolcrib.net.egress.public_url import PublicUrl as PublicUrl
    from toolcrib.toolbox import Toolbox as Toolbox
    from toolcrib.toolcalls import ParsedText as ParsedText
    from toolcrib.toolcalls import ToolCall as ToolCall
    from toolcrib.toolcalls import ToolCallStream as ToolCallStream
    from toolcrib.toolcalls import parse_tool_calls as parse_tool_calls

__version__ = VERSION
__all__ = [
    "ERASE",
    "EXEC",
    "MACHINE",
    "NET",
    "NONE",
    "READ",
    "SEND",
    "WRITE",
    "BadInput",
    "Config",
    "Count",
    "Ctx",
    "Extraction",
    "Image",
    "JsonObject",
    "Line",
    "Next",
    "NotFound",
    "Offset",
    "Param",
    "ParsedText",
    "PublicUrl",
    "Result",
    "Seconds",
    "Tool",
    "ToolCall",
    "ToolCallStream",
    "ToolError",
    "Toolbox",
    "WorkspacePath",
    "WritablePath",
    "extract",
    "parse_tool_calls",
    "tool",
]

_ROOMS = {
    "BadInput": "toolcrib.core.errors",
    "NotFound": "toolcrib.core.errors",
    "Config": "toolcrib.core.config",
    "Count": "toolcrib.core.tool",
    "Ctx": "toolcrib.core.context",
    "ERASE": "toolcrib.core.tool",
    "EXEC": "toolcrib.core.tool",
    "Extraction": "toolcrib.documents.reader.extraction",
    "Image": "toolcrib.core.result",
    "JsonObject": "toolcrib.core.tool",
    "Line": "toolcrib.core.tool",
    "MACHINE": "toolcrib.core.tool",
    "NET": "toolcrib.core.tool",
    "NONE": "toolcrib.core.tool",
    "Next": "toolcrib.core.result",
    "Offset": "toolcrib.core.tool",
    "Param": "toolcrib.core.tool",
    "ParsedText": "toolcrib.toolcalls",
    "PublicUrl": "toolcrib.net.egress.public_url",
    "READ": "toolcrib.core.tool",
    "Result": "toolcrib.core.result",
    "SEND": "toolcrib.core.tool",
    "Seconds": "toolcrib.core.tool",
    "Tool": "toolcrib.core.tool",
    "ToolCall": "toolcrib.toolcalls",
    "ToolCallStream": "toolcrib.toolcalls",
    "ToolError": "toolcrib.core.errors",
    "Toolbox": "toolcrib.toolbox",
    "WRITE": "toolcrib.core.tool",
    "WorkspacePath": "toolcrib.files.paths",
    "WritablePath": "toolcrib.files.paths",
    "extract": "toolcrib.documents.reader.extraction",
    "parse_tool_calls": "toolcrib.toolcalls",
    "tool": "toolcrib.core.tool",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import toolcrib` stays light."""
    from importlib import import_module

    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'toolcrib' has no attribute '{name}'")
    return getattr(import_module(room), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
