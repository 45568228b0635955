"""Agents: a loop around a model of the user's, with rights, budgets and a trace.

`Delegation` is a task for one, `Loop` the loop itself, `Runs` what is kept of it.
"""
