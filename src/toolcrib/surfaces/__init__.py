"""Interfaces to the tools: an MCP server, a command line, HTTP with OpenAPI, and a chat."""
