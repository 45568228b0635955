"""Patches of several files: reading the forms in which models write them, and applying them."""
