"""A package that brings tools, found by its entry point like any other."""
