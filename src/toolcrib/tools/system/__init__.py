"""Tools for the machine that toolcrib runs on, and for figures, times, units and tokens."""
