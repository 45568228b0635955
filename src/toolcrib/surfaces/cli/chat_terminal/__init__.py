"""A chat at a terminal: what is typed, shown and asked."""
