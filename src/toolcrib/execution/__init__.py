"""Execution: the sandbox, runs, interpreters, terminals, jobs, worker processes."""
