"""What folders hold, as the tools of files show it."""
