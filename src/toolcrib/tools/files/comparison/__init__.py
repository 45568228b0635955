"""What `diff_files` makes of two files or two folders."""
