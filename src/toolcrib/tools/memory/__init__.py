"""Tools that remember facts beyond a conversation."""
