"""toolcrib: a full, safe set of tools for local language models.

The public face. Everything else is private and may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.core.version import VERSION

if TYPE_CHECKING:
    from toolcrib.core.config import Config as Config
    from toolcrib.core.errors import ToolError as ToolError
    from toolcrib.core.result import Result as Result
    from toolcrib.core.tool import tool as tool
    from toolcrib.documents.reader.extraction import Extraction as Extraction
    from toolcrib.documents.reader.extraction import extract as extract
    from toolcrib.toolbox import Toolbox as Toolbox
    from toolcrib.toolcalls import ParsedText as ParsedText
    from toolcrib.toolcalls import ToolCall as ToolCall
    from toolcrib.toolcalls import ToolCallStream as ToolCallStream
    from toolcrib.toolcalls import parse_tool_calls as parse_tool_calls

__version__ = VERSION
__all__ = [
    "Config",
    "Extraction",
    "ParsedText",
    "Result",
    "ToolCall",
    "ToolCallStream",
    "ToolError",
    "Toolbox",
    "extract",
    "parse_tool_calls",
    "tool",
]

_ROOMS = {
    "Config": "toolcrib.core.config",
    "Extraction": "toolcrib.documents.reader.extraction",
    "ParsedText": "toolcrib.toolcalls",
    "Result": "toolcrib.core.result",
    "ToolCall": "toolcrib.toolcalls",
    "ToolCallStream": "toolcrib.toolcalls",
    "ToolError": "toolcrib.core.errors",
    "Toolbox": "toolcrib.toolbox",
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
