"""What runs inside a boundary, before the program. Nothing else of toolcrib is there."""
