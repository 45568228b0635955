"""The last program before a confined one, at level strong: a table of system calls.

All that has to be done in a run before its program begins is known beforehand, so it is
written down as a table, and a few machine instructions make the calls. An interpreter that
did the same took longer to start than all the rest of the boundary.
"""
