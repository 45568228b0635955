"""Pages fetched once and kept as text."""
