"""What is no part of toolcrib: tools of the user's own, and those of other MCP servers."""
