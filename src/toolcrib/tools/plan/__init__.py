"""Tools that keep the steps of a longer task."""
