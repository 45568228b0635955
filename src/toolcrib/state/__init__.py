"""State: one SQLite file that several processes share, and what lives in it."""
