"""Many pages for one question, and passages with their sources."""
