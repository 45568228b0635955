"""The Model Context Protocol, over stdio and streamable HTTP, on the official SDK."""
