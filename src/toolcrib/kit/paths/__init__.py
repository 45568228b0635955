"""The workspace: every path of every tool goes through here, and nothing else opens files."""
