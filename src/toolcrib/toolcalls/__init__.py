"""From model text to tool calls."""
