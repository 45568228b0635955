"""Tools that let a model of the user's work on a task."""
