"""Child processes: started in a clean environment, bounded, and never left behind."""
