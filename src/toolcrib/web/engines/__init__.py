"""Search engines without keys: asking like a browser, reading pages of results."""
