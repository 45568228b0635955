"""What the tools share that change the text of files."""
