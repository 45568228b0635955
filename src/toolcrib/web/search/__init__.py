"""One search through the providers: their order, their results as one list."""
