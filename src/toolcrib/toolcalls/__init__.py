"""From model text to tool calls."""

from __future__ import annotations

from toolcrib.toolcalls.output import (
    ContentDelta,
    Diagnostic,
    Event,
    ParsedText,
    ReasoningDelta,
    ToolCall,
)
from toolcrib.toolcalls.parser import ToolCallStream, parse_message, parse_tool_calls

__all__ = [
    "ContentDelta",
    "Diagnostic",
    "Event",
    "ParsedText",
    "ReasoningDelta",
    "ToolCall",
    "ToolCallStream",
    "parse_message",
    "parse_tool_calls",
]
