"""Reader of web pages: the main content as text and Markdown, and the metadata."""
