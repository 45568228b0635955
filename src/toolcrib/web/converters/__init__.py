"""Converters: from the bytes of one kind of content to a page."""
