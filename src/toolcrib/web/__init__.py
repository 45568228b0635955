"""The web: search providers and engines, handlers of content types, pages as text."""
