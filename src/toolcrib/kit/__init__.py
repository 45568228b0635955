"""Import paths of the version before: they go on working, with a warning."""
