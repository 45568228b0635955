"""One HTTP server for MCP and OpenAPI: the same gate before both."""
