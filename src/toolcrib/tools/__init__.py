"""The tools: one folder a group, one small file a tool."""
