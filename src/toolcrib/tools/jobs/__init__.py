"""Tools for work that goes on in the background."""
