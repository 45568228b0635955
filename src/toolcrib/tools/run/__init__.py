"""Tools that run code, commands, tests and checks behind a boundary."""
