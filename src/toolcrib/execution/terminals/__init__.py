"""Terminals: programs behind a screen, as a person would use them."""
