"""Pieces of HTML and XML as text, addresses of links, feeds: for pages and documents alike."""
