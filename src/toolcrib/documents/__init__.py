"""Documents and web pages as text: main content, metadata, Markdown, office files, PDF, mail."""
