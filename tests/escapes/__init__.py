"""Attempts to get out of the sandbox, each judged from outside; see docs/security.md."""
