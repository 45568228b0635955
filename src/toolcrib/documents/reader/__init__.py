"""What a web page says: its main content as text and Markdown, and what it says of itself."""
