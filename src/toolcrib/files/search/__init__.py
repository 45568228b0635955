"""Finding files by name and lines by content, by the same rules whichever engine does the work."""
