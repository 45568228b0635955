"""The spine: one record in, one record out. Imports nothing else of toolcrib."""
