"""Tools that understand the structure of source code."""
