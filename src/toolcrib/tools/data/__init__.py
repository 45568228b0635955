"""Tools for tables, databases, formats and charts."""
