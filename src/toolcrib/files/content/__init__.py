"""What the bytes of a file mean: its kind, its encoding, its lines."""
