"""Where programs that run code are, how code is handed to them, and what they may read."""
