"""Tools for pages that a person looks at."""
