"""Thin doors into the one pipeline."""
