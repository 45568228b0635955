"""Work that outlives its call: one contract for processes, tests, agents and slow tools."""
