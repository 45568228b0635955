"""Which tools fit a question in everyday words of several languages."""
