"""Tools that keep the thread of the work: events, sessions, and what helps to go on."""
