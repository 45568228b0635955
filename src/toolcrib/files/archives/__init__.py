"""Archives: read with suspicion, written without what is protected."""
