"""The part of a page that an answer shows."""
