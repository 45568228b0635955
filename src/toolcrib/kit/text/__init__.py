"""Text from outside: cleaned of what cannot be seen, cut to a budget, fenced."""
