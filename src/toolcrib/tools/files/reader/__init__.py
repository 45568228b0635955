"""What `read_file` makes of a file."""
