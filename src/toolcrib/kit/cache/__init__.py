"""What was costly to get, kept for a while and shared by the processes on one store."""
