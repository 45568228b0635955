"""What servers answer for a URL that somebody wants to read: fetched once, checked, kept."""

from toolcrib.kit.bodies.bodies import KIND, Body, read_body

__all__ = ["KIND", "Body", "read_body"]
